// comparison-expander: compares floats in total order as integers.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// A comparison of floats with type=TOTALORDER becomes one of integers: the bits of a negative
// float, all but the sign flipped, are ordered as totalOrder wants. Exact. Cost: linear.
std::unique_ptr<Pass> CreateComparisonExpander();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
