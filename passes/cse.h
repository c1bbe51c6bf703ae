// cse: merges instructions that compute the same value.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// Matches instructions of one opcode, shape, attributes and operands (in either order where the op
// commutes), equal constants too; functions that reduce and the like call are compared by what they
// do. What has side effects, runs computations, talks to devices or calls out stays. Cost: linear.
std::unique_ptr<Pass> CreateCse();

// True if the two compute the same of their parameters, those they call being the same computations
// (or, of `limit` instructions at most, alike).
bool SameComputation(const Computation* a, const Computation* b, int64_t limit);

// The same values within one computation.
bool MergeEqual(Computation& computation);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
