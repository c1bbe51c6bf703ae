// Tuples of loops, and their trip counts.
#include "passes/while_state_internal.h"

namespace hlokit {
namespace {

bool IsPart(const Instruction* i, const Instruction* tuple, int64_t k) {
  return i->opcode() == Opcode::kGetTupleElement && i->operand(0) == tuple && i->tuple_index() == k;
}

Instruction* Part(Instruction* tuple, int64_t k) {
  return tuple->parent()->Add(Opcode::kGetTupleElement, tuple->shape().elements[k], {tuple},
                              GetTupleElementAttrs{k});
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
  if (state.root->opcode() != Opcode::kTuple || !loop->control_predecessors().empty() ||
      !loop->control_successors().empty())
    return std::nullopt;
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

  condition->parameter(0)->set_shape(wide);
  parameter->set_shape(wide);
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
  std::vector<Instruction*> parts;
  for (int64_t k = 0; k < old; ++k) parts.push_back(Part(made, k));
  loop->ReplaceAllUsesWith(outer.Add(Opcode::kTuple, narrow, parts));
  outer.Remove(loop);
  loop = made;
  return inside;
}

std::optional<int64_t> TripCount(const WhileState& loop) {
  const Instruction* test = loop.condition->root();
  if (test->opcode() != Opcode::kCompare) return std::nullopt;
  const Instruction* counter = test->operand(0);
  const std::optional<int64_t> limit = Number(test->operand(1));
  if (!limit || counter->opcode() != Opcode::kGetTupleElement ||
      !counter->operand(0)->IsParameter())
    return std::nullopt;
  const int64_t k = counter->tuple_index();
  const Literal* start = loop.InitialConstant(k);
  const Instruction* next = loop.root->operand(k);
  if (start == nullptr || next->opcode() != Opcode::kAdd ||
      !IsPart(next->operand(0), loop.parameter, k))
    return std::nullopt;
  const std::optional<int64_t> step = Number(next->operand(1));
  if (!step || *step <= 0) return std::nullopt;
  const ComparisonDirection how = test->attr<CompareAttrs>().direction;
  if (how != ComparisonDirection::kLt && how != ComparisonDirection::kLe) return std::nullopt;
  const int64_t distance = *limit - start->GetInt(0) + (how == ComparisonDirection::kLe ? 1 : 0);
  return distance <= 0 ? 0 : (distance + *step - 1) / *step;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
