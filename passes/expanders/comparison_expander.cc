// comparison-expander: expands total-order comparisons of floats into integer comparisons.
// A comparison of floats with type=TOTALORDER becomes one of integers: the bits of a negative
// float, all but the sign flipped, are ordered as totalOrder wants. Types without -0 are flipped to
// one more, and their NaN, which has the bits of -0, stays before all numbers; f8e8m0fnu, which has
// no sign, is ordered by its bits. Exact. Cost: linear. The ends of the integers are written for
// each comparison whether it needs them or not, as in XLA.
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

// Arrays of the ends of an integer type and of 0.
struct Ends {
  Instruction *zero, *least, *largest;
};

// Integers in the order that totalOrder gives the floats.
Instruction* Ordered(Instruction* x, const Shape& bits, const Ends& ends, Rewriter& r) {
  const auto compare = [&](Instruction* a, Instruction* b, ComparisonDirection direction) {
    return r.Add(Opcode::kCompare, bits.WithType(ElementType::kPred), {a, b},
                 CompareAttrs{direction});
  };
  Instruction* raw = r.Add(Opcode::kBitcastConvert, bits, {x});
  Instruction* flipped = nullptr;
  if (HasNoMinusZero(x->shape().type)) {
    flipped = r.Add(Opcode::kSubtract, bits, {ends.least, raw});
    Instruction* is_nan = compare(raw, ends.least, ComparisonDirection::kEq);
    flipped = r.Add(Opcode::kSelect, bits, {is_nan, ends.least, flipped});
  } else {
    flipped = r.Add(Opcode::kXor, bits, {ends.largest, raw});
  }
  Instruction* negative = compare(raw, ends.zero, ComparisonDirection::kLt);
  return r.Add(Opcode::kSelect, bits, {negative, flipped, raw});
}

absl::StatusOr<Instruction*> ExpandCompare(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kCompare ||
      i->attr<CompareAttrs>().type != ComparisonType::kTotalOrder)
    return nullptr;
  const Shape& shape = i->operand(0)->shape();
  const int width = BitWidth(shape.type);
  if (!IsFloat(shape.type) || width < 8) return nullptr;
  Instruction *lhs = nullptr, *rhs = nullptr;
  if (shape.type == ElementType::kF8E8M0FNU) {
    const Shape bits = shape.WithType(ElementType::kU8);
    lhs = r.Add(Opcode::kBitcastConvert, bits, {i->operand(0)});
    rhs = r.Add(Opcode::kBitcastConvert, bits, {i->operand(1)});
  } else {
    const Shape bits = shape.WithType(SignedOfWidth(width));
    const auto largest = static_cast<int64_t>(~uint64_t{0} >> (65 - width));
    Ends ends;
    ends.zero = Fill(bits, 0, r);
    ends.least = Fill(bits, -largest - 1, r);
    ends.largest = Fill(bits, largest, r);
    lhs = Ordered(i->operand(0), bits, ends, r);
    rhs = Ordered(i->operand(1), bits, ends, r);
  }
  return r.Add(Opcode::kCompare, i->shape(), {lhs, rhs},
               CompareAttrs{i->attr<CompareAttrs>().direction});
}

}  // namespace

std::unique_ptr<Pass> CreateComparisonExpander() {
  return MakeExpander("comparison-expander", ExpandCompare, {.everywhere = true});
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
