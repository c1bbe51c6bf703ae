// argmax and argmin without a running pair.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// argmax-rewriter. Matches reduces of values and their indices whose reducer keeps the larger (or
// smaller) value, NaN above all, and of equal ones the lower index, as JAX writes argmax. Gives two
// plain reductions: the largest value, and the least index where it stands. Cost: linear.
std::unique_ptr<Pass> CreateArgmaxRewriter();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
