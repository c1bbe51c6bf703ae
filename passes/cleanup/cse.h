// cse: merges instructions that compute the same value.
#pragma once

#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"

namespace hlokit {

// Matches instructions of one opcode, shape, attributes and operands (in either order where the op
// commutes), equal constants too; functions that reduce and the like call are compared by what they
// do. What has side effects or talks to devices stays. Of arrays that differ in nothing but the
// order of their dimensions in memory one goes, where all its readers look at elements alone. Of
// equal iotas one goes only where one instruction reads both, as in XLA (an iota costs less in each
// loop that reads it than as an array), though those that read them count as equal; the option
// `iotas` merges them all. Looks into fusions and functions. Cost: linear.
//   add(iota, iota')  ->  add(iota, iota)     (add(p, iota), add(q, iota'))  stays
std::unique_ptr<Pass> CreateCse(PassArguments& arguments);

// True if the two, of `limit` instructions at most, compute the same of their parameters; those
// that they call must be the same computations, or alike and small.
bool SameComputation(const Computation* a, const Computation* b, int64_t limit);

// The same values within one computation. With `same_shardings` an instruction without a sharding
// is not equal to one that has one; without `iotas` those stay that no instruction reads together.
bool MergeEqual(Computation& computation, bool same_shardings = false, bool iotas = true);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
