// By opcode, and by the shapes that loops can walk: arrays of static size.
#include "analysis/emittable.h"

namespace hlokit {
namespace {

// Whether ir/ops.def names a function of ElementEmitter for the opcode.
bool HasEmitter(Opcode opcode) {
  static constexpr bool kHasEmitter[kOpcodeCount] = {
#define HLO_OP(enumerator, text, arity, attrs, calls, traits, infer, evaluate, emit, ...) \
  absl::string_view(#emit) != "None",
#include "ir/ops.def"
#undef HLO_OP
  };
  return kHasEmitter[static_cast<size_t>(opcode)];
}

bool HasStaticArrays(const Instruction& i) {
  for (const Instruction* operand : i.operands())
    if (!operand->shape().IsArray() || operand->shape().HasDynamicDims()) return false;
  for (const ShapeLeaf& leaf : Leaves(i.shape()))
    if (!leaf.shape->IsArray() || leaf.shape->HasDynamicDims()) return false;
  return true;
}

bool CanEmitFusion(const Instruction& fusion) {
  for (const ShapeLeaf& leaf : Leaves(fusion.shape()))
    if (!leaf.shape->IsArray() || leaf.shape->HasDynamicDims()) return false;
  const Computation& body = *fusion.to_apply();
  const Instruction* root = body.root();
  for (const Instruction* i : body.Instructions()) {
    if (i->IsParameter() && !i->shape().IsArray()) return false;
    if (i == root &&
        (i->opcode() == Opcode::kScatter || i->opcode() == Opcode::kSelectAndScatter)) {
      if (!CanEmitScatter(*i)) return false;
    } else if (i->opcode() == Opcode::kTuple) {
      if (i != root) return false;
    } else if (!CanEmitElement(*i)) {
      return false;
    }
  }
  if (root->opcode() == Opcode::kTuple)
    for (const Instruction* part : root->operands())
      if (!part->shape().IsArray()) return false;
  return true;
}

}  // namespace

bool CanEmitElement(const Instruction& i) {
  switch (i.opcode()) {
    case Opcode::kTuple:
    case Opcode::kGetTupleElement:
    case Opcode::kParameter:
      return true;
    case Opcode::kConstant:
      return i.shape().IsScalar() && i.literal() != nullptr;
    case Opcode::kDot:
      return HasStaticArrays(i) && !IsSubByte(i.shape().type);
    case Opcode::kBitcast:
      return HasStaticArrays(i) && BitWidth(i.shape().type) == BitWidth(i.operand(0)->shape().type);
    case Opcode::kMaximum:
    case Opcode::kMinimum:  // of two types: legalization widens the narrow one
      return HasStaticArrays(i) && i.operand(0)->shape().type == i.operand(1)->shape().type;
    case Opcode::kOptimizationBarrier:
      return i.shape().IsArray();
    case Opcode::kBitcastConvert:
      return HasStaticArrays(i) &&
             (i.shape().type == i.operand(0)->shape().type || !IsComplex(i.shape().type));
    default:
      return HasEmitter(i.opcode()) && HasStaticArrays(i) &&
             (!HasTrait(i.opcode(), kCalls) || CanEmitElements(*i.to_apply()));
  }
}

bool CanEmitElements(const Computation& body) {
  for (const Instruction* i : body.Instructions())
    if (!CanEmitElement(*i)) return false;
  return true;
}

bool CanEmitScatter(const Instruction& s) {
  if (!HasStaticArrays(s)) return false;
  for (const Computation* c : s.called())
    if (!CanEmitElements(*c)) return false;
  return true;
}

bool CanEmitKernels(const Instruction& i) {
  if (i.opcode() == Opcode::kFusion) return CanEmitFusion(i);
  if (i.opcode() == Opcode::kScatter || i.opcode() == Opcode::kSelectAndScatter)
    return CanEmitScatter(i);
  switch (i.opcode()) {
    case Opcode::kTuple:
    case Opcode::kGetTupleElement:
    case Opcode::kParameter:
    case Opcode::kConstant:
      return false;
    default:
      return CanEmitElement(i);
  }
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
