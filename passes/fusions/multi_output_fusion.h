// multi_output_fusion: loops over the same arrays made one loop of several results.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// Matches elementwise instructions and loop fusions of such over arrays of one size that read an
// array in common, or one the other's result, where nothing outside stands between them; leaves one
// fusion of a tuple in which work done twice is done once. Arrays under a KiB, and those that
// something updates in place, stay. Cost: linear but for the search of ways between siblings, which
// is bounded.
std::unique_ptr<Pass> CreateMultiOutputFusion();

// cpu_multi_output_fusion: the same under the name that it has on XLA's CPU.
std::unique_ptr<Pass> CreateCpuMultiOutputFusion();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
