// cse_barrier_expander: takes barriers away once what they held apart has been left apart.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// Matches opt-barrier; leaves its operand. Cost: linear.
std::unique_ptr<Pass> CreateCseBarrierExpander();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
