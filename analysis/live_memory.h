// How much of the arena lives while a module runs.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/buffer_assignment.h"
#include "analysis/value_flow.h"

namespace hlokit {

struct LiveMemory {
  int64_t time = 0;   // of the flow's clock, from then on
  int64_t bytes = 0;  // of the arena, values that share a place counted once
};

// In order of time, from 0 on, a point for each time at which a value begins or ends. A loop's
// body counts once. Cost: n log n in the module's values.
std::vector<LiveMemory> LiveMemoryOverTime(const BufferAssignment& plan, const ValueFlow& flow);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
