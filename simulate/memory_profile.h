// How much memory a step holds over time, by buffer assignment.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/module.h"
#include "simulate/timeline.h"

namespace hlokit {

struct MemoryPoint {
  double seconds = 0;
  int64_t bytes = 0;  // from then on
};

struct MemoryProfile {
  int64_t arguments = 0, results = 0, constants = 0;  // held throughout; donated ones count once
  int64_t peak = 0;                                   // these and the arena's live arrays
  double peak_at = 0;                                 // seconds
  std::vector<MemoryPoint> points;                    // where it changes, in order
  struct LiveArray {
    const Instruction* maker = nullptr;
    int64_t bytes = 0;
  };
  std::vector<LiveArray> at_peak;  // of the arena, largest first
};

// Times are those at which `prediction` first starts an instruction: a loop's first iteration
// stands for all. `module` has computations of one caller (flatten-call-graph). Errors: of buffer
// assignment.
absl::StatusOr<MemoryProfile> MemoryOf(const Module& module, const StepPrediction& prediction);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
