// comparison-expander: expands total-order comparisons of floats into integer comparisons.
// A comparison of floats with type=TOTALORDER becomes one of integers: the bits of a negative
// float, all but the sign flipped, are ordered as totalOrder wants. Exact. Cost: linear.
//   -NaN < -inf < -1 < -0 < 0 < 1 < inf < NaN
#include "passes/framework/pass.h"
#include "passes/rewrite/expander.h"

namespace hlokit {
namespace {

// The one NaN of these types has the bits of -0, and stands before all numbers.
bool HasNoMinusZero(ElementType type) {
  return type == ElementType::kF8E4M3FNUZ || type == ElementType::kF8E5M2FNUZ ||
         type == ElementType::kF8E4M3B11FNUZ;
}

ElementType SignedOfWidth(int bits) {
  switch (bits) {
    case 8:
      return ElementType::kS8;
    case 16:
      return ElementType::kS16;
    case 32:
      return ElementType::kS32;
    default:
      return ElementType::kS64;
  }
}

Instruction* Fill(const Shape& shape, int64_t value, Rewriter& r) {
  Literal scalar(Shape::Scalar(shape.type));
  scalar.SetInt(0, value);
  return r.Broadcast(r.Constant(std::move(scalar)), shape, {});
}

// Integers in the order that totalOrder gives the floats.
Instruction* Ordered(Instruction* x, const Shape& bits, Instruction* zero, Instruction* largest,
                     Rewriter& r) {
  Instruction* raw = r.Add(Opcode::kBitcastConvert, bits, {x});
  Instruction* negative = r.Add(Opcode::kCompare, bits.WithType(ElementType::kPred), {raw, zero},
                                CompareAttrs{ComparisonDirection::kLt});
  Instruction* flipped = r.Add(Opcode::kXor, bits, {largest, raw});
  return r.Add(Opcode::kSelect, bits, {negative, flipped, raw});
}

absl::StatusOr<Instruction*> ExpandCompare(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kCompare ||
      i->attr<CompareAttrs>().type != ComparisonType::kTotalOrder)
    return nullptr;
  const Shape& shape = i->operand(0)->shape();
  const int width = BitWidth(shape.type);
  if (!IsFloat(shape.type) || width < 8 || shape.type == ElementType::kF8E8M0FNU ||
      HasNoMinusZero(shape.type))
    return nullptr;
  const Shape bits = shape.WithType(SignedOfWidth(width));
  Instruction* zero = Fill(bits, 0, r);
  Instruction* largest = Fill(bits, static_cast<int64_t>(~uint64_t{0} >> (65 - width)), r);
  Instruction* lhs = Ordered(i->operand(0), bits, zero, largest, r);
  Instruction* rhs =
      i->operand(1) == i->operand(0) ? lhs : Ordered(i->operand(1), bits, zero, largest, r);
  return r.Add(Opcode::kCompare, i->shape(), {lhs, rhs},
               CompareAttrs{i->attr<CompareAttrs>().direction});
}

}  // namespace

std::unique_ptr<Pass> CreateComparisonExpander() {
  return MakeExpander("comparison-expander", ExpandCompare, {.everywhere = true});
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
