// tuple-simplifier: removes tuples that are only decomposed or rebuilt.
#pragma once

#include "passes/framework/pass.h"

namespace hlokit {

// Matches get-tuple-element(tuple(..)) and tuples of all the elements of one tuple, in order.
// What nobody needs any more is removed. Cost: linear.
std::unique_ptr<Pass> CreateTupleSimplifier();

// The same within one computation; true if it changed.
bool SimplifyTuples(Computation& computation);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
