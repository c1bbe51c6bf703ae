// cse: merges instructions that compute the same value.
#pragma once

#include "passes/framework/pass.h"

namespace hlokit {

// Matches instructions of one opcode, shape, attributes and operands (in either order where the op
// commutes), equal constants too; functions that reduce and the like call are compared by what they
// do. What has side effects or talks to devices stays. Of arrays that differ in nothing but the
// order of their dimensions in memory one goes, where all its readers look at elements alone. Looks
// into fusions and functions. Cost: linear.
std::unique_ptr<Pass> CreateCse();

// True if the two, of `limit` instructions at most, compute the same of their parameters; those
// that they call must be the same computations, or alike and small.
bool SameComputation(const Computation* a, const Computation* b, int64_t limit);

// The same values within one computation. With `same_shardings` an instruction without a sharding
// is not equal to one that has one.
bool MergeEqual(Computation& computation, bool same_shardings = false);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
