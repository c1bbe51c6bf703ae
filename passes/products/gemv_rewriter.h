// gemv-rewriter: products with vectors as products with matrices of one row or column.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// Matches dots one of whose operands has only batch and contracted dimensions (and the other one
// more dimension). Leaves a dot with a dimension of size one in its place, and reshapes around it.
// Cost: linear.
std::unique_ptr<Pass> CreateGemvRewriter();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
