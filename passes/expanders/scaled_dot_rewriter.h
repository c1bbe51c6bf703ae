// scaled-dot-rewriter: dots of scaled blocks as plain dots.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// scaled-dot becomes a dot of its operands, each multiplied by its scales spread over their blocks,
// in f32 (f64 where the result is). Equal up to rounding. Operands of dynamic size stay. Cost:
// linear in the operands beside the dot.
std::unique_ptr<Pass> CreateScaledDotRewriter();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
