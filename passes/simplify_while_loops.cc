// Loops that do not loop, and state that does not change.
#include "absl/container/flat_hash_map.h"
#include "passes/dce.h"
#include "passes/while_loops.h"
#include "passes/while_state_internal.h"
#include "support/status.h"

namespace hlokit {
namespace {

// The body once, in the place of the loop.
void InlineBody(const WhileState& loop) {
  absl::flat_hash_map<const Instruction*, Instruction*> map = {
      {loop.parameter, loop.loop->operand(0)}};
  std::vector<Instruction*> operands;
  for (const Instruction* i : loop.body->PostOrder()) {
    if (i->IsParameter()) continue;
    operands.clear();
    for (const Instruction* operand : i->operands()) operands.push_back(map.at(operand));
    Instruction* made = loop.loop->parent()->Add(i->CloneWith(i->shape(), operands));
    for (const Instruction* before : i->control_predecessors())
      if (!before->IsParameter()) made->AddControlPredecessor(map.at(before));
    map[i] = made;
  }
  loop.loop->ReplaceAllUsesWith(map.at(loop.root));
}

bool ForwardInvariants(const WhileState& loop) {
  bool changed = false;
  const std::vector<Instruction*> users(loop.loop->users().begin(), loop.loop->users().end());
  for (Instruction* user : users) {
    if (user->opcode() != Opcode::kGetTupleElement || !loop.IsInvariant(user->tuple_index()))
      continue;
    if (user->users().empty() && !user->IsRoot()) continue;
    Instruction* initial = loop.Initial(user->tuple_index());
    if (initial->shape() != user->shape()) continue;
    user->ReplaceAllUsesWith(initial);
    changed = true;
  }
  return changed;
}

absl::StatusOr<bool> Run(Module& module) {
  bool changed = false;
  const std::vector<int> callers = CountCallers(module);
  for (Computation* c : module.ComputationsPostOrder())
    for (Instruction* i : c->Instructions()) {
      const std::optional<WhileState> loop = WhileState::Of(i);
      if (!loop || (i->users().empty() && !i->IsRoot())) continue;
      const std::optional<int64_t> trips = i->HasSideEffect() ? std::nullopt : TripCount(*loop);
      if (trips && *trips == 0 && i->operand(0)->shape() == i->shape()) {
        i->ReplaceAllUsesWith(i->operand(0));
        changed = true;
      } else if (trips && *trips == 1 && loop->root->shape() == i->shape()) {
        InlineBody(*loop);
        changed = true;
      } else {
        changed |= ForwardInvariants(*loop);
        if (callers[loop->body->id()] == 1 && callers[loop->condition->id()] == 1)
          changed |= SinkConstants(*loop, /*scalars_only=*/true);
      }
    }
  if (!changed) return false;
  for (Computation* c : module.Computations()) RemoveDead(*c);
  RemoveUncalled(module);
  return true;
}

}  // namespace

std::unique_ptr<Pass> CreateSimplifyWhileLoops() {
  return MakeModulePass("simplify-while-loops", Run);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
