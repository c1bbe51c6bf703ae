// scatter_simplifier: scatters in the form that a loop over rows of indices computes.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// Matches scatters without batching dimensions. Leaves a scatter of indices [rows, coordinates] and
// updates [rows, whole window], with transposes and reshapes of both before it, each where it moves
// or counts anything. Cost: linear.
std::unique_ptr<Pass> CreateScatterSimplifier();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
