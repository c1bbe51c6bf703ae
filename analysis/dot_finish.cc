// Dots and convolutions with what finishes their elements: one walk over a fusion's body, operands
// before users, that tells what depends on the dot. Linear.
#include "analysis/dot_finish.h"

#include "absl/container/flat_hash_set.h"
#include "analysis/emittable.h"
#include "ir/computation.h"
#include "ir/op_facts.h"

namespace hlokit {
namespace {

using Set = absl::flat_hash_set<const Instruction*>;

bool IsElementwise(const Instruction& i) {
  return HasTrait(i.opcode(), kElementwise) && i.shape().IsArray() && i.called().empty();
}

bool IsCheap(const Instruction& i) {
  switch (i.opcode()) {
    case Opcode::kParameter:
    case Opcode::kConstant:
    case Opcode::kBroadcast:
    case Opcode::kIota:
      return i.shape().IsArray();
    default:
      return IsElementwise(i);
  }
}

bool IsReshaped(const Instruction& i) {
  return (i.opcode() == Opcode::kReshape || i.opcode() == Opcode::kBitcast) && i.shape().IsArray();
}

enum class Places { kSame, kInOrder };

// The elements of `from` in their order, or with elements beside them.
bool KeepsPlaces(const Instruction& i, const Instruction& from, Places places) {
  if (places == Places::kSame || !IsReshaped(i))
    return IsElementwise(i) && i.shape().dims == from.shape().dims;
  return i.shape().IsRowMajor() && from.shape().IsRowMajor() && i.shape().type == from.shape().type;
}

// Of the elements of `made`, all at their places in arrays of `dims`, or in order.
bool IsMadeOf(const Computation& body, Set made, const DimVector& dims, Places places) {
  const Instruction* const root = body.root();
  const bool several = root->opcode() == Opcode::kTuple;
  for (const Instruction* i : body.PostOrder()) {
    if (made.contains(i) || (several && i == root)) continue;
    bool depends = false;
    for (const Instruction* operand : i->operands()) {
      if (!made.contains(operand)) continue;
      depends = true;
      if (places == Places::kSame && operand->shape().dims != dims) return false;
      if (!KeepsPlaces(*i, *operand, places)) return false;
    }
    if (!depends && !IsCheap(*i) && !(places == Places::kInOrder && IsReshaped(*i))) return false;
    if (depends) made.insert(i);
  }
  if (!several) return made.contains(root);
  for (const Instruction* result : root->operands())
    if (!made.contains(result) || !result->shape().IsArray()) return false;
  return root->operand_count() > 0;
}

// What the parameters of `user` that are `value` are.
Set ParametersOf(const Instruction& user, const Instruction& value) {
  Set made;
  for (int64_t k = 0; k < user.operand_count(); ++k)
    if (user.operand(k) == &value) made.insert(user.to_apply()->parameter(k));
  return made;
}

}  // namespace

bool FinishesElements(const Instruction& user, const Instruction& value) {
  const DimVector& dims = value.shape().dims;
  if (user.opcode() != Opcode::kFusion) return IsElementwise(user) && user.shape().dims == dims;
  return IsMadeOf(*user.to_apply(), ParametersOf(user, value), dims, Places::kSame);
}

bool FinishesInOrder(const Instruction& user, const Instruction& value) {
  if (user.opcode() != Opcode::kFusion) return KeepsPlaces(user, value, Places::kInOrder);
  return IsMadeOf(*user.to_apply(), ParametersOf(user, value), value.shape().dims,
                  Places::kInOrder);
}

const Instruction* FindFinishedElements(const Instruction& fusion) {
  if (fusion.opcode() != Opcode::kFusion) return nullptr;
  const Instruction* dot = nullptr;
  bool one = true;
  fusion.to_apply()->ForEach([&](const Instruction* i) {
    if (i->opcode() != Opcode::kDot && i->opcode() != Opcode::kConvolution) return;
    one &= dot == nullptr;
    dot = i;
  });
  if (dot == nullptr || !one || dot->operand_count() != 2 || !dot->operand(0)->IsParameter() ||
      !dot->operand(1)->IsParameter() || dot == fusion.to_apply()->root())
    return nullptr;
  return IsMadeOf(*fusion.to_apply(), {dot}, dot->shape().dims, Places::kSame) ? dot : nullptr;
}

bool IsOfPlainNumbers(const Instruction& convolution) {
  for (const Shape* shape :
       {&convolution.shape(), &convolution.operand(0)->shape(), &convolution.operand(1)->shape()}) {
    const bool is_number = IsFloat(shape->type) || IsInteger(shape->type);
    if (!is_number || IsSubByte(shape->type) || shape->HasDynamicDims()) return false;
  }
  return true;
}

bool FinishesConvolution(const Instruction& fusion) {
  const Instruction* const product = FindFinishedElements(fusion);
  if (product == nullptr || product->opcode() != Opcode::kConvolution) return false;
  bool all = IsOfPlainNumbers(*product);
  fusion.to_apply()->ForEach(
      [&](const Instruction* part) { all &= part == product || CanEmitElement(*part); });
  return all;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
