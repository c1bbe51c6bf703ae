// loop-schedule-linearizer: reads of a loop's state before what replaces it.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// Matches, in bodies of loops, instructions that compute the next value of a part of the state, and
// readers of that part that could run after them: orders these before by control dependences, so
// that the part can be written in its place without a copy. Where that would be a cycle, nothing.
std::unique_ptr<Pass> CreateLoopScheduleLinearizer();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
