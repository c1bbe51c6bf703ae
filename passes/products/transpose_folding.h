// transpose-folding: lets dots read transposed and converted operands as they lie.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// Matches dots of transposes whose free dimensions keep their order, transposes that swap a dot's
// two sides, and f32 dots of operands both widened from bf16 or f16 (products of such numbers are
// exact in f32, where sums are formed in any case). Leaves dots with other dimension numbers, and
// dead code. Cost: linear.
std::unique_ptr<Pass> CreateTransposeFolding();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
