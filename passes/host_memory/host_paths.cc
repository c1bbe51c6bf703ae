// Steps through tuples, calls, loops, conditionals and asynchronous calls, forwards and backwards.
//   x -> tuple(.., x) at 1 -> while at 1 -> the body's parameter at 1 -> get-tuple-element 1 -> x'
// One step for each operand that reads the array, and one for each root that hands it to callers; a
// walk over them visits a place once. Linear in the uses.
#include "passes/host_memory/host_paths.h"

#include <algorithm>

#include "passes/rewrite/memory_spaces.h"

namespace hlokit {
namespace {

ShapeIndex Tail(const ShapeIndex& index) { return ShapeIndex(index.begin() + 1, index.end()); }

ShapeIndex Within(int64_t k, const ShapeIndex& index) {
  ShapeIndex whole = {k};
  whole.insert(whole.end(), index.begin(), index.end());
  return whole;
}

// Whether operand `k` of the caller is what the parameter stands for.
bool IsArgument(const Instruction* caller, int64_t k, const Instruction* parameter) {
  if (caller->opcode() != Opcode::kConditional) return k == parameter->parameter_number();
  return k > 0 && caller->called(k - 1) == parameter->parent();
}

bool GivesOperandBack(const Instruction* call, int64_t operand) {
  if (IsUnaryCallOf(call, kMoveToHost) || IsUnaryCallOf(call, kMoveToDevice)) return true;
  const auto& aliases = call->attr<CustomCallAttrs>().output_to_operand_aliasing;
  return std::any_of(aliases.begin(), aliases.end(),
                     [&](const auto& alias) { return alias.operand == operand; });
}

void AddSteps(Instruction* user, int64_t k, const ShapeIndex& index, std::vector<PathStep>& steps) {
  const auto add = [&](Instruction* to, ShapeIndex at) {
    steps.push_back({user, k, {to, std::move(at)}});
  };
  switch (user->opcode()) {
    case Opcode::kTuple:
      return add(user, Within(k, index));
    case Opcode::kGetTupleElement:
      if (!index.empty() && user->tuple_index() == index[0]) add(user, Tail(index));
      return;
    case Opcode::kCall:
    case Opcode::kAsyncStart:
      return add(user->to_apply()->parameter(k), index);
    case Opcode::kWhile:
      add(user->called(1)->parameter(0), index);
      return add(user->called(0)->parameter(0), index);
    case Opcode::kConditional:
      if (k == 0) return add(user, index);
      return add(user->called(k - 1)->parameter(0), index);
    case Opcode::kCustomCall:
      if (GivesOperandBack(user, k)) add(user, index);
      return;
    default:
      return add(user, index);
  }
}

}  // namespace

std::vector<PathStep> StepsFrom(const ValuePlace& place) {
  std::vector<PathStep> steps;
  Instruction* i = place.instruction;
  if (i->IsRoot())
    for (Instruction* caller : i->parent()->Callers()) {
      const bool condition = caller->opcode() == Opcode::kWhile && caller->called(0) == i->parent();
      if (!condition) steps.push_back({nullptr, 0, {caller, place.index}});
    }
  for (Instruction* user : i->users())
    for (int64_t k = 0; k < user->operand_count(); ++k)
      if (user->operand(k) == i) AddSteps(user, k, place.index, steps);
  return steps;
}

std::vector<PathStep> StepsTo(const ValuePlace& place) {
  Instruction* i = place.instruction;
  std::vector<PathStep> steps;
  const auto add = [&](Instruction* user, int64_t k, ShapeIndex at) {
    steps.push_back({user, k, {user->operand(k), std::move(at)}});
  };
  switch (i->opcode()) {
    case Opcode::kGetTupleElement:
      add(i, 0, Within(i->tuple_index(), place.index));
      break;
    case Opcode::kTuple:
      if (!place.index.empty()) add(i, place.index[0], Tail(place.index));
      break;
    case Opcode::kBitcast:
    case Opcode::kOptimizationBarrier:
    case Opcode::kDynamicUpdateSlice:
      add(i, 0, place.index);
      break;
    case Opcode::kWhile:
      add(i, 0, place.index);
      steps.push_back({nullptr, 0, {i->called(1)->root(), place.index}});
      break;
    case Opcode::kCall:
    case Opcode::kConditional:
      for (Computation* called : i->called())
        steps.push_back({nullptr, 0, {called->root(), place.index}});
      break;
    case Opcode::kParameter:
      for (Instruction* caller : i->parent()->Callers())
        for (int64_t k = 0; k < caller->operand_count(); ++k)
          if (IsArgument(caller, k, i)) add(caller, k, place.index);
      break;
    default:
      break;
  }
  return steps;
}

bool HoldsOnly(const Instruction* i) {
  switch (i->opcode()) {
    case Opcode::kGetTupleElement:
    case Opcode::kBitcast:
    case Opcode::kTuple:
    case Opcode::kCall:
    case Opcode::kWhile:
    case Opcode::kConditional:
    case Opcode::kParameter:
    case Opcode::kOptimizationBarrier:
    case Opcode::kAsyncStart:
    case Opcode::kAsyncDone:
    case Opcode::kCustomCall:
      return true;
    default:
      return false;
  }
}

Shape* ArrayAt(const ValuePlace& place) {
  if (SubShape(place.instruction->shape(), place.index) == nullptr) return nullptr;
  Shape* shape = &place.instruction->mutable_shape();
  for (const int64_t k : place.index) shape = &shape->elements[k];
  return shape->IsArray() && shape->has_layout ? shape : nullptr;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
