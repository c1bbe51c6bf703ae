// What a computation does, found out by trying.
#pragma once

#include "ir/computation.h"
#include "types/literal.h"

namespace hlokit {

// True if a computation of two narrow floats leaves some four thousand numbers as they are where
// `start` is its other argument, and gives the same whichever of two comes first. For reducers of
// several operations (log(exp(x) + exp(y)) from -inf), which no table knows. False of computations
// that hold more than elementwise operations.
bool ActsAsIdentity(const Literal& start, const Computation& computation);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
