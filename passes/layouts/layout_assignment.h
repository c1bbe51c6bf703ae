// layout-assignment: gives every array a layout.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// Leaves row-major order everywhere but where the outside or an instruction fixes another: the
// entry's parameters and result, operands and results of custom calls, bitcasts and fusions. Copies
// join the two. Cost: linear.
std::unique_ptr<Pass> CreateLayoutAssignment();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
