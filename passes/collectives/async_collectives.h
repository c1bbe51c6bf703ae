// Collectives in two halves, and in one order.
#pragma once

#include "passes/pass.h"
#include "passes/pass_arguments.h"
#include "passes/simplify/rule.h"

namespace hlokit {

// async-start and async-done around a computation that holds a copy of `i`, on the same operands;
// gives the done, of i's shape.
Instruction* WrapAsync(Instruction* i, Rewriter& r);

// async-collective-creator: all-reduce, all-gather and collective-permute become their start and
// done forms, all-to-all, reduce-scatter and collective-broadcast async-start and async-done around
// a computation of their own. Those with several operands stay where their start form would be a
// nested tuple. Exact.
std::unique_ptr<Pass> CreateAsyncCollectiveCreator();

// convert-async-collectives-to-sync: the inverse. Starts that anything but their done reads stay.
std::unique_ptr<Pass> CreateConvertAsyncCollectivesToSync();

// async-collective-replacer: the same of async-start and async-done alone.
std::unique_ptr<Pass> CreateAsyncCollectiveReplacer();

// async-collective-custom-call-rewriter: a collective that only a custom call AsyncCollectiveStart
// reads, which only one of AsyncCollectiveDone reads, becomes async-start and async-done. Exact.
std::unique_ptr<Pass> CreateAsyncCollectiveCustomCallRewriter();

// collectives-schedule-linearizer: control dependences make collectives run one after another, in
// the order of their computation.
std::unique_ptr<Pass> CreateCollectivesScheduleLinearizer();

// all-gather-cse, collective-permute-cse: equal transfers of the same array are made once.
std::unique_ptr<Pass> CreateAllGatherCse();
std::unique_ptr<Pass> CreateCollectivePermuteCse();

// schedule-aware-collective-cse: the same of both, where the two stand no farther apart in the
// order of their computation than option `distance` says (1000), so that no array is kept for long.
std::unique_ptr<Pass> CreateScheduleAwareCollectiveCse(PassArguments& arguments);

// while-loop-all-reduce-code-motion: where each round of a loop adds an all-reduce to a sum that
// nothing else in the loop reads, the rounds add up locally and one all-reduce follows the loop.
// Reassociates floats.
std::unique_ptr<Pass> CreateWhileLoopAllReduceCodeMotion();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
