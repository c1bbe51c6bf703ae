// collective-permute-motion: transfers at the end of a loop's round at the start of the next.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// Matches loops that are known to run at least once and hand on as a part of their state what a
// collective-permute sends that nothing else in the round reads; the condition must not read that
// part. Leaves the value that was sent in the state, a collective-permute at the start of each
// round but the first (where a choice takes what the loop began with), and one behind the loop. So
// the transfer can run beside what does not need it. Exact. Cost: linear.
std::unique_ptr<Pass> CreateCollectivePermuteMotion();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
