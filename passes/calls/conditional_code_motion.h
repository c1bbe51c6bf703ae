// conditional-code-motion: what all branches do last, once behind the conditional.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// Matches conditionals all of whose branches give, as one part of their tuple, the same elementwise
// operation, reshape or transpose of one operand; the branches, which no one else calls, give the
// operand, and the operation follows the conditional. Where a branch computed the result for others
// too it computes it still. Cost: linear.
std::unique_ptr<Pass> CreateConditionalCodeMotion();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
