// A computation prepared for execution: its instructions in order, and when each value is last
// read.
#pragma once

#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "ir/module.h"

namespace hlokit {

// One instruction; its value stands in the slot of the step's own number.
struct PlanStep {
  const Instruction* instruction;
  absl::InlinedVector<int, 2> operands;  // slots
  absl::InlinedVector<int, 2>
      last_uses;  // slots that nothing reads after this step (its own, where nothing ever does)
};

struct Plan {
  std::vector<PlanStep> steps;
  int root = 0;  // slot
};

// Plans made on first use. Not for several threads at once.
class PlanCache {
 public:
  const Plan& Of(const Computation& computation);

 private:
  absl::flat_hash_map<const Computation*, std::unique_ptr<const Plan>> plans_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
