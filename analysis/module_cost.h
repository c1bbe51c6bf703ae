// What a run of a module costs, by instruction, with how often each one runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "analysis/instruction_cost.h"
#include "ir/module.h"

namespace hlokit {

struct InstructionRow {
  const Instruction* instruction = nullptr;
  double runs = 0;       // how often; of all places that call its computation together
  InstructionCost cost;  // of all its runs
};

struct LoopRow {
  const Instruction* loop = nullptr;
  double entered = 0;  // how often the loop itself runs
  int64_t trips = 0;   // rounds, each time
  bool trips_known = false;
  InstructionCost cost;  // of all rounds, bodies of inner loops included
};

struct ModuleCosts {
  std::vector<InstructionRow> instructions;  // those that compute or move something
  std::vector<LoopRow> loops;                // outer ones first
  InstructionCost total;
};

// Rounds come from known_trip_count of backend configs, as while-loop-trip-count-annotator leaves
// them; loops without it run `unknown_trips` rounds. Of conditionals every branch counts, so the
// sum is a bound.
ModuleCosts CostsOf(const Module& module, int64_t unknown_trips);

struct PeakArray {
  const Instruction* maker;
  int64_t bytes;
  int64_t leaf = 0;  // which array of the maker's result, counted in order
};
struct PeakMemory {
  int64_t arguments = 0, results = 0, constants = 0;  // bytes
  int64_t temporaries = 0;                            // live at once, at most
  std::vector<PeakArray> at_peak;                     // largest first
  // By instruction that runs on its own, in order: temporaries that live while it runs. A loop's
  // body counts once.
  std::vector<PeakArray> over_time;
};

// Of a run on one device, by buffer assignment. `module` must live as long as the result and have
// computations of one caller (flatten-call-graph).
absl::StatusOr<PeakMemory> PeakMemoryOf(const Module& module);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
