// simplify-while-loops: loops that do not run or run once, and smaller states of those that do.
// A loop that does not run is its initial state, and one that runs once is its body; scalar
// constants that the state carries are read as constants. Then, one rule for each loop and run:
// parts that are alike become one, tuples in the tuple are taken apart, parts that nobody needs or
// that stay constant leave it, and integers that are counted up together are computed from one
// counter. Matches loops on tuples whose body and condition have no other caller. Left alone are
// those with the frontend attribute xla_disable_while_loop_dce, and, where a loop runs once, with
// skip-simplify-while-loops_trip-count-one or side effects. Cost: linear, times the parts of the
// state.
//   while (i = 0; i < 10; ++i, j += 3), reads j   ->   while (i = 0; i < 10; ++i), reads 3 * i
#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/loops/loop_state_rules.h"
#include "passes/rewrite/control_edges.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/inline_body.h"
#include "passes/rewrite/memory_spaces.h"
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

bool HasAttribute(const Instruction* loop, absl::string_view name) {
  return FrontendAttribute(*loop, name) == "true";
}

// Of no rounds, or one.
bool RemoveLoop(const WhileState& loop) {
  Instruction* i = loop.loop;
  const std::optional<int64_t> trips = i->HasSideEffect() ? std::nullopt : TripCount(loop);
  if (trips && *trips == 0 && i->operand(0)->shape() == i->shape()) {
    i->ReplaceAllUsesWith(i->operand(0));
    return true;
  }
  if (trips && *trips == 1 && loop.root->shape() == i->shape() &&
      !HasAttribute(i, "skip-simplify-while-loops_trip-count-one")) {
    i->ReplaceAllUsesWith(CopyBody(*loop.body, i->operands(), *i->parent()));
    return true;
  }
  return false;
}

bool RemoveUnneeded(Module& module) {
  for (Computation* c : module.Computations()) RemoveDead(*c);
  RemoveUncalled(module);
  return true;
}

// Whether the body and the condition read the state part by part. Control edges would keep the
// reads of parts that leave it.
bool TakesStateApart(const WhileState& loop) {
  for (const Computation* c : {loop.body, loop.condition})
    for (const Instruction* user : c->parameter(0)->users())
      if (user->opcode() != Opcode::kGetTupleElement || HasControlEdges(*user)) return false;
  return true;
}

bool HasOpcode(const Computation& computation, bool (*is)(Opcode)) {
  for (const Instruction* i : computation.Instructions()) {
    if (is(i->opcode())) return true;
    for (const Computation* called : i->called())
      if (HasOpcode(*called, is)) return true;
  }
  return false;
}

bool IsTransfer(Opcode opcode) {
  return opcode == Opcode::kSend || opcode == Opcode::kSendDone || opcode == Opcode::kRecv ||
         opcode == Opcode::kRecvDone;
}
bool IsDomain(Opcode opcode) { return opcode == Opcode::kDomain; }

bool Contains(const WhileState& loop, bool (*is)(Opcode)) {
  return HasOpcode(*loop.body, is) || HasOpcode(*loop.condition, is);
}

bool HaveOneLayout(const WhileState& loop) {
  const Shape& state = loop.loop->shape();
  return loop.root->shape() == state && loop.loop->operand(0)->shape() == state &&
         loop.parameter->shape() == state && loop.condition->parameter(0)->shape() == state;
}

// The first rule that applies.
bool SimplifyState(const WhileState& loop, bool comparisons) {
  const bool apart = TakesStateApart(loop);
  if (!HaveOneLayout(loop) || !loop.loop->backend_config().empty()) return false;
  if (apart && MergeRepeatedParts(loop)) return true;
  if (FlattenState(loop)) return true;
  if (apart && RemoveDeadParts(loop)) return true;
  if (RemoveConstantParts(loop)) return true;
  return comparisons && DecideComparisons(loop);
}

bool MergeAllCounters(Instruction* i) {
  bool changed = false;
  for (const ElementType type : {ElementType::kS8, ElementType::kU8, ElementType::kS32,
                                 ElementType::kU32, ElementType::kS64, ElementType::kU64}) {
    const std::optional<WhileState> loop = WhileState::Of(i);
    if (loop && HaveOneLayout(*loop)) changed |= MergeCounters(*loop, type);
  }
  return changed;
}

bool SimplifyLoop(Instruction* i, bool comparisons) {
  std::optional<WhileState> loop = WhileState::Of(i);
  if (!loop || HasAttribute(i, "xla_disable_while_loop_dce")) return false;
  if (SimplifyState(*loop, comparisons)) return true;
  if (Contains(*loop, IsTransfer)) return false;
  const bool propagated = PropagateConstants(*loop);
  if (RemoveLoop(*WhileState::Of(i))) return true;
  return (!Contains(*loop, IsDomain) && MergeAllCounters(i)) || propagated;
}

class SimplifyWhileLoops final : public Pass {
 public:
  SimplifyWhileLoops(bool plain, bool comparisons) : plain_(plain), comparisons_(comparisons) {}
  absl::string_view name() const override { return "simplify-while-loops"; }

  absl::StatusOr<bool> Run(Module& module) override {
    return plain_ ? RunPlain(module) : RunAll(module);
  }

 private:
  absl::StatusOr<bool> RunAll(Module& module) const {
    bool changed = false;
    std::vector<Instruction*> loops;
    for (Computation* c : module.Computations())
      for (Instruction* i : PostOrderOf(*c, Opcode::kWhile)) loops.push_back(i);
    std::vector<int> callers = CountCallers(module);
    for (Instruction* i : loops) {
      if (callers[i->called(0)->id()] != 1 || callers[i->called(1)->id()] != 1) continue;
      if (!SimplifyLoop(i, comparisons_)) continue;
      changed = true;
      callers = CountCallers(module);  // a body that was copied has what it calls called twice
    }
    return changed && RemoveUnneeded(module);
  }

  static absl::StatusOr<bool> RunPlain(Module& module) {
    bool changed = false;
    const std::vector<int> callers = CountCallers(module);
    for (Computation* c : module.ComputationsPostOrder())
      for (Instruction* i : PostOrderOf(*c, Opcode::kWhile)) {
        const std::optional<WhileState> loop = WhileState::Of(i);
        if (!loop || (i->users().empty() && !i->IsRoot())) continue;
        if (RemoveLoop(*loop)) {
          changed = true;
          continue;
        }
        changed |= ForwardInvariants(*loop);
        if (!loop->IsOnlyCaller(callers)) continue;
        changed |= SinkInitial(*loop, IsKnownScalar);
        if (i->shape() != loop->root->shape() || i->shape() != i->operand(0)->shape()) continue;
        changed |= PassOnDeadParts(*loop);
        changed |= RemoveDead(*loop->body);
        changed |= RemoveDead(*loop->condition);
        changed |= NarrowState(*loop);
      }
    return changed && RemoveUnneeded(module);
  }

  const bool plain_, comparisons_;
};

}  // namespace

// Options: plain leaves loops' counters and tuples as they are and takes only parts out that nobody
// reads: the cpu pipeline runs these rules; compare also decides comparisons of the counter.
std::unique_ptr<Pass> CreateSimplifyWhileLoops(PassArguments& arguments) {
  const bool plain = arguments.Flag("plain", "only loops that run at most once, and unread parts");
  const bool comparisons =
      arguments.Flag("compare", "also comparisons of the counter with constants in the body");
  return std::make_unique<SimplifyWhileLoops>(plain, comparisons);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
