// conditional-code-motion: moves instructions that all branches of a conditional share out of it.
// Matches conditionals all of whose branches give, as one part of their tuple, the same elementwise
// operation, reshape or transpose of one operand; the branches, which no one else calls, give the
// operand, and the operation follows the conditional. Where a branch computed the result for others
// too it computes it still. Cost: linear.
//   branch 0: exp(a), branch 1: exp(b)   ->   exp(conditional), with branches a and b
#include "passes/framework/pass.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/post_order_of.h"
#include "passes/rewrite/while_state.h"

namespace hlokit {
namespace {

bool Moves(const Instruction* i) {
  return i->operand_count() == 1 && i->shape().IsArray() && i->operand(0)->shape().IsArray() &&
         !i->shape().HasDynamicDims() && i->control_predecessors().empty() &&
         i->control_successors().empty() && !i->HasSideEffect() &&
         (HasTrait(i->opcode(), kElementwise) || i->opcode() == Opcode::kReshape ||
          i->opcode() == Opcode::kTranspose);
}

// What part k of every branch's result is an operation of, if that is the same; null otherwise.
const Instruction* CommonLast(const Instruction* conditional, int64_t k) {
  const Instruction* first = nullptr;
  for (const Computation* branch : conditional->called()) {
    const Instruction* root = branch->root();
    if (root->opcode() != Opcode::kTuple) return nullptr;
    const Instruction* last = root->operand(k);
    if (!Moves(last)) return nullptr;
    if (first == nullptr) first = last;
    if (!last->SameAttributes(*first) || last->shape() != first->shape() ||
        last->operand(0)->shape() != first->operand(0)->shape())
      return nullptr;
  }
  return first;
}

bool OnlyTakenApart(const Instruction* conditional) {
  if (conditional->IsRoot() || !conditional->shape().IsTuple()) return false;
  for (const Instruction* user : conditional->users())
    if (user->opcode() != Opcode::kGetTupleElement) return false;
  return true;
}

// The readers of part k, whose shape is now that of the operation's operand, read the operation.
void Follow(Instruction* conditional, int64_t k, const Instruction* last) {
  Computation& c = *conditional->parent();
  const Shape inner = last->operand(0)->shape();
  auto moved = last->CloneWith(last->shape(), {});
  Instruction* part =
      c.Add(Opcode::kGetTupleElement, inner, {conditional}, GetTupleElementAttrs{k});
  moved->AppendOperand(part);
  Instruction* after = c.Add(std::move(moved));
  const std::vector<Instruction*> users(conditional->users().begin(), conditional->users().end());
  for (Instruction* user : users) {
    if (user == part || user->tuple_index() != k) continue;
    user->ReplaceAllUsesWith(after);
    c.Remove(user);
  }
}

bool MoveOut(Instruction* conditional) {
  bool changed = false;
  for (int64_t k = 0; k < static_cast<int64_t>(conditional->shape().elements.size()); ++k) {
    const Instruction* last = CommonLast(conditional, k);
    if (last == nullptr) continue;
    Shape& result = conditional->mutable_shape().elements[k];
    result = last->operand(0)->shape();
    Follow(conditional, k, last);
    for (Computation* branch : conditional->called()) {
      Instruction* root = branch->root();
      root->mutable_shape().elements[k] = result;
      root->SetOperand(k, root->operand(k)->operand(0));
    }
    changed = true;
  }
  return changed;
}

absl::StatusOr<bool> Run(Module& module, RewriteControl& control) {
  bool changed = false;
  const std::vector<int> callers = CountCallers(module);
  for (Computation* c : module.ComputationsPostOrder())
    for (Instruction* i : PostOrderOf(*c, Opcode::kConditional)) {
      if (!OnlyTakenApart(i) || i->HasSideEffect()) continue;
      bool own = true;
      for (const Computation* branch : i->called()) own &= callers[branch->id()] == 1;
      if (!own || !control.Permit("conditional-code-motion", *i, *i)) continue;
      changed |= MoveOut(i);
    }
  if (changed)
    for (Computation* c : module.Computations()) RemoveDead(*c);
  return changed;
}

}  // namespace

std::unique_ptr<Pass> CreateConditionalCodeMotion() {
  return MakeModulePass("conditional-code-motion", Run);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
