// Reducers of one opcode, and what rounds at each step.
#include "ops/evaluate/reducer.h"

#include <algorithm>

#include "ops/evaluate/tried_reducer.h"
#include "types/float_convert.h"

namespace hlokit {
namespace {

constexpr int64_t kBlock = 32, kScanBlock = 16;

bool IsChoice(Opcode opcode) { return opcode == Opcode::kMaximum || opcode == Opcode::kMinimum; }

// What a conversion from a narrow float to f32, or with `back` the other way, converts.
const Instruction* Converted(const Instruction* i, bool back) {
  if (i->opcode() != Opcode::kConvert) return i;
  const ElementType from = i->operand(0)->shape().type, to = i->shape().type;
  const ElementType narrow = back ? to : from, wide = back ? from : to;
  return wide == ElementType::kF32 && IsNarrowFloat(narrow) ? i->operand(0) : i;
}

// The constant behind an initial value, where it leaves all numbers as they are.
bool IsIdentityElement(const Instruction& init, Opcode opcode) {
  if (init.opcode() != Opcode::kConstant || init.literal() == nullptr) return false;
  const double value = init.literal()->GetDouble(0);
  return opcode == Opcode::kAdd ? value == 0 : opcode == Opcode::kMultiply && value == 1;
}

// Looks at the start last: what computations of several operations do with it takes time to find.
bool ReducesInBlocks(const Instruction& reduction, const Shape& from, int64_t block) {
  if (reduction.operand_count() != 2 || from.HasDynamicDims()) return false;
  if (std::none_of(from.dims.begin(), from.dims.end(), [&](int64_t d) { return d > block; }))
    return false;
  if (const std::optional<Opcode> opcode = SimpleReducer(*reduction.to_apply()))
    return RoundsSteps(*opcode, from.type) && IsIdentityElement(*reduction.operand(1), *opcode);
  const Instruction& start = *reduction.operand(1);
  return RoundsSteps(reduction) && start.IsConstant() && start.literal() != nullptr &&
         start.shape().type == from.type && ActsAsIdentity(*start.literal(), *reduction.to_apply());
}

}  // namespace

std::optional<Opcode> SimpleReducer(const Computation& computation) {
  const Instruction& root = *Converted(computation.root(), /*back=*/true);
  if (computation.parameter_count() != 2 || root.operand_count() != 2) return std::nullopt;
  if (!HasTrait(root.opcode(), kCommutative) || root.opcode() == Opcode::kMulhi)
    return std::nullopt;
  const Instruction& a = *Converted(root.operand(0), /*back=*/false);
  const Instruction& b = *Converted(root.operand(1), /*back=*/false);
  const ElementType type = computation.root()->shape().type;
  const bool simple = a.IsParameter() && b.IsParameter() && &a != &b && a.shape().IsScalar() &&
                      b.shape().type == a.shape().type && type == a.shape().type;
  return simple ? std::optional<Opcode>(root.opcode()) : std::nullopt;
}

bool RoundsSteps(Opcode opcode, ElementType type) {
  return IsNarrowFloat(type) && !IsChoice(opcode);
}

bool RoundsSteps(const Instruction& reduction) {
  const std::optional<Opcode> opcode = SimpleReducer(*reduction.to_apply());
  if (opcode.has_value()) return RoundsSteps(*opcode, reduction.to_apply()->root()->shape().type);
  const Shape& shape = reduction.to_apply()->root()->shape();
  if (!shape.IsTuple()) return IsNarrowFloat(shape.type);
  return std::any_of(shape.elements.begin(), shape.elements.end(),
                     [](const Shape& part) { return IsNarrowFloat(part.type); });
}

ElementType CollectiveSumType(ElementType type) {
  if (!IsNarrowFloat(type)) return type;
  const bool is_wide = type == ElementType::kBF16 || type == ElementType::kF8E8M0FNU;
  return is_wide ? ElementType::kF32 : ElementType::kF16;
}

std::optional<int64_t> RoundedScanBlock(const Instruction& reduce_window, const Shape& from) {
  if (!ReducesInBlocks(reduce_window, from, kScanBlock)) return std::nullopt;
  return kScanBlock;
}

std::optional<Window> RoundedBlocks(const Instruction& reduce, const Shape& from) {
  if (!ReducesInBlocks(reduce, from, kBlock)) return std::nullopt;
  Window window(from.rank());
  bool is_long = false;
  for (int64_t d : reduce.attr<DimensionsAttrs>().dimensions) {
    const int64_t size = from.dims[d];
    if (size == 0) return std::nullopt;
    is_long |= size > kBlock;
    WindowDim& dim = window[d];
    dim.size = dim.stride = std::min(size, kBlock);
    const int64_t padding = (dim.size - size % dim.size) % dim.size;
    dim.pad_low = padding / 2;
    dim.pad_high = padding - padding / 2;
  }
  return is_long ? std::optional<Window>(std::move(window)) : std::nullopt;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
