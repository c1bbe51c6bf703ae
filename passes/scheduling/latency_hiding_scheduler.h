// latency-hiding-scheduler: transfers begin early and are waited for late.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// Gives every computation that runs on its own, and those that functions call, a schedule: starts
// of transfers (all-reduce-start, copy-start, send, ...) come as soon as they can, with what they
// need before them, dones as late as possible; all else keeps the order of the text. Cost: linear
// in the size of a computation times its number of starts. The module is scheduled afterwards.
std::unique_ptr<Pass> CreateLatencyHidingScheduler();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
