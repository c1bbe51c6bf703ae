// while-loop-constant-sinking: sinks constants of the initial state into the loop body.
//   state = (0, c): body reads part 1  ->  body reads c
#include <algorithm>

#include "passes/framework/pass.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/while_state.h"
#include "support/status.h"

namespace hlokit {
namespace {

// In the body by what it passes on: other reads of the part do not count.
bool ReadsInBody(const WhileState& loop, int64_t k) {
  const auto readers = loop.root->operand(k)->users();
  return std::any_of(readers.begin(), readers.end(),
                     [&](const Instruction* reader) { return reader != loop.root; });
}

bool Reads(const Instruction* parameter, int64_t k, const Instruction* except) {
  for (const Instruction* user : parameter->users())
    if (user->opcode() == Opcode::kGetTupleElement && user->tuple_index() == k)
      for (const Instruction* reader : user->users())
        if (reader != except) return true;
  return false;
}

bool HasAnyToSink(const WhileState& loop, bool (*may_sink)(const Instruction*)) {
  const Instruction* start = loop.loop->operand(0);
  if (start->opcode() != Opcode::kTuple) return false;
  for (int64_t k = 0; k < start->operand_count(); ++k)
    if (may_sink(start->operand(k)) && loop.IsInvariant(k) &&
        (ReadsInBody(loop, k) || Reads(loop.condition->parameter(0), k, /*except=*/nullptr)))
      return true;
  return false;
}

// Made again for less than it is kept: an iota, or a broadcast of a constant or of an iota.
bool IsFusible(const Instruction* i) {
  if (i->opcode() == Opcode::kIota) return true;
  if (i->opcode() != Opcode::kBroadcast) return false;
  return IsKnownConstant(i->operand(0)) || i->operand(0)->opcode() == Opcode::kIota;
}

absl::StatusOr<bool> Sink(Module& module, bool (*may_sink)(const Instruction*)) {
  bool changed = false;
  std::vector<int> callers = CountCallers(module);
  for (Computation* c : module.ComputationsPostOrder())
    for (Instruction* i : c->Instructions()) {
      std::optional<WhileState> loop = WhileState::Of(i);
      if (!loop || !HasAnyToSink(*loop, may_sink)) continue;
      for (int64_t k : {0, 1}) {
        if (callers[i->called(k)->id()] == 1) continue;
        --callers[i->called(k)->id()];
        i->SetCalled(k, i->called(k)->Clone(".sunk"));
        for (const Instruction* inner : i->called(k)->Instructions())
          for (const Computation* called : inner->called()) ++callers[called->id()];
        callers.resize(module.computation_id_bound(), 1);
      }
      loop = WhileState::Of(i);
      changed |= SinkInitial(*loop, may_sink, ReadsToSink::kPassedOn);
      RemoveDead(*loop->body);
      RemoveDead(*loop->condition);
    }
  return changed;
}

absl::StatusOr<bool> SinkConstants(Module& module) { return Sink(module, IsKnownConstant); }

// Whether nothing but a get-tuple-element of the body reads the part, and the body does not update
// it in place.
bool IsReadInBodyAlone(const WhileState& loop, int64_t k) {
  if (Reads(loop.condition->parameter(0), k, /*except=*/nullptr)) return false;
  if (!Reads(loop.parameter, k, loop.root)) return false;
  for (const Instruction* part : loop.parameter->users())
    for (const Instruction* user : part->users())
      if (part->opcode() != Opcode::kGetTupleElement ||
          (part->tuple_index() == k && user->opcode() == Opcode::kDynamicUpdateSlice &&
           user->operand(0) == part))
        return false;
  return true;
}

// Parts that start as broadcasts of constants and change in a loop that runs for sure.
std::vector<int64_t> PartsToFill(const WhileState& loop) {
  std::vector<int64_t> parts;
  const Instruction* start = loop.loop->operand(0);
  if (start->opcode() != Opcode::kTuple) return parts;
  for (int64_t k = 0; k < start->operand_count(); ++k) {
    const Instruction* initial = start->operand(k);
    if (initial->opcode() == Opcode::kBroadcast && initial->operand(0)->IsConstant() &&
        initial->operand(0)->shape().IsScalar() && !loop.IsInvariant(k) &&
        IsReadInBodyAlone(loop, k))
      parts.push_back(k);
  }
  return parts;
}

// What reads part k in the body reads `value` in the first iteration.
void FillAtFirst(const WhileState& loop, int64_t k, Instruction* is_first,
                 const Instruction* initial) {
  Computation& body = *loop.body;
  Instruction* constant = body.AddConstant(*initial->operand(0)->literal());
  Instruction* value = body.Add(Opcode::kBroadcast, initial->shape(), {constant}, BroadcastAttrs{});
  const Shape mask = initial->shape().WithType(ElementType::kPred);
  Instruction* everywhere = body.Add(Opcode::kBroadcast, mask, {is_first}, BroadcastAttrs{});
  const std::vector<Instruction*> users(loop.parameter->users().begin(),
                                        loop.parameter->users().end());
  for (Instruction* part : users) {
    if (part->tuple_index() != k) continue;
    const std::vector<Instruction*> readers(part->users().begin(), part->users().end());
    Instruction* filled = body.Add(Opcode::kSelect, initial->shape(), {everywhere, value, part});
    for (Instruction* reader : readers) part->ReplaceUseIn(reader, filled);
  }
}

// Leaves the initial value of such parts to the first iteration, which is told by the counter.
bool FillInBody(WhileState loop) {
  const std::optional<LoopCount> count = CountLoop(loop);
  const std::vector<int64_t> parts = PartsToFill(loop);
  if (!count || count->trips < 1 || count->step == 0 || parts.empty()) return false;
  Computation& outer = *loop.loop->parent();
  const std::string name = loop.loop->name();
  const std::vector<Instruction*> first = loop.Widen({loop.Initial(count->index)});
  loop.loop->set_name(name);
  const Shape scalar = RowMajor(ElementType::kPred, {});
  Instruction* counter = loop.body->Add(Opcode::kGetTupleElement, first[0]->shape(),
                                        {loop.parameter}, GetTupleElementAttrs{count->index});
  Instruction* is_first = loop.body->Add(Opcode::kCompare, scalar, {counter, first[0]},
                                         CompareAttrs{ComparisonDirection::kEq});
  Instruction* start = loop.loop->operand(0);
  for (const int64_t k : parts) {
    Instruction* initial = start->operand(k);
    FillAtFirst(loop, k, is_first, initial);
    CustomCallAttrs call;
    call.target = "AllocateBuffer";
    start->SetOperand(k, outer.Add(Opcode::kCustomCall, initial->shape(), {}, std::move(call)));
    outer.RemoveIfDead(initial);
  }
  return true;
}

absl::StatusOr<bool> RunFusible(Module& module) {
  ASSIGN_OR_RETURN(bool changed, Sink(module, IsFusible));
  const std::vector<int> callers = CountCallers(module);
  for (Computation* c : module.ComputationsPostOrder())
    for (Instruction* i : c->Instructions())
      if (const std::optional<WhileState> loop = WhileState::Of(i);
          loop && loop->IsOnlyCaller(callers))
        changed |= FillInBody(*loop);
  return changed;
}

}  // namespace

// while-loop-fusible-sinking. The same for iotas and broadcasts of constants and iotas. Where a
// part starts as a broadcast of a constant and changes, and the loop counts to a limit, the part
// starts as any memory (AllocateBuffer), and the first iteration takes the constant: nothing is
// filled before the loop.
std::unique_ptr<Pass> CreateWhileLoopFusibleSinking() {
  return MakeModulePass("while-loop-fusible-sinking", RunFusible);
}

// Matches parts of a loop's tuple that start as constants and that the body passes on unchanged;
// their readers in the body and the condition read a copy of the constant instead. Bodies and
// conditions with other callers are copied first. The parts stay in the tuple. Cost: linear.
std::unique_ptr<Pass> CreateWhileLoopConstantSinking() {
  return MakeModulePass("while-loop-constant-sinking", SinkConstants);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
