// Rules of negation and absolute value, exact in every type.
#include "passes/simplify/facts.h"
#include "passes/simplify/rule.h"

namespace hlokit {
namespace {

// a + -b is a - b.
Instruction* AddNegated(Instruction* i, Rewriter& r) {
  for (int k : {1, 0})
    if (Is(i->operand(k), Opcode::kNegate))
      return r.Add(Opcode::kSubtract, i->shape(), {i->operand(1 - k), i->operand(k)->operand(0)});
  return nullptr;
}

// a - -b is a + b.
Instruction* SubNegated(Instruction* i, Rewriter& r) {
  if (!Is(i->operand(1), Opcode::kNegate)) return nullptr;
  return r.Add(Opcode::kAdd, i->shape(), {i->operand(0), i->operand(1)->operand(0)});
}

// 0 - a is -a; of floats only -0 - a, as 0 - 0 is 0.
Instruction* SubFromZero(Instruction* i, Rewriter& r) {
  if (IsComplex(i->shape().type)) return nullptr;
  if (!IsSplat(i->operand(0), IsFloat(i->shape().type) ? -0.0 : 0)) return nullptr;
  return r.Add(Opcode::kNegate, i->shape(), {i->operand(1)});
}

// -a * -b is a * b, -a / -b is a / b; not where the least integer has no negative.
Instruction* NegatedBoth(Instruction* i, Rewriter& r) {
  if (Is(i, Opcode::kDivide) && !IsFloat(i->shape().type)) return nullptr;
  if (!Is(i->operand(0), Opcode::kNegate) || !Is(i->operand(1), Opcode::kNegate)) return nullptr;
  return r.Clone(i, i->shape(), {i->operand(0)->operand(0), i->operand(1)->operand(0)});
}

Instruction* MulMinusOne(Instruction* i, Rewriter& r) {
  if (IsComplex(i->shape().type) || IsUnsigned(i->shape().type)) return nullptr;
  const int k = OperandThat(i, [](const Instruction* x) { return IsSplat(x, -1); });
  return k < 0 ? nullptr : r.Add(Opcode::kNegate, i->shape(), {i->operand(1 - k)});
}

// -(a - b) is b - a, of integers: of floats a - a is 0 and its negative is -0.
Instruction* NegateDifference(Instruction* i, Rewriter& r) {
  const Instruction* x = i->operand(0);
  if (!Is(x, Opcode::kSubtract) || !Integral(i) || x->users().size() != 1) return nullptr;
  return r.Add(Opcode::kSubtract, i->shape(), {x->operand(1), x->operand(0)});
}

Instruction* AbsNegated(Instruction* i, Rewriter& r) {
  if (!Is(i->operand(0), Opcode::kNegate)) return nullptr;
  return r.Add(Opcode::kAbs, i->shape(), {i->operand(0)->operand(0)});
}

// No less than 0, or NaN.
bool IsNonNegative(const Instruction* x) {
  while (Is(x, Opcode::kBroadcast) || Is(x, Opcode::kReshape) || Is(x, Opcode::kTranspose))
    x = x->operand(0);
  switch (x->opcode()) {
    case Opcode::kExponential:
    case Opcode::kLogistic:
      return !IsComplex(x->shape().type);
    case Opcode::kMaximum:
      return OperandThat(x, [](const Instruction* y) { return IsSplat(y, 0) || IsSplat(y, 1); }) >=
             0;
    default:
      return IsUnsigned(x->shape().type);
  }
}

Instruction* AbsOfNonNegative(Instruction* i, Rewriter&) {
  return i->shape().type == i->operand(0)->shape().type && IsNonNegative(i->operand(0))
             ? i->operand(0)
             : nullptr;
}

// Even functions do not see a sign.
Instruction* EvenOfNegated(Instruction* i, Rewriter& r) {
  if (!Is(i->operand(0), Opcode::kNegate) || IsComplex(i->shape().type)) return nullptr;
  return r.Clone(i, i->shape(), {i->operand(0)->operand(0)});
}

// What rounds to integers leaves converted integers alone.
Instruction* RoundOfInteger(Instruction* i, Rewriter&) {
  Instruction* x = i->operand(0);
  const bool whole = Is(x, Opcode::kConvert) && !IsFloat(x->operand(0)->shape().type) &&
                     !IsComplex(x->operand(0)->shape().type);
  return whole ? x : nullptr;
}

constexpr Rule kSignRules[] = {
    {"add-negated", Opcode::kAdd, AddNegated},
    {"sub-negated", Opcode::kSubtract, SubNegated},
    {"sub-from-zero", Opcode::kSubtract, SubFromZero},
    {"mul-negated-both", Opcode::kMultiply, NegatedBoth},
    {"div-negated-both", Opcode::kDivide, NegatedBoth},
    {"mul-minus-one", Opcode::kMultiply, MulMinusOne},
    {"negate-difference", Opcode::kNegate, NegateDifference},
    {"abs-negated", Opcode::kAbs, AbsNegated},
    {"abs-of-nonnegative", Opcode::kAbs, AbsOfNonNegative},
    {"cos-negated", Opcode::kCosine, EvenOfNegated},
    {"floor-of-integer", Opcode::kFloor, RoundOfInteger},
    {"ceil-of-integer", Opcode::kCeil, RoundOfInteger},
    {"round-afz-of-integer", Opcode::kRoundNearestAfz, RoundOfInteger},
    {"round-even-of-integer", Opcode::kRoundNearestEven, RoundOfInteger},
};

}  // namespace

absl::Span<const Rule> SignRules() { return kSignRules; }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
