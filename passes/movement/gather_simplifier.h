// gather_simplifier: gathers in the form that a loop over rows of indices computes.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// Matches gathers without batching dimensions. Leaves a gather of indices [rows, coordinates] that
// gives [rows, whole slice], with a transpose and a reshape of the indices before it, and reshapes
// and a transpose of the result behind it, each where it moves or counts anything. Cost: linear.
std::unique_ptr<Pass> CreateGatherSimplifier();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
