// dynamic-dimension-simplifier: the chains that dynamic sizes leave behind.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// Matches converts to the same type, reshapes to the same shape and back, reshapes of broadcasts to
// what was broadcast, concatenations of concatenations of vectors, and slices of a concatenation
// that are one of its operands. Leaves what they give. Cost: linear.
std::unique_ptr<Pass> CreateDynamicDimensionSimplifier();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
