// conditional-to-select: converts conditionals inside map, reduce and similar computations to
// selects.
// Matches conditionals of two branches without side effects that give an array, in the functions of
// map, reduce and the like. Leaves both branches in their place, and a select. Cost: the size of
// the branches.
//   conditional(p, a, b), {f, g}  ->  select(p, f(a), g(b))
#include "passes/framework/pass.h"
#include "passes/rewrite/control_edges.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/hlo_writer.h"
#include "passes/rewrite/inline_body.h"

namespace hlokit {
namespace {

bool MaySelect(const Instruction* i) {
  return i->opcode() == Opcode::kConditional && i->called().size() == 2 &&
         IsPred(i->operand(0)->shape().type) && i->shape().IsArray() && !i->HasSideEffect() &&
         !HasControlEdges(*i);
}

Instruction* Selected(Instruction* i) {
  Computation& c = *i->parent();
  Instruction* branches[2];
  for (int k : {0, 1}) branches[k] = CopyBody(*i->called(k), {i->operand(k + 1)}, c);
  Rewriter rewriter(c);
  Instruction* which = HloWriter(rewriter).Fill(i->shape(), i->operand(0));
  return c.Add(Opcode::kSelect, i->shape(), {which, branches[0], branches[1]});
}

absl::StatusOr<bool> ConditionalsToSelects(Module& module, RewriteControl& control) {
  bool changed = false;
  const std::vector<bool> running = RunningComputations(module);
  for (Computation* c : module.ComputationsPostOrder()) {
    if (running[c->id()]) continue;
    for (Instruction* i : c->Instructions()) {
      if (!MaySelect(i) || !control.Permit("conditional-to-select", *i, *i)) continue;
      i->ReplaceAllUsesWith(Selected(i));
      c->Remove(i);
      changed = true;
    }
  }
  if (changed) RemoveUncalled(module);
  return changed;
}

}  // namespace

std::unique_ptr<Pass> CreateConditionalToSelect() {
  return MakeModulePass("conditional-to-select", ConditionalsToSelects);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
