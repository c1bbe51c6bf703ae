// layout_normalization: one order of dimensions in memory, the row-major one.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// Matches elementwise operations, movements and single reductions whose arrays lie in other orders
// than the row-major one: computes them on arrays of permuted dimensions that are row-major, with
// bitcasts around those whose order is fixed from outside; copies that change an order become
// transposes, and transposes that move nothing bitcasts. What else there is stays, as do packed
// types, tiles and dynamic dimensions. Exact. Cost: linear.
std::unique_ptr<Pass> CreateLayoutNormalization();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
