// Which computations are one opcode, and which reductions round to a narrow float at each step.
//   add { a = bf16[] parameter(0)  b = bf16[] parameter(1)  ROOT s = bf16[] add(a, b) }   kAdd
//   with a and b converted to f32 and the sum converted back: kAdd too
// XLA:CPU sums a reduction of bf16 that is longer than 32 by blocks of 32, each rounded at every
// step (RoundedBlocks), and scans by blocks of 16; where the initial value is the identity both
// platforms follow it.
#include "ops/evaluate/reducer.h"

#include <algorithm>
#include <limits>

#include "ops/evaluate/tried_reducer.h"
#include "support/status.h"
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

bool IsArithmetic(Opcode opcode) { return opcode == Opcode::kAdd || opcode == Opcode::kMultiply; }

bool IsKnown(const Instruction& init) { return init.IsConstant() && init.literal() != nullptr; }

// Of an integer or pred, modulo its width.
bool HasBits(const Literal& scalar, uint64_t wanted) {
  const int bits = IsPred(scalar.type()) ? 1 : BitWidth(scalar.type());
  const uint64_t mask = ~uint64_t{0} >> (64 - bits);
  return ((static_cast<uint64_t>(scalar.GetInt(0)) ^ wanted) & mask) == 0;
}

// The bits of an integer type's least or greatest value; greater ones than its width has may be
// set.
uint64_t EndBits(ElementType type, bool low) {
  if (!IsSigned(type)) return low ? 0 : ~uint64_t{0};
  const uint64_t sign = uint64_t{1} << (BitWidth(type) - 1);
  return low ? sign : ~sign;
}

// Looks at the start last: what computations of several operations do with it takes time to find.
bool ReducesInBlocks(const Instruction& reduction, const Shape& from, int64_t block) {
  if (reduction.operand_count() != 2 || from.HasDynamicDims()) return false;
  if (std::none_of(from.dims.begin(), from.dims.end(), [&](int64_t d) { return d > block; }))
    return false;
  const Instruction& start = *reduction.operand(1);
  if (const std::optional<Opcode> opcode = SimpleReducer(*reduction.to_apply()))
    return RoundsSteps(*opcode, from.type) && IsKnown(start) &&
           IsIdentityElement(*start.literal(), *opcode);
  return RoundsSteps(reduction) && IsKnown(start) && start.shape().type == from.type &&
         ActsAsIdentity(*start.literal(), *reduction.to_apply());
}

}  // namespace

bool IsCombining(Opcode opcode) {
  return HasTrait(opcode, kCommutative) && opcode != Opcode::kMulhi;
}

// Types without infinities are short: all their values are looked at.
double EndOf(ElementType type, bool low) {
  if (FormatOf(type).has_infinity) return (low ? -1 : 1) * std::numeric_limits<double>::infinity();
  CHECK(BitWidth(type) <= 8);
  double end = FloatFromBits(type, 0);
  for (uint64_t bits = 1; bits < uint64_t{1} << BitWidth(type); ++bits) {
    const double value = FloatFromBits(type, bits);
    if (low ? value < end : value > end) end = value;  // no NaN is either
  }
  return end;
}

bool IsIdentityElement(const Literal& scalar, Opcode opcode) {
  if (!IsCombining(opcode)) return false;
  const ElementType type = scalar.type();
  const bool ends = IsChoice(opcode);
  const bool low = opcode == Opcode::kMaximum;
  const int one = opcode == Opcode::kMultiply ? 1 : 0;
  if (IsComplex(type)) return !ends && IsArithmetic(opcode) && scalar.GetComplex(0) == 1. * one;
  if (IsFloat(type)) {
    if (ends) return scalar.GetDouble(0) == EndOf(type, low);
    return IsArithmetic(opcode) && scalar.GetDouble(0) == one;
  }
  if (ends) return HasBits(scalar, EndBits(type, low));
  return HasBits(scalar, opcode == Opcode::kAnd ? ~uint64_t{0} : static_cast<uint64_t>(one));
}

std::optional<Opcode> SimpleReducer(const Computation& computation) {
  const Instruction& root = *Converted(computation.root(), /*back=*/true);
  if (computation.parameter_count() != 2 || root.operand_count() != 2) return std::nullopt;
  if (!IsCombining(root.opcode())) return std::nullopt;
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
