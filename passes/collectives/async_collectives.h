// Collectives in two halves, and in one order.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// async-collective-creator: all-reduce, all-gather and collective-permute become their start and
// done forms, all-to-all, reduce-scatter and collective-broadcast async-start and async-done around
// a computation of their own. Those with several operands stay where their start form would be a
// nested tuple. Exact.
std::unique_ptr<Pass> CreateAsyncCollectiveCreator();

// convert-async-collectives-to-sync: the inverse. Starts that anything but their done reads stay.
std::unique_ptr<Pass> CreateConvertAsyncCollectivesToSync();

// collectives-schedule-linearizer: control dependences make collectives run one after another, in
// the order of their computation.
std::unique_ptr<Pass> CreateCollectivesScheduleLinearizer();

// all-gather-cse, collective-permute-cse: equal transfers of the same array are made once.
std::unique_ptr<Pass> CreateAllGatherCse();
std::unique_ptr<Pass> CreateCollectivePermuteCse();

// while-loop-all-reduce-code-motion: where each round of a loop adds an all-reduce to a sum that
// nothing else in the loop reads, the rounds add up locally and one all-reduce follows the loop.
// Reassociates floats.
std::unique_ptr<Pass> CreateWhileLoopAllReduceCodeMotion();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
