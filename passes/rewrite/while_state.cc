// The state of while loops, and their trip counts.
//
// A loop's state is a tuple; part k is invariant if the body returns get-tuple-element(p, k) as its
// k-th result. Trip counts are found for the form that JAX writes:
//   i starts as a constant, the body adds a constant, the condition compares with a constant
//   (i = 0; i < 10; i += 3) runs 4 times: (10 - 0 + 3 - 1) / 3
// Loops whose counter would wrap around before the limit have no known count.
#include "passes/rewrite/while_state.h"
#include "passes/rewrite/control_edges.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "ops/dim_lists.h"

namespace hlokit {
namespace {

bool IsPart(const Instruction* i, const Instruction* tuple, int64_t k) {
  return i->opcode() == Opcode::kGetTupleElement && i->operand(0) == tuple && i->tuple_index() == k;
}

Instruction* Part(Instruction* tuple, int64_t k) {
  return tuple->parent()->Add(Opcode::kGetTupleElement, tuple->shape().elements[k], {tuple},
                              GetTupleElementAttrs{k});
}

// The sharding of a tuple says what cuts the new parts, too; it goes where one of them has none.
void WidenSharding(Instruction* tuple, absl::Span<Instruction* const> more) {
  if (tuple->sharding() == nullptr || tuple->sharding()->kind != Sharding::Kind::kTuple) return;
  Sharding wide = *tuple->sharding();
  for (const Instruction* part : more) {
    if (part->sharding() == nullptr || !part->shape().IsArray()) {
      tuple->mutable_extras().sharding.reset();
      return;
    }
    wide.elements.push_back(*part->sharding());
  }
  tuple->mutable_extras().sharding = std::make_unique<Sharding>(std::move(wide));
}

// The number that a scalar integer constant holds.
std::optional<int64_t> Number(const Instruction* i) {
  if (!i->IsConstant() || !i->shape().IsScalar() || !IsInteger(i->shape().type) ||
      i->literal() == nullptr)
    return std::nullopt;
  const int64_t value = i->literal()->GetInt(0);
  if (value < -(int64_t{1} << 31) || value >= (int64_t{1} << 31)) return std::nullopt;
  return value;
}

}  // namespace

std::optional<WhileState> WhileState::Of(Instruction* loop) {
  if (loop->opcode() != Opcode::kWhile || !loop->shape().IsTuple()) return std::nullopt;
  WhileState state{loop, loop->called(0), loop->called(1), loop->called(1)->parameter(0),
                   loop->called(1)->root()};
  if (state.root->opcode() != Opcode::kTuple || HasControlEdges(*loop)) return std::nullopt;
  return state;
}

bool WhileState::IsInvariant(int64_t k) const { return IsPart(root->operand(k), parameter, k); }

Instruction* WhileState::Initial(int64_t k) const {
  Instruction* start = loop->operand(0);
  return start->opcode() == Opcode::kTuple ? start->operand(k) : Part(start, k);
}

const Literal* WhileState::InitialConstant(int64_t k) const {
  const Instruction* start = loop->operand(0);
  if (start->opcode() != Opcode::kTuple || !Number(start->operand(k))) return nullptr;
  return start->operand(k)->literal();
}

// Adds parts to the state that the body passes through unchanged, so that values from outside are
// available inside. Users of the loop keep reading the old parts.
std::vector<Instruction*> WhileState::Widen(const std::vector<Instruction*>& more) {
  const auto old = static_cast<int64_t>(loop->shape().elements.size());
  const Shape narrow = loop->shape();
  Shape wide = narrow;
  for (const Instruction* part : more) wide.elements.push_back(part->shape());

  Computation& outer = *loop->parent();
  std::vector<Instruction*> start;
  for (int64_t k = 0; k < old; ++k) start.push_back(Initial(k));
  start.insert(start.end(), more.begin(), more.end());
  Instruction* init = outer.Add(Opcode::kTuple, wide, start);

  for (Instruction* state : {condition->parameter(0), parameter}) {
    state->set_shape(wide);
    WidenSharding(state, more);
  }
  std::vector<Instruction*> inside;
  std::vector<Instruction*> next(root->operands().begin(), root->operands().end());
  for (size_t k = 0; k < more.size(); ++k)
    inside.push_back(Part(parameter, old + static_cast<int64_t>(k)));
  next.insert(next.end(), inside.begin(), inside.end());
  Instruction* old_root = root;
  root = body->Add(Opcode::kTuple, wide, next);
  old_root->ReplaceAllUsesWith(root);
  body->set_root(root);
  if (old_root->users().empty()) body->Remove(old_root);

  Instruction* made = outer.Add(loop->CloneWith(wide, {init}));
  WidenSharding(made, more);
  const std::vector<Instruction*> users(loop->users().begin(), loop->users().end());
  for (Instruction* user : users)
    if (user->opcode() == Opcode::kGetTupleElement) user->SetOperand(0, made);
  if (!loop->users().empty() || loop->IsRoot()) {
    std::vector<Instruction*> parts;
    for (int64_t k = 0; k < old; ++k) parts.push_back(Part(made, k));
    loop->ReplaceAllUsesWith(outer.Add(Opcode::kTuple, narrow, parts));
  }
  Instruction* old_init = loop->operand(0);
  outer.Remove(loop);
  outer.RemoveIfDead(old_init);
  loop = made;
  return inside;
}

std::optional<DimVector> PartsRead(Instruction* root, const Instruction* parameter) {
  DimVector parts;
  absl::flat_hash_set<const Instruction*> seen;
  std::vector<const Instruction*> work = {root};
  while (!work.empty()) {
    const Instruction* i = work.back();
    work.pop_back();
    if (!seen.insert(i).second || i->IsConstant()) continue;
    if (i->opcode() == Opcode::kGetTupleElement && i->operand(0) == parameter) {
      if (!Contains(parts, i->tuple_index())) parts.push_back(i->tuple_index());
      continue;
    }
    if (i->IsParameter() || i->HasSideEffect() || i->opcode() == Opcode::kRng) return std::nullopt;
    work.insert(work.end(), i->operands().begin(), i->operands().end());
  }
  return parts;
}

namespace {

// What `next` adds to part k of the loop's tuple.
std::optional<int64_t> StepOf(const Instruction* next, const Instruction* parameter, int64_t k) {
  const bool adds = next->opcode() == Opcode::kAdd;
  if (!adds && next->opcode() != Opcode::kSubtract) return std::nullopt;
  if (IsPart(next->operand(0), parameter, k)) {
    const std::optional<int64_t> by = Number(next->operand(1));
    return by && !adds ? std::optional<int64_t>(-*by) : by;
  }
  return adds && IsPart(next->operand(1), parameter, k) ? Number(next->operand(0)) : std::nullopt;
}

// How often `i += step` happens while `i DIRECTION limit`.
std::optional<int64_t> Trips(int64_t init, int64_t limit, int64_t step, ComparisonDirection how) {
  using enum ComparisonDirection;
  if (how == kGt || how == kGe) return Trips(-init, -limit, -step, how == kGt ? kLt : kLe);
  if (how == kEq) return init == limit ? std::optional<int64_t>() : 0;
  if (how == kNe) {
    const int64_t distance = limit - init;
    if (step == 0 || distance % step != 0 || distance / step < 0) return std::nullopt;
    return distance / step;
  }
  const int64_t distance = limit - init + (how == kLe ? 1 : 0);
  if (distance <= 0) return 0;
  if (step <= 0) return std::nullopt;
  return (distance + step - 1) / step;
}

ComparisonDirection Mirrored(ComparisonDirection how) {
  using enum ComparisonDirection;
  switch (how) {
    case kLt:
      return kGt;
    case kGt:
      return kLt;
    case kLe:
      return kGe;
    case kGe:
      return kLe;
    default:
      return how;
  }
}

bool Holds(ElementType type, int64_t value) {
  const int bits = std::min(BitWidth(type), 63);
  if (IsUnsigned(type)) return value >= 0 && (bits >= 63 || value < (int64_t{1} << bits));
  return bits >= 63 || (value >= -(int64_t{1} << (bits - 1)) && value < (int64_t{1} << (bits - 1)));
}

}  // namespace

std::optional<int64_t> CounterIndex(const WhileState& loop) {
  const auto tested = PartsRead(loop.condition->root(), loop.condition->parameter(0));
  if (!tested || tested->size() != 1) return std::nullopt;
  const int64_t k = (*tested)[0];
  const auto stepped = PartsRead(loop.root->operand(k), loop.parameter);
  const bool own = stepped && stepped->size() == 1 && (*stepped)[0] == k;
  return own && loop.loop->shape().elements[k].IsScalar() ? std::optional<int64_t>(k)
                                                          : std::nullopt;
}

std::optional<LoopCount> CountLoop(const WhileState& loop) {
  const Instruction* test = loop.condition->root();
  if (test->opcode() != Opcode::kCompare) return std::nullopt;
  const Instruction* counter = test->operand(0);
  ComparisonDirection how = test->attr<CompareAttrs>().direction;
  std::optional<int64_t> limit = Number(test->operand(1));
  if (!limit) {
    limit = Number(counter);
    counter = test->operand(1);
    how = Mirrored(how);
  }
  if (!limit || counter->opcode() != Opcode::kGetTupleElement ||
      counter->operand(0) != loop.condition->parameter(0))
    return std::nullopt;
  const int64_t k = counter->tuple_index();
  const Literal* start = loop.InitialConstant(k);
  const std::optional<int64_t> step = StepOf(loop.root->operand(k), loop.parameter, k);
  if (start == nullptr || !step) return std::nullopt;
  const std::optional<int64_t> trips = Trips(start->GetInt(0), *limit, *step, how);
  if (!trips || !Holds(start->type(), start->GetInt(0) + *trips * *step)) return std::nullopt;
  return LoopCount{k, start->GetInt(0), *step, *trips};
}

std::optional<int64_t> TripCount(const WhileState& loop) {
  const std::optional<LoopCount> counted = CountLoop(loop);
  return counted ? std::optional<int64_t>(counted->trips) : std::nullopt;
}

namespace {

Instruction* CopyInto(Computation& c, const Instruction* i) {
  std::vector<Instruction*> operands;
  for (const Instruction* x : i->operands())
    operands.push_back(c.Add(x->CloneWith(x->shape(), {})));
  return c.Add(i->CloneWith(i->shape(), operands));
}

}  // namespace

bool IsKnownConstant(const Instruction* i) { return i->IsConstant() && i->literal() != nullptr; }
bool IsKnownScalar(const Instruction* i) { return IsKnownConstant(i) && i->shape().IsScalar(); }

// Replaces reads of an invariant part by copies of its initial value inside body and condition.
bool SinkInitial(const WhileState& loop, bool (*may_sink)(const Instruction*), ReadsToSink reads) {
  bool changed = false;
  const Instruction* start = loop.loop->operand(0);
  if (start->opcode() != Opcode::kTuple) return false;
  for (Instruction* parameter : {loop.parameter, loop.condition->parameter(0)}) {
    const std::vector<Instruction*> users(parameter->users().begin(), parameter->users().end());
    for (Instruction* user : users) {
      if (user->opcode() != Opcode::kGetTupleElement || !loop.IsInvariant(user->tuple_index()))
        continue;
      if (reads == ReadsToSink::kPassedOn && parameter == loop.parameter &&
          user != loop.root->operand(user->tuple_index()))
        continue;
      const Instruction* initial = start->operand(user->tuple_index());
      if (!may_sink(initial)) continue;
      const std::vector<Instruction*> readers(user->users().begin(), user->users().end());
      Instruction* copy = nullptr;
      for (Instruction* reader : readers) {
        if (reader == loop.root) continue;
        if (copy == nullptr) copy = CopyInto(*parameter->parent(), initial);
        user->ReplaceUseIn(reader, copy);
        changed = true;
      }
    }
  }
  return changed;
}

std::vector<int> CountCallers(const Module& module) {
  std::vector<int> callers(module.computation_id_bound(), 0);
  for (const Computation* c : module.Computations())
    for (const Instruction* i : c->Instructions())
      for (const Computation* called : i->called()) ++callers[called->id()];
  return callers;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
