// Rules of arithmetic and logic. Each must give the same bits for all inputs, so several hold for
// integers alone:
//   x + 0 -> x          floats: only x + -0.0, since -0.0 + 0.0 is 0.0
//   x - x -> 0          integers: inf - inf is NaN
//   x * 0 -> 0          integers: NaN * 0 is NaN, -1.0 * 0.0 is -0.0
//   x / 4 -> x * 0.25   exact: a power of two whose inverse is normal
#include <cmath>
#include <limits>

#include "passes/simplify/facts.h"
#include "passes/simplify/rule.h"

namespace hlokit {
namespace {

bool Bits(const Instruction* i) { return IsInteger(i->shape().type) || IsPred(i->shape().type); }

Instruction* AddZero(Instruction* i, Rewriter&) {
  const double zero = IsFloat(i->shape().type) ? -0.0 : 0;  // -0 + 0 is 0
  if (IsComplex(i->shape().type)) return nullptr;
  if (IsSplat(i->operand(1), zero)) return i->operand(0);
  return IsSplat(i->operand(0), zero) ? i->operand(1) : nullptr;
}

Instruction* SubZero(Instruction* i, Rewriter&) {
  return IsSplat(i->operand(1), 0) ? i->operand(0) : nullptr;
}

Instruction* SubSelf(Instruction* i, Rewriter& r) {
  return Integral(i) && i->operand(0) == i->operand(1) ? r.Splat(i->shape(), 0) : nullptr;
}

Instruction* MulOne(Instruction* i, Rewriter&) {
  if (IsComplex(i->shape().type)) return nullptr;
  if (IsSplat(i->operand(1), 1)) return i->operand(0);
  return IsSplat(i->operand(0), 1) ? i->operand(1) : nullptr;
}

Instruction* MulZero(Instruction* i, Rewriter& r) {
  if (!Bits(i)) return nullptr;
  return IsSplat(i->operand(0), 0) || IsSplat(i->operand(1), 0) ? r.Splat(i->shape(), 0) : nullptr;
}

Instruction* DivOne(Instruction* i, Rewriter&) {
  return !IsComplex(i->shape().type) && IsSplat(i->operand(1), 1) ? i->operand(0) : nullptr;
}

// Division by a power of two is multiplication by its inverse, bit for bit.
Instruction* DivPowerOfTwo(Instruction* i, Rewriter& r) {
  const ElementType type = i->shape().type;
  if (type != ElementType::kF32 && type != ElementType::kF64 && type != ElementType::kBF16)
    return nullptr;
  const Literal* by = SplatValue(i->operand(1));
  if (by == nullptr) return nullptr;
  int exponent = 0;
  const double value = by->GetDouble(0);
  if (std::fabs(std::frexp(value, &exponent)) != 0.5 || std::abs(exponent) > 100) return nullptr;
  Literal inverse(Shape::Scalar(type));
  inverse.SetDouble(0, 1 / value);
  Instruction* factor = r.Constant(std::move(inverse));
  if (!i->shape().IsScalar()) factor = r.Broadcast(factor, i->shape(), {});
  return r.Add(Opcode::kMultiply, i->shape(), {i->operand(0), factor});
}

Instruction* PowerSmall(Instruction* i, Rewriter& r) {
  if (!IsFloat(i->shape().type)) return nullptr;
  if (IsSplat(i->operand(1), 1)) return i->operand(0);
  if (IsSplat(i->operand(1), 2))
    return r.Add(Opcode::kMultiply, i->shape(), {i->operand(0), i->operand(0)});
  if (IsSplat(i->operand(1), 0)) return r.Splat(i->shape(), 1);
  return nullptr;
}

Instruction* AndTrivial(Instruction* i, Rewriter& r) {
  if (i->operand(0) == i->operand(1)) return i->operand(0);
  for (int k : {0, 1}) {
    if (IsAllOnes(i->operand(k))) return i->operand(1 - k);
    if (IsSplat(i->operand(k), 0)) return r.Splat(i->shape(), 0);
  }
  return nullptr;
}

Instruction* OrTrivial(Instruction* i, Rewriter& r) {
  if (i->operand(0) == i->operand(1)) return i->operand(0);
  for (int k : {0, 1}) {
    if (IsSplat(i->operand(k), 0)) return i->operand(1 - k);
    if (IsAllOnes(i->operand(k))) return r.Splat(i->shape(), IsPred(i->shape().type) ? 1 : -1);
  }
  return nullptr;
}

Instruction* XorTrivial(Instruction* i, Rewriter& r) {
  if (i->operand(0) == i->operand(1)) return r.Splat(i->shape(), 0);
  for (int k : {0, 1})
    if (IsSplat(i->operand(k), 0)) return i->operand(1 - k);
  return nullptr;
}

// f(f(x)) is x.
Instruction* Involution(Instruction* i, Rewriter&) {
  return i->operand(0)->opcode() == i->opcode() ? i->operand(0)->operand(0) : nullptr;
}

// f(f(x)) is f(x).
Instruction* Idempotent(Instruction* i, Rewriter&) {
  return i->operand(0)->opcode() == i->opcode() ? i->operand(0) : nullptr;
}

Instruction* SameOperands(Instruction* i, Rewriter&) {
  return i->operand(0) == i->operand(1) ? i->operand(0) : nullptr;
}

Instruction* ShiftZero(Instruction* i, Rewriter&) {
  return IsSplat(i->operand(1), 0) ? i->operand(0) : nullptr;
}

// x * x is no less than 0: |x * x| is x * x.
Instruction* AbsSquare(Instruction* i, Rewriter&) {
  const Instruction* x = i->operand(0);
  return IsFloat(x->shape().type) && x->opcode() == Opcode::kMultiply &&
                 x->operand(0) == x->operand(1)
             ? i->operand(0)
             : nullptr;
}

constexpr Rule kArithmeticRules[] = {
    {"add-zero", Opcode::kAdd, AddZero},
    {"sub-zero", Opcode::kSubtract, SubZero},
    {"sub-self", Opcode::kSubtract, SubSelf},
    {"mul-one", Opcode::kMultiply, MulOne},
    {"mul-zero", Opcode::kMultiply, MulZero},
    {"div-one", Opcode::kDivide, DivOne},
    {"div-power-of-two", Opcode::kDivide, DivPowerOfTwo},
    {"power-small", Opcode::kPower, PowerSmall},
    {"and-trivial", Opcode::kAnd, AndTrivial},
    {"or-trivial", Opcode::kOr, OrTrivial},
    {"xor-trivial", Opcode::kXor, XorTrivial},
    {"not-not", Opcode::kNot, Involution},
    {"negate-negate", Opcode::kNegate, Involution},
    {"abs-abs", Opcode::kAbs, Idempotent},
    {"abs-square", Opcode::kAbs, AbsSquare},
    {"floor-floor", Opcode::kFloor, Idempotent},
    {"ceil-ceil", Opcode::kCeil, Idempotent},
    {"sign-sign", Opcode::kSign, Idempotent},
    {"round-afz-round", Opcode::kRoundNearestAfz, Idempotent},
    {"round-even-round", Opcode::kRoundNearestEven, Idempotent},
    {"max-self", Opcode::kMaximum, SameOperands},
    {"min-self", Opcode::kMinimum, SameOperands},
    {"shift-left-zero", Opcode::kShiftLeft, ShiftZero},
    {"shift-right-zero", Opcode::kShiftRightLogical, ShiftZero},
    {"shift-arithmetic-zero", Opcode::kShiftRightArithmetic, ShiftZero},
};

}  // namespace

absl::Span<const Rule> ArithmeticRules() { return kArithmeticRules; }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
