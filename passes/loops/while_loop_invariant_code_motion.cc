// Loop-invariant code motion: an instruction whose operands do not change between iterations is
// computed once before the loop, and becomes a part of its state.
//   body: y = exp(w) with w invariant  ->  before: y0 = exp(w); state gets y0
// Only what is worth keeping moves (IsDearToMake): the state grows by each value. Linear in the
// body.
#include "absl/container/flat_hash_map.h"
#include "passes/cleanup/tuple_simplifier.h"
#include "passes/framework/pass.h"
#include "passes/fusions/fusion_rules.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/while_state.h"
#include "support/status.h"

namespace hlokit {
namespace {

constexpr int64_t kManyElements = 256;

bool MayMove(const Instruction* i) {
  if (!i->shape().IsArray() || !i->control_predecessors().empty() ||
      !i->control_successors().empty())
    return false;
  switch (i->opcode()) {
    case Opcode::kDot:
    case Opcode::kReduce:
    case Opcode::kConvolution:
    case Opcode::kIota:
      return true;
    default:
      return HasTrait(i->opcode(), kElementwise) || HasTrait(i->opcode(), kMovesData);
  }
}

// Values that cost no more to make in each iteration than to keep.
bool IsDearToMake(const Instruction* i) {
  switch (i->opcode()) {
    case Opcode::kIota:
    case Opcode::kBroadcast:
    case Opcode::kReshape:
    case Opcode::kSlice:
    case Opcode::kConstant:
      return false;
    default:
      return i->shape().ElementCount() >= kManyElements || !IsCheapElementwise(*i);
  }
}

// Products, and sums of many.
bool IsExpensive(const Instruction* i) {
  return i->opcode() == Opcode::kDot || i->opcode() == Opcode::kConvolution ||
         i->opcode() == Opcode::kReduce;
}

class Hoister {
 public:
  Hoister(WhileState loop, bool (*is_worth_keeping)(const Instruction*))
      : loop_(loop), is_worth_keeping_(is_worth_keeping) {}

  bool Run() {
    FindInvariants();
    std::vector<Instruction*> kept;  // inside the body
    for (Instruction* i : order_)
      if (invariant_.contains(i) && is_worth_keeping_(i) && MayMove(i) && !i->IsConstant() &&
          IsRead(i))
        kept.push_back(i);
    if (kept.empty()) return false;
    std::vector<Instruction*> outside;
    for (Instruction* i : kept) outside.push_back(Outside(i));
    const std::vector<Instruction*> inside = loop_.Widen(outside);
    for (size_t k = 0; k < kept.size(); ++k) kept[k]->ReplaceAllUsesWith(inside[k]);
    RemoveDead(*loop_.body);
    return true;
  }

 private:
  void FindInvariants() {
    order_ = loop_.body->PostOrder();
    for (Instruction* i : order_) {
      bool invariant = false;
      if (i->opcode() == Opcode::kGetTupleElement) {
        invariant = i->operand(0) == loop_.parameter && loop_.IsInvariant(i->tuple_index());
      } else if (i->IsConstant()) {
        invariant = true;
      } else if (MayMove(i)) {
        invariant = true;
        for (const Instruction* operand : i->operands()) invariant &= invariant_.contains(operand);
      }
      if (invariant) invariant_[i] = nullptr;
    }
  }

  // By something that stays.
  bool IsRead(const Instruction* i) const {
    for (const Instruction* user : i->users())
      if (!invariant_.contains(user) || !is_worth_keeping_(user)) return true;
    return false;
  }

  // The copy before the loop.
  Instruction* Outside(Instruction* wanted) {
    std::vector<Instruction*> work = {wanted}, operands;
    while (!work.empty()) {
      Instruction* i = work.back();
      if (invariant_.at(i) != nullptr) {
        work.pop_back();
        continue;
      }
      if (i->opcode() == Opcode::kGetTupleElement) {
        invariant_[i] = loop_.Initial(i->tuple_index());
        continue;
      }
      operands.clear();
      bool ready = true;
      for (Instruction* operand : i->operands()) {
        operands.push_back(invariant_.at(operand));
        if (operands.back() != nullptr) continue;
        work.push_back(operand);
        ready = false;
      }
      if (ready) invariant_[i] = loop_.loop->parent()->Add(i->CloneWith(i->shape(), operands));
    }
    return invariant_.at(wanted);
  }

  WhileState loop_;
  bool (*is_worth_keeping_)(const Instruction*);
  std::vector<Instruction*> order_;
  absl::flat_hash_map<const Instruction*, Instruction*>
      invariant_;  // to the copy outside, made when needed
};

// Lets one read of each part stand for all that the computation has.
bool ShareReads(const Instruction* tuple) {
  bool changed = false;
  absl::flat_hash_map<int64_t, Instruction*> reads;
  for (Instruction* i : tuple->parent()->PostOrder()) {
    if (i->opcode() != Opcode::kGetTupleElement || i->operand(0) != tuple || i->users().empty() ||
        i->IsRoot())
      continue;
    Instruction*& read = reads.try_emplace(i->tuple_index(), i).first->second;
    if (read == i || read->shape() != i->shape()) continue;
    i->ReplaceAllUsesWith(read);
    changed = true;
  }
  return changed;
}

// What is left of tuples and reads once loops have other states.
bool CleanUp(Module& module) {
  bool changed = false;
  const std::vector<bool> running = RunningComputations(module);
  for (Computation* c : module.ComputationsPostOrder()) {
    if (!running[c->id()]) continue;
    bool cleaned = SimplifyTuples(*c);
    for (const Instruction* parameter : c->parameters())
      if (parameter->shape().IsTuple()) cleaned |= ShareReads(parameter);
    if (cleaned) RemoveDead(*c);
    changed |= cleaned;
  }
  return changed;
}

absl::StatusOr<bool> HoistAll(Module& module, bool (*is_worth_keeping)(const Instruction*)) {
  bool changed = false;
  const std::vector<int> callers = CountCallers(module);
  for (Computation* c : module.ComputationsPostOrder())
    for (Instruction* i : c->PostOrder()) {  // so that loops come after their initial tuples
      const std::optional<WhileState> loop = WhileState::Of(i);
      if (!loop || !loop->IsOnlyCaller(callers)) continue;
      changed |= Hoister(*loop, is_worth_keeping).Run();
    }
  return CleanUp(module) || changed;
}

absl::StatusOr<bool> HoistInvariants(Module& module) { return HoistAll(module, IsDearToMake); }
absl::StatusOr<bool> RunExpensive(Module& module) { return HoistAll(module, IsExpensive); }

}  // namespace

// while-loop-expensive-invariant-code-motion. The same for products and reductions alone.
std::unique_ptr<Pass> CreateWhileLoopExpensiveInvariantCodeMotion() {
  return MakeModulePass("while-loop-expensive-invariant-code-motion", RunExpensive);
}

// while-loop-invariant-code-motion. Matches instructions of a body that need only constants and
// parts of the tuple that never change, and are worth keeping: arrays that take work, or many
// elements, to make; they move before the loop and become parts of its tuple. Expects bodies with
// one caller (flatten-call-graph). Tuples that are only decomposed go, and of several reads of one
// part one stays. Cost: linear.
std::unique_ptr<Pass> CreateWhileLoopInvariantCodeMotion() {
  return MakeModulePass("while-loop-invariant-code-motion", HoistInvariants);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
