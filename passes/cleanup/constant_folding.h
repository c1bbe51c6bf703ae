// constant_folding: computes instructions of constants.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// Matches elementwise operations, data movement, reductions and dots whose operands are all
// constants, or broadcasts of constants beside them, with results and work of at most
// kMaxFoldedElements; broadcasts and iotas, which cost nothing, stay. Values are the reference
// executor's. Cost: linear, and the work folded.
inline constexpr int64_t kMaxFoldedElements = 1 << 16;
std::unique_ptr<Pass> CreateConstantFolding();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
