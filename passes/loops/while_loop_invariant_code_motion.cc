// Loop-invariant code motion: an instruction whose operands do not change between iterations is
// computed once before the loop, and becomes a part of its state.
//   body: y = exp(w) with w invariant  ->  before: y0 = exp(w); state gets y0
// What only rearranges or repeats (broadcast, reshape, iota, ...) moves only with what reads it:
// the state grows by each value. Linear in the body.
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "passes/cleanup/tuple_simplifier.h"
#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/fusions/fusion_rules.h"
#include "passes/rewrite/control_edges.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/memory_spaces.h"
#include "passes/rewrite/while_state.h"
#include "support/status.h"
#include "types/shape_bytes.h"

namespace hlokit {
namespace {

// What is asked of a value that becomes part of the state.
struct Worth {
  bool (*is_worth)(const Instruction*);
  bool constants = false, others = true;
  double inflation = 0;  // of the operands' bytes to the result's, at most; 0: any
  // Only what the body still reads becomes a part of the state, and one read of it stands for all;
  // XLA's state has a part for all that moved, which the body passes on by a read of its own.
  bool only_read = true;
};

constexpr int64_t kManyElements = 256;

bool MayMove(const Instruction* i) {
  if (!i->shape().IsArray() || HasControlEdges(*i)) return false;
  switch (i->opcode()) {
    case Opcode::kDot:
    case Opcode::kReduce:
    case Opcode::kConvolution:
    case Opcode::kIota:
      return true;
    case Opcode::kCall:
    case Opcode::kConditional:
    case Opcode::kGather:
    case Opcode::kReduceWindow:
    case Opcode::kScatter:
    case Opcode::kSelectAndScatter:
      return !i->HasSideEffect();
    default:
      return HasTrait(i->opcode(), kElementwise) || HasTrait(i->opcode(), kMovesData);
  }
}

// What is more than another view of its operand.
bool IsMoreThanAView(const Instruction* i) {
  switch (i->opcode()) {
    case Opcode::kBitcast:
    case Opcode::kBroadcast:
    case Opcode::kIota:
    case Opcode::kReshape:
    case Opcode::kReverse:
    case Opcode::kSlice:
    case Opcode::kTranspose:
      return false;
    default:
      return true;
  }
}

int64_t BytesRead(const Instruction* i) {
  int64_t bytes = 0;
  for (const Instruction* operand : i->operands()) bytes += TotalBytes(operand->shape());
  return bytes;
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

// Whether values have other shapes or shardings in parts of the computation, so that what stands
// before the loop would not be what stands inside.
bool HasShardedRegions(const Computation& body) {
  bool found = false;
  body.ForEach([&](const Instruction* i) {
    found |= i->opcode() == Opcode::kDomain || IsUnaryCallOf(i, "SPMDFullToShardShape") ||
             IsUnaryCallOf(i, "SPMDShardToFullShape");
  });
  return found;
}

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

class Hoister {
 public:
  Hoister(WhileState loop, const Worth& worth) : loop_(loop), worth_(worth) {}

  bool Run() {
    if (HasShardedRegions(*loop_.body)) return false;
    // A state of which nothing stays the same: XLA leaves the loop, and what its body computes of
    // constants, to constant_folding.
    if (!FindInvariants() && !worth_.constants) return false;
    std::vector<Instruction*> kept;  // inside the body
    for (Instruction* i : order_)
      if (invariant_.contains(i) && IsKept(i) && (!worth_.only_read || IsRead(i)))
        kept.push_back(i);
    if (kept.empty()) return false;
    std::vector<Instruction*> outside;
    for (Instruction* i : kept) outside.push_back(Outside(i));
    const std::vector<Instruction*> inside = loop_.Widen(outside);
    for (const Computation* c : {loop_.condition, loop_.body}) ShareReads(c->parameter(0));
    for (size_t k = 0; k < kept.size(); ++k) {
      Instruction* read = inside[k];
      if (!worth_.only_read)
        read = loop_.body->Add(read->CloneWith(read->shape(), {loop_.parameter}));
      kept[k]->ReplaceAllUsesWith(read);
    }
    RemoveDead(*loop_.body);
    return true;
  }

 private:
  // True if a part of the state is among them.
  bool FindInvariants() {
    bool any = false;
    order_ = loop_.body->PostOrder();
    for (Instruction* i : order_) {
      bool invariant = false;
      if (i->opcode() == Opcode::kGetTupleElement) {
        invariant = i->operand(0) == loop_.parameter && loop_.IsInvariant(i->tuple_index());
        any |= invariant;
      } else if (i->IsConstant()) {
        invariant = true;
      } else if (MayMove(i)) {
        invariant = true;
        for (const Instruction* operand : i->operands()) invariant &= invariant_.contains(operand);
      }
      if (invariant) invariant_[i] = nullptr;
    }
    return any;
  }

  // By something that stays.
  bool IsRead(const Instruction* i) const {
    for (const Instruction* user : i->users())
      if (!invariant_.contains(user) || !IsKept(user)) return true;
    return false;
  }

  bool IsKept(const Instruction* i) const {
    if (i->IsConstant()) return worth_.constants;
    if (!worth_.others || !MayMove(i) || !worth_.is_worth(i)) return false;
    return worth_.inflation == 0 || TotalBytes(i->shape()) <= worth_.inflation * BytesRead(i);
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
  const Worth& worth_;
  std::vector<Instruction*> order_;
  absl::flat_hash_map<const Instruction*, Instruction*>
      invariant_;  // to the copy outside, made when needed
};

// What is left of tuples and reads once loops have other states.
bool CleanUp(Module& module, bool shares_reads) {
  bool changed = false;
  const std::vector<bool> running = RunningComputations(module);
  for (Computation* c : module.ComputationsPostOrder()) {
    if (!running[c->id()]) continue;
    bool cleaned = SimplifyTuples(*c);
    for (const Instruction* parameter : c->parameters())
      if (shares_reads && parameter->shape().IsTuple()) cleaned |= ShareReads(parameter);
    if (cleaned) RemoveDead(*c);
    changed |= cleaned;
  }
  return changed;
}

// Named as XLA names them, after what they were.
void NameWidened(Computation& widened, absl::string_view before) {
  widened.set_name(widened.module()->UniqueComputationName(absl::StrCat("wide.", before)));
}

bool Hoist(const WhileState& loop, const Worth& worth) {
  if (!Hoister(loop, worth).Run()) return false;
  if (!worth.only_read)
    for (Computation* c : {loop.condition, loop.body}) NameWidened(*c, c->name());
  return true;
}

// The same of a loop whose body or condition others run too: it gets its own, which go again where
// nothing moves.
bool HoistFromCopies(Instruction* loop, const Worth& worth) {
  const std::vector<Computation*> shared(loop->called().begin(), loop->called().end());
  std::vector<Computation*> own;
  for (const Computation* c : shared) own.push_back(c->Clone(".clone"));
  loop->set_called(own);
  const std::optional<WhileState> copied = WhileState::Of(loop);
  if (copied && Hoister(*copied, worth).Run()) {
    for (size_t k = 0; k < own.size(); ++k) NameWidened(*own[k], shared[k]->name());
    return true;
  }
  loop->set_called(shared);
  for (Computation* c : own) loop->module()->Remove(c);
  return false;
}

absl::StatusOr<bool> HoistAll(Module& module, const Worth& worth) {
  bool changed = false;
  const std::vector<int> callers = CountCallers(module);
  for (Computation* c : module.ComputationsPostOrder())
    for (Instruction* i : c->PostOrder()) {  // so that loops come after their initial tuples
      const std::optional<WhileState> loop = WhileState::Of(i);
      if (!loop) continue;
      if (loop->IsOnlyCaller(callers))
        changed |= Hoist(*loop, worth);
      else if (!worth.only_read)
        changed |= HoistFromCopies(i, worth);
    }
  // XLA leaves a module alone where nothing moved.
  if (!changed && !worth.only_read) return false;
  if (!worth.only_read) RemoveUncalled(module);  // bodies that a loop had before its own
  return CleanUp(module, worth.only_read) || changed;
}

absl::StatusOr<bool> RunExpensive(Module& module) {
  Worth worth{IsExpensive};
  worth.inflation = 1;
  worth.only_read = false;
  return HoistAll(module, worth);
}

class InvariantCodeMotion final : public Pass {
 public:
  explicit InvariantCodeMotion(const Worth& worth) : worth_(worth) {}
  absl::string_view name() const override { return "while-loop-invariant-code-motion"; }
  absl::StatusOr<bool> Run(Module& module) override { return HoistAll(module, worth_); }

 private:
  const Worth worth_;
};

}  // namespace

// while-loop-expensive-invariant-code-motion. The same for products and reductions alone, whose
// results are not larger than their operands.
std::unique_ptr<Pass> CreateWhileLoopExpensiveInvariantCodeMotion() {
  return MakeModulePass("while-loop-expensive-invariant-code-motion", RunExpensive);
}

// while-loop-invariant-code-motion. Matches instructions of a body that need only constants and
// parts of the tuple that never change, and are more than a view of their operand; they move before
// the loop and become parts of its tuple. Options: `constants` moves those, too, `others=0` nothing
// else, `inflation=N` only results of at most N times their operands' bytes; `dear` keeps what
// costs no more to make in each iteration than to read: small elementwise values, not in XLA.
// A loop whose computations others run too gets its own (with `dear` it stays). Tuples that are
// only decomposed go. Cost: linear.
std::unique_ptr<Pass> CreateWhileLoopInvariantCodeMotion(PassArguments& arguments) {
  Worth worth;
  worth.only_read = arguments.Flag(
      "dear", "only what costs more to make than to read, and is read inside, not in XLA");
  worth.is_worth = worth.only_read ? IsDearToMake : IsMoreThanAView;
  worth.constants = arguments.Flag("constants", "moves constants, too");
  worth.others = arguments.Int("others", 1, "0 moves nothing but constants") != 0;
  worth.inflation = static_cast<double>(
      arguments.Int("inflation", 0, "largest ratio of a result's bytes to its operands' (0: any)"));
  return std::make_unique<InvariantCodeMotion>(worth);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
