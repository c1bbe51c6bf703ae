// A loop's state may hold a transfer that is under way, or a pinned buffer:
//   state k: send-done(state k) ... send(x)      x is copied after send-done, before it is sent
//   state k: recv-done(state k) ... recv()       the data are copied; recv comes after both
//   state k: unpin(update(state k)) ... pin(x)   what unpin gives is copied
// The memory of the state belongs to the start until the next iteration ends it, and no copy of the
// state itself is possible.
#include "passes/scheduling/transition_copies.h"

#include "absl/container/flat_hash_set.h"

namespace hlokit {
namespace {

bool Calls(const Instruction& i, absl::string_view target) {
  return i.opcode() == Opcode::kCustomCall && i.attr<CustomCallAttrs>().target == target;
}

// The operand whose memory part `part` of the custom call is (its result where `part` is empty).
const Instruction* AliasedOperand(const Instruction& call, const ShapeIndex& part) {
  for (const OutputAlias& alias : call.attr<CustomCallAttrs>().output_to_operand_aliasing)
    if (alias.output == part && alias.operand_index.empty()) return call.operand(alias.operand);
  return nullptr;
}

// The start whose buffer `i` is, through calls that update it in place; null where there is none.
const Instruction* StartOf(const Instruction* i) {
  ShapeIndex part;
  while (i != nullptr) {
    if (i->opcode() == Opcode::kGetTupleElement && part.empty()) {
      part.push_back(i->tuple_index());
      i = i->operand(0);
    } else if (IsPin(*i)) {
      return i;
    } else if (i->opcode() == Opcode::kCustomCall) {
      i = AliasedOperand(*i, part);
      part.clear();
    } else {
      return nullptr;
    }
  }
  return nullptr;
}

// The calls that make an array of the buffer `i` again, through calls that update it in place.
void FindUnpins(Instruction* i, std::vector<Instruction*>& found) {
  absl::flat_hash_set<const Instruction*> seen;
  std::vector<Instruction*> work = {i};
  while (!work.empty()) {
    const Instruction* buffer = work.back();
    work.pop_back();
    for (Instruction* user : buffer->users()) {
      if (user->opcode() != Opcode::kCustomCall || !seen.insert(user).second) continue;
      if (Calls(*user, "Unpin")) found.push_back(user);
      if (AliasedOperand(*user, {}) == buffer) work.push_back(user);
      for (Instruction* part : user->users())
        if (part->opcode() == Opcode::kGetTupleElement &&
            AliasedOperand(*user, {part->tuple_index()}) == buffer)
          work.push_back(part);
    }
  }
}

// A copy of `x` that all its users read; null where it has none.
Instruction* CopyForUsers(Instruction* x) {
  if (x->users().empty()) return nullptr;
  const std::vector<Instruction*> users(x->users().begin(), x->users().end());
  Instruction* copy = x->parent()->Add(Opcode::kCopy, x->shape(), {x});
  for (Instruction* user : users) x->ReplaceUseIn(user, copy);
  return copy;
}

bool ComesAfter(const Instruction* later, const Instruction* earlier) {
  absl::flat_hash_set<const Instruction*> seen;
  std::vector<const Instruction*> work = {later};
  while (!work.empty()) {
    const Instruction* at = work.back();
    work.pop_back();
    if (at == earlier) return true;
    if (!seen.insert(at).second) continue;
    work.insert(work.end(), at->operands().begin(), at->operands().end());
    work.insert(work.end(), at->control_predecessors().begin(), at->control_predecessors().end());
  }
  return false;
}

void PutInOrder(Instruction* first, Instruction* second) {
  if (!ComesAfter(first, second) && !ComesAfter(second, first))
    second->AddControlPredecessor(first);
}

void CopyReceived(Instruction* recv_done, Instruction* recv) {
  PutInOrder(recv_done, recv);
  const std::vector<Instruction*> parts(recv_done->users().begin(), recv_done->users().end());
  for (Instruction* part : parts) {
    if (part->opcode() != Opcode::kGetTupleElement || !part->shape().IsArray()) continue;
    Instruction* copy = CopyForUsers(part);
    if (copy != nullptr) PutInOrder(copy, recv);
  }
}

void CopySent(Instruction* send_done, Instruction* send) {
  Instruction* x = send->operand(0);
  if (x->opcode() != Opcode::kCopy) {
    x = send->parent()->Add(Opcode::kCopy, x->shape(), {x});
    send->SetOperand(0, x);
  }
  PutInOrder(send_done, x);
}

}  // namespace

bool IsPin(const Instruction& i) { return Calls(i, "Pin") && i.operand_count() == 1; }

bool CopyAroundTransfers(const WhileState& loop) {
  bool changed = false;
  std::vector<std::pair<Instruction*, Instruction*>> sends;
  const std::vector<Instruction*> parts(loop.parameter->users().begin(),
                                        loop.parameter->users().end());
  for (Instruction* part : parts) {
    if (part->opcode() != Opcode::kGetTupleElement || part->shape().IsArray()) continue;
    Instruction* next = loop.root->operand(part->tuple_index());
    for (Instruction* end : std::vector<Instruction*>(part->users().begin(), part->users().end())) {
      if (end->opcode() == Opcode::kRecvDone && next->opcode() == Opcode::kRecv) {
        CopyReceived(end, next);
        changed = true;
      } else if (end->opcode() == Opcode::kSendDone && next->opcode() == Opcode::kSend) {
        sends.push_back({end, next});
      }
    }
    if (StartOf(next) == nullptr) continue;
    std::vector<Instruction*> unpins;
    FindUnpins(part, unpins);
    for (Instruction* unpin : unpins) changed |= CopyForUsers(unpin) != nullptr;
  }
  for (const auto& [done, send] : sends) {  // what was received may be a copy now
    CopySent(done, send);
    changed = true;
  }
  return changed;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
