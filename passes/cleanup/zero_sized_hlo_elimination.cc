// zero_sized_hlo_elimination: replaces arrays without elements with constants.
// Matches instructions without side effects whose result is an array of no elements; leaves
// constants. Cost: linear.
//   negate(f32[0,3] x)  ->  constant f32[0,3]
#include "passes/framework/pass.h"
#include "passes/rewrite/control_edges.h"
#include "support/status.h"

namespace hlokit {
namespace {

bool IsEmpty(const Instruction* i) {
  if (i->IsConstant() || i->IsParameter() || !i->shape().IsArray() || i->shape().HasDynamicDims())
    return false;
  return i->shape().ElementCount() == 0 && !i->HasSideEffect() &&
         !HasTrait(i->opcode(), kCollective) && !HasControlEdges(*i);
}

absl::StatusOr<bool> EliminateZeroSized(Computation& computation) {
  bool changed = false;
  for (Instruction* i : computation.PostOrder()) {
    if (!IsEmpty(i)) continue;
    if (!i->users().empty() || i->IsRoot()) {
      i->ReplaceAllUsesWith(computation.AddConstant(Literal(i->shape()), i->name()));
      changed = true;
    }
    changed |= computation.RemoveIfDead(i) > 0;
  }
  return changed;
}

}  // namespace

std::unique_ptr<Pass> CreateZeroSizedHloElimination() {
  return MakeComputationPass("zero_sized_hlo_elimination", EliminateZeroSized);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
