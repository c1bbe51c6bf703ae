// cse_barrier_expander: removes optimization barriers.
// Matches opt-barrier; leaves its operand. Cost: linear.
//
// Barriers replaced by their operands.
#include "passes/framework/pass.h"
#include "passes/rewrite/control_edges.h"
#include "support/status.h"

namespace hlokit {
namespace {

absl::StatusOr<bool> Run(Computation& computation) {
  bool changed = false;
  for (Instruction* i : computation.Instructions()) {
    if (i->opcode() != Opcode::kOptimizationBarrier) continue;
    if (HasControlEdges(*i)) continue;
    i->ReplaceAllUsesWith(i->operand(0));
    computation.Remove(i);
    changed = true;
  }
  return changed;
}

}  // namespace

std::unique_ptr<Pass> CreateCseBarrierExpander() {
  return MakeComputationPass("cse_barrier_expander", Run);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
