// simplify-while-loops. Matches parts of a loop's tuple that its body passes on unchanged (their
// users read the initial value), and loops that count an integer from a constant to a constant and
// do not run at all or run once. Parts that nobody needs leave the tuple. Cost: linear.
//   while (false) -> initial state      one iteration -> body      invariant part -> initial value
#include "passes/framework/pass.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/inline_body.h"
#include "passes/rewrite/post_order_of.h"
#include "passes/rewrite/while_state.h"
#include "support/status.h"

namespace hlokit {
namespace {

bool ForwardInvariants(const WhileState& loop) {
  bool changed = false;
  const std::vector<Instruction*> users(loop.loop->users().begin(), loop.loop->users().end());
  for (Instruction* user : users) {
    if (user->opcode() != Opcode::kGetTupleElement || !loop.IsInvariant(user->tuple_index()))
      continue;
    if (user->users().empty() && !user->IsRoot()) continue;
    if (loop.loop->operand(0)->shape().elements[user->tuple_index()] != user->shape()) continue;
    user->ReplaceAllUsesWith(loop.Initial(user->tuple_index()));
    changed = true;
  }
  return changed;
}

absl::StatusOr<bool> Run(Module& module) {
  bool changed = false;
  const std::vector<int> callers = CountCallers(module);
  for (Computation* c : module.ComputationsPostOrder())
    for (Instruction* i : PostOrderOf(*c, Opcode::kWhile)) {
      const std::optional<WhileState> loop = WhileState::Of(i);
      if (!loop || (i->users().empty() && !i->IsRoot())) continue;
      const std::optional<int64_t> trips = i->HasSideEffect() ? std::nullopt : TripCount(*loop);
      if (trips && *trips == 0 && i->operand(0)->shape() == i->shape()) {
        i->ReplaceAllUsesWith(i->operand(0));
        changed = true;
      } else if (trips && *trips == 1 && loop->root->shape() == i->shape()) {
        i->ReplaceAllUsesWith(CopyBody(*loop->body, i->operands(), *i->parent()));
        changed = true;
      } else {
        changed |= ForwardInvariants(*loop);
        if (callers[loop->body->id()] != 1 || callers[loop->condition->id()] != 1) continue;
        changed |= SinkInitial(*loop, IsKnownScalar);
        if (i->shape() != loop->root->shape() || i->shape() != i->operand(0)->shape()) continue;
        changed |= PassOnDeadParts(*loop);
        changed |= RemoveDead(*loop->body);
        changed |= RemoveDead(*loop->condition);
        changed |= NarrowState(*loop);
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
