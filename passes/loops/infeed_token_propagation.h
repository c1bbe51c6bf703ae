// infeed-token-propagation: one order for all infeeds and outfeeds.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// Infeeds and outfeeds whose token comes out of nowhere (an after-all of nothing) are put in the
// order of the text by tokens: within a loop's body from its state, which gets a token more, and so
// from round to round; before and behind the loop through its initial value and its result. Loops
// that share their computations, whose state is no tuple taken apart, and branches of conditionals
// stay. Values stay the same. Cost: linear in the module for each loop.
std::unique_ptr<Pass> CreateInfeedTokenPropagation();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
