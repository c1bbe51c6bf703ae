// Orders of execution: made, changed, dropped.
#pragma once

#include "passes/framework/pass.h"

namespace hlokit {

// hlo-trivial-scheduler. Schedules every computation that runs as its text stands: operands before
// users. Cost: linear.
std::unique_ptr<Pass> CreateHloTrivialScheduler();

// hlo-memory-scheduler. As above, in the order of those tried that keeps the fewest bytes alive at
// the worst moment (memory_orders.h). Cost: n log n.
std::unique_ptr<Pass> CreateHloMemoryScheduler();

// hlo-descheduler. Drops the schedules. Cost: linear.
std::unique_ptr<Pass> CreateHloDescheduler();

// instruction-hoister. In schedules, parameters come first and constants after them. Cost: linear.
std::unique_ptr<Pass> CreateInstructionHoister();

// root-instruction-sinker. In schedules, the root comes last. Cost: linear.
std::unique_ptr<Pass> CreateRootInstructionSinker();

// constant-deferring. In schedules, constants come right before their first reader. Cost: linear.
std::unique_ptr<Pass> CreateConstantDeferring();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
