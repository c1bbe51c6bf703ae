// zero_sized_hlo_elimination: arrays of no elements are constants.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// Matches instructions without side effects whose result is an array of no elements; leaves
// constants. Cost: linear.
std::unique_ptr<Pass> CreateZeroSizedHloElimination();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
