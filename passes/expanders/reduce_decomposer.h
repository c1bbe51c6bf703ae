// reduce-decomposer: reduces whose result keeps the order of the operand's dimensions.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// A reduce into a layout other than the operand's, its reduced dimensions left out, becomes a
// reduce into that one and a copy. Exact. Cost: linear.
std::unique_ptr<Pass> CreateReduceDecomposer();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
