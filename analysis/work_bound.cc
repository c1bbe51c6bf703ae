// A lower bound of the instructions that a run executes. Calls can double the work at each level:
//   c1 calls c0 twice, c2 calls c1 twice, ...: a text of 40 computations runs 2^40 instructions
// Such a module would never end, so it is refused before it runs. A conditional counts its cheapest
// branch and a loop its condition once, so nothing that could end in time is refused. Sums
// saturate.
#include "analysis/work_bound.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "support/diagnostics.h"

namespace hlokit {
namespace {

int64_t SaturatingAdd(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<int64_t>::max() : sum;
}

}  // namespace

int64_t LeastExecutions(const Module& module) {
  std::vector<int64_t> of(module.computation_id_bound(), 0);
  for (const Computation* c : module.ComputationsPostOrder()) {
    int64_t sum = 0;
    for (const Instruction* i : c->Instructions()) {
      sum = SaturatingAdd(sum, 1);
      if (i->called().empty()) continue;
      int64_t cheapest = std::numeric_limits<int64_t>::max(), all = 0;
      for (const Computation* called : i->called()) {
        cheapest = std::min(cheapest, of[called->id()]);
        all = SaturatingAdd(all, of[called->id()]);
      }
      // Of a loop only the condition is sure to run.
      const bool some = i->opcode() == Opcode::kConditional || i->opcode() == Opcode::kWhile;
      sum = SaturatingAdd(sum, some ? cheapest : all);
    }
    of[c->id()] = sum;
  }
  return module.entry() == nullptr ? 0 : of[module.entry()->id()];
}

absl::Status CheckWork(const Module& module) {
  const int64_t executions = LeastExecutions(module);
  if (executions <= kMaxExecutions) return absl::OkStatus();
  return WithPlace(LabeledError("", "a run executes at least ", executions,
                                " instructions, since computations call each other again and "
                                "again; the limit is ",
                                kMaxExecutions),
                   module.entry()->place());
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
