// reshape-decomposer: says of each reshape whether it moves data.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// A reshape that leaves every element where it lies becomes a bitcast; any other becomes a copy
// into row-major order before the bitcast, after it, or both. Runs after layout-assignment. Cost:
// linear.
std::unique_ptr<Pass> CreateReshapeDecomposer();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
