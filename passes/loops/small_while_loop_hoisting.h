// small-while-loop-hoisting: short loops as calls that compile into one function.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// A round of a loop that reads and writes no more than this is short; tuples count as the pointers
// that they are, as in XLA's count.
inline constexpr double kSmallLoopBytes = 1024;

// Matches while loops whose body and condition move few bytes a round, talk to no one and call
// nothing foreign. Leaves a call, marked xla_cpu_small_call="true", of a computation that is the
// loop alone. Cost: linear.
std::unique_ptr<Pass> CreateSmallWhileLoopHoisting();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
