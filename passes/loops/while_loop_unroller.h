// while_loop_unroller: loops of few rounds as those rounds.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// A loop is unrolled that runs at most so often, and grows to at most so many instructions.
inline constexpr int64_t kMaxUnrolledTrips = 64;
inline constexpr int64_t kMaxUnrolledInstructions = 10'000;

// Matches loops without side effects that count from a constant to a constant; leaves their body,
// as often as they run. Inner loops first. Cost: the size of what is copied.
std::unique_ptr<Pass> CreateWhileLoopUnroller();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
