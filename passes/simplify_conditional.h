// simplify-conditional: choices that are known beforehand.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// Matches conditionals on a constant; leaves a call of the branch taken, for call-inliner. Cost:
// linear.
std::unique_ptr<Pass> CreateSimplifyConditional();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
