// collective-permute-motion: moves a collective-permute from the end of a loop body to the start of
// the next iteration.
// Matches loops that are known to run at least once and carry as a part of their state what a
// collective-permute sends that nothing else in the round reads; the condition must not read that
// part. Leaves the value that was sent in the state, a collective-permute at the start of each
// round but the first (where a choice takes what the loop began with), and one after the loop. So
// the transfer can overlap with what does not need it. Exact. Cost: linear.
//   body: x' = permute(f(x))
//     ->  body: y = select(first, x, permute(x)), x' = f(y); after the loop: permute(x)
#include <algorithm>

#include "passes/framework/pass.h"
#include "passes/rewrite/control_edges.h"
#include "passes/rewrite/hlo_writer.h"
#include "passes/rewrite/matchers.h"
#include "passes/rewrite/while_state.h"

namespace hlokit {
namespace {

// The transfer that ends the round for part k; null where there is none to move.
Instruction* TransferOf(const WhileState& state, int64_t k) {
  Instruction* transfer = state.root->operand(k);
  if (transfer->opcode() != Opcode::kCollectivePermute || transfer->operand_count() != 1 ||
      !transfer->shape().IsArray() || transfer->users().size() != 1 || transfer->IsRoot() ||
      HasControlEdges(*transfer) || !SameShape(transfer->shape(), transfer->operand(0)->shape()))
    return nullptr;
  return std::count(state.root->operands().begin(), state.root->operands().end(), transfer) == 1
             ? transfer
             : nullptr;
}

// Readers of part k of `tuple`; false where it is also read as a whole, other than by `except`.
bool PartReaders(const Instruction* tuple, int64_t k, std::vector<Instruction*>& readers) {
  for (Instruction* user : tuple->users()) {
    if (user->opcode() != Opcode::kGetTupleElement) return false;
    if (user->tuple_index() == k) readers.push_back(user);
  }
  return !tuple->IsRoot();
}

// Other readers of `part` get what `replace` makes of it.
template <typename Make>
void Rewire(const std::vector<Instruction*>& parts, Make make) {
  for (Instruction* part : parts) {
    const std::vector<Instruction*> users(part->users().begin(), part->users().end());
    const bool was_root = part->IsRoot();
    Instruction* made = make(part);
    for (Instruction* user : users) part->ReplaceUseIn(user, made);
    if (was_root) part->parent()->set_root(made);
  }
}

bool Move(const WhileState& state, int64_t k, const LoopCount& count, RewriteControl& control) {
  Instruction* transfer = TransferOf(state, k);
  std::vector<Instruction*> inside, behind, asked;
  if (transfer == nullptr || k == count.index || !PartReaders(state.parameter, k, inside) ||
      !PartReaders(state.loop, k, behind) ||
      !PartReaders(state.condition->parameter(0), k, asked) || !asked.empty() || inside.empty() ||
      !control.Permit("collective-permute-motion", *transfer, *transfer))
    return false;
  Rewriter in_body(*state.body);
  HloWriter w(in_body);
  Instruction* counter = w.Part(state.parameter, count.index);
  Instruction* first =
      w.Compare(counter, w.Integer(counter->shape().type, count.init), ComparisonDirection::kEq);
  Rewire(inside, [&](Instruction* part) {
    Instruction* sent = in_body.Clone(transfer, part->shape(), {part});
    return w.Select(in_body.Broadcast(first, part->shape().WithType(ElementType::kPred), {}), part,
                    sent);
  });
  Rewriter outside(*state.loop->parent());
  Rewire(behind, [&](Instruction* part) { return outside.Clone(transfer, part->shape(), {part}); });
  state.root->SetOperand(k, transfer->operand(0));
  state.body->Remove(transfer);
  return true;
}

absl::StatusOr<bool> MovePermutes(Computation& computation, RewriteControl& control) {
  bool changed = false;
  std::vector<int> callers;  // counted where there is a loop
  for (Instruction* i : computation.PostOrder()) {
    if (i->opcode() != Opcode::kWhile || !i->shape().IsTuple()) continue;
    if (callers.empty()) callers = CountCallers(*computation.module());
    const auto state = WhileState::Of(i);
    if (!state || callers[state->body->id()] != 1 || callers[state->condition->id()] != 1) continue;
    const auto count = CountLoop(*state);
    if (!count || count->trips < 1) continue;
    for (int64_t k = 0; k < state->root->operand_count(); ++k)
      changed |= Move(*state, k, *count, control);
  }
  return changed;
}

}  // namespace

std::unique_ptr<Pass> CreateCollectivePermuteMotion() {
  return MakeComputationPass("collective-permute-motion", MovePermutes);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
