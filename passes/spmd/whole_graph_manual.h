// whole-graph-manual-pass: every device's program as it stands.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// Marks each instruction of computations that run on their own, and that has no sharding yet, as
// manual (of tuples, each part), so that a partitioner takes all of it as it is. Cost: linear.
std::unique_ptr<Pass> CreateWholeGraphManual();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
