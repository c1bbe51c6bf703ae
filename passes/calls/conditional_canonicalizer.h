// conditional-canonicalizer: branches that take a tuple and give a tuple.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// Matches conditionals with a branch whose argument, or a result, that is an array. Leaves branches
// (copies, where others call them too) that take and give tuples of one, tuples of the arguments
// before the conditional and a get-tuple-element behind it. Cost: linear.
std::unique_ptr<Pass> CreateConditionalCanonicalizer();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
