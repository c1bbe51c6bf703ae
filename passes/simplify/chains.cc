// Rules that XLA's algsimp has and the cpu pipeline leaves out: chains of elementwise operations in
// XLA's form, some rounded otherwise.
//   (a * 2) * 4 -> a * (2 * 4)       (1 - a) + 2 -> (1 + 2) - a
//   s / 8 -> by shifts and selects   select(a > b, a, b) of pred -> a | b
//   max(a, b) > a -> b > a           (iota + 5) % 5 -> iota % 5
// Constants stay operations here; constant_folding computes them.
#include <algorithm>
#include <limits>

#include "passes/simplify/facts.h"
#include "passes/simplify/rule.h"

namespace hlokit {

bool NeverNegative(const Instruction* x, int depth) {
  switch (x->opcode()) {
    case Opcode::kIota:
      return BitWidth(x->shape().type) >= 32;
    case Opcode::kAbs:
    case Opcode::kExponential:
    case Opcode::kLogistic:
      return IsFloat(x->shape().type);  // the least integer is its own magnitude
    case Opcode::kConstant:
    case Opcode::kBroadcast: {
      const Literal* value = SplatValue(x);
      if (value == nullptr)
        return x->opcode() == Opcode::kBroadcast && depth > 0 &&
               NeverNegative(x->operand(0), depth - 1);
      if (IsFloat(value->type())) return value->GetDouble(0) >= 0 && !IsSplat(x, -0.0);
      return IsUnsigned(value->type()) || (IsInteger(value->type()) && value->GetInt(0) >= 0);
    }
    case Opcode::kMultiply:
      return x->operand(0) == x->operand(1) && IsFloat(x->shape().type);
    case Opcode::kMaximum:
      return depth > 0 &&
             (NeverNegative(x->operand(0), depth - 1) || NeverNegative(x->operand(1), depth - 1));
    case Opcode::kSelect:
      return depth > 0 && NeverNegative(x->operand(1), depth - 1) &&
             NeverNegative(x->operand(2), depth - 1);
    case Opcode::kReshape:
    case Opcode::kTranspose:
    case Opcode::kSlice:
      return depth > 0 && NeverNegative(x->operand(0), depth - 1);
    default:
      return IsUnsigned(x->shape().type);
  }
}

namespace {

using enum ComparisonDirection;

// A constant, or one spread over an array.
bool IsConstantOrSpread(const Instruction* i) {
  return i->IsConstant() || (Is(i, Opcode::kBroadcast) && i->operand(0)->IsConstant());
}
bool IsNumber(const Instruction* i) {
  return (i->IsConstant() && i->shape().IsScalar()) || SplatValue(i) != nullptr;
}

// op(a, b) of two constants; of two spread scalars the scalars' result is spread.
Instruction* Joined(Opcode op, Instruction* a, Instruction* b, Rewriter& r) {
  if (!IsSpreadScalar(a) || !IsSpreadScalar(b)) return r.Add(op, a->shape(), {a, b});
  Instruction* x = r.Add(op, a->operand(0)->shape(), {a->operand(0), b->operand(0)});
  return r.Broadcast(x, a->shape(), {});
}

// The operand of a sum or product that is a constant: its number, -1 where none or both are.
int ConstantOperand(const Instruction* i) {
  const bool first = IsConstantOrSpread(i->operand(0)), second = IsConstantOrSpread(i->operand(1));
  return first == second ? -1 : first ? 0 : 1;
}

// (a * 2) * 4 is a * (2 * 4), also where a itself is a constant array; (a * 2) * (b * 4) is
// (a * b) * (2 * 4). So with sums of a constant.
Instruction* ConstantsTogether(Instruction* i, Rewriter& r) {
  if (!Float(i)) return nullptr;
  for (int k : {1, 0}) {
    Instruction* outer = i->operand(k);
    const Instruction* inner = i->operand(1 - k);
    if (inner->opcode() != i->opcode() || !IsConstantOrSpread(outer)) continue;
    for (int m : {1, 0}) {
      Instruction* constant = inner->operand(m);
      const bool both = IsNumber(constant) && IsNumber(outer);
      if (both || (IsConstantOrSpread(constant) && !IsConstantOrSpread(inner->operand(1 - m))))
        return r.Add(i->opcode(), i->shape(),
                     {inner->operand(1 - m), Joined(i->opcode(), constant, outer, r)});
    }
  }
  return nullptr;
}

Instruction* ProductOfScaled(Instruction* i, Rewriter& r) {
  const Instruction *a = i->operand(0), *b = i->operand(1);
  if (!Float(i) || !Is(a, Opcode::kMultiply) || !Is(b, Opcode::kMultiply)) return nullptr;
  const int ka = ConstantOperand(a), kb = ConstantOperand(b);
  if (ka < 0 || kb < 0) return nullptr;
  Instruction* product =
      r.Add(Opcode::kMultiply, i->shape(), {a->operand(1 - ka), b->operand(1 - kb)});
  return r.Add(Opcode::kMultiply, i->shape(),
               {product, Joined(Opcode::kMultiply, a->operand(ka), b->operand(kb), r)});
}

// broadcast(s) * (a * broadcast(2)) is a * broadcast(s * 2): one product of scalars.
Instruction* SpreadFactors(Instruction* i, Rewriter& r) {
  if (!Float(i) && !IsInteger(i->shape().type)) return nullptr;
  for (int k : {0, 1}) {
    Instruction* spread = i->operand(k);
    const Instruction* inner = i->operand(1 - k);
    if (!IsSpreadScalar(spread) || !Is(inner, Opcode::kMultiply)) continue;
    for (int m : {1, 0})
      if (IsSpreadScalar(inner->operand(m)) && !IsSpreadScalar(inner->operand(1 - m)) &&
          (SplatValue(inner->operand(m)) != nullptr || SplatValue(spread) != nullptr))
        return r.Add(
            Opcode::kMultiply, i->shape(),
            {inner->operand(1 - m), Joined(Opcode::kMultiply, spread, inner->operand(m), r)});
  }
  return nullptr;
}

// (1 - a) + 2 is (1 + 2) - a.
Instruction* AddToDifference(Instruction* i, Rewriter& r) {
  for (int k : {0, 1}) {
    const Instruction* difference = i->operand(k);
    Instruction* constant = i->operand(1 - k);
    if (!Is(difference, Opcode::kSubtract) || !IsConstantOrSpread(constant) ||
        !IsConstantOrSpread(difference->operand(0)) || IsConstantOrSpread(difference->operand(1)))
      continue;
    Instruction* sum = Joined(Opcode::kAdd, difference->operand(0), constant, r);
    return r.Add(Opcode::kSubtract, i->shape(), {sum, difference->operand(1)});
  }
  return nullptr;
}

// s / 8 of a signed integer: the magnitude is shifted, and its sign put back. The least integer is
// its own magnitude, whose logical shift is right as well.
Instruction* SignedDivideByShift(Instruction* i, Rewriter& r) {
  const std::optional<int64_t> by = IntegerSplat(i->operand(1));
  if (!by || *by <= 1 || (*by & (*by - 1)) != 0 || !IsSigned(i->shape().type) ||
      !IsInteger(i->shape().type))
    return nullptr;
  int64_t bits = 0;
  while ((int64_t{1} << bits) < *by) ++bits;
  Instruction* x = i->operand(0);
  Shape preds = i->shape();
  preds.type = ElementType::kPred;
  CompareAttrs less;
  less.direction = kLt;
  Instruction* negative = r.Add(Opcode::kCompare, preds, {x, r.Splat(i->shape(), 0)}, less);
  Instruction* minus = r.Add(Opcode::kNegate, i->shape(), {x});
  Instruction* magnitude = r.Add(Opcode::kSelect, i->shape(), {negative, minus, x});
  Instruction* quotient =
      r.Add(Opcode::kShiftRightLogical, i->shape(), {magnitude, r.FillInt(i->shape(), bits)});
  Instruction* back = r.Add(Opcode::kNegate, i->shape(), {quotient});
  return r.Add(Opcode::kSelect, i->shape(), {negative, back, quotient});
}

// select(compare(a, b), a, b) of pred: or, and, one of the two.
Instruction* SelectOfComparedPreds(Instruction* i, Rewriter& r) {
  const Instruction* compare = i->operand(0);
  Instruction *a = i->operand(1), *b = i->operand(2);
  if (!IsPred(i->shape().type) || !Is(compare, Opcode::kCompare) || compare->operand(0) != a ||
      compare->operand(1) != b)
    return nullptr;
  switch (compare->attr<CompareAttrs>().direction) {
    case kGt:
    case kGe:
      return r.Add(Opcode::kOr, i->shape(), {a, b});
    case kLt:
    case kLe:
      return r.Add(Opcode::kAnd, i->shape(), {a, b});
    case kEq:
      return b;
    case kNe:
      return a;
  }
  return nullptr;
}

// max(a, b) > a is b > a; a > min(a, b) is a > b. A NaN makes both false.
Instruction* CompareWithBound(Instruction* i, Rewriter& r) {
  const ComparisonDirection how = i->attr<CompareAttrs>().direction;
  if (how != kGt && how != kLt) return nullptr;
  const int big = how == kGt ? 0 : 1;  // the operand that is asked to be greater
  const Instruction* bound = i->operand(big);
  Instruction* other = i->operand(1 - big);
  int from = big;
  if (!Is(bound, Opcode::kMaximum)) {
    bound = i->operand(1 - big);
    other = i->operand(big);
    from = 1 - big;
    if (!Is(bound, Opcode::kMinimum)) return nullptr;
  }
  for (int k : {0, 1}) {
    if (bound->operand(k) != other) continue;
    Instruction* operands[] = {other, other};
    operands[from] = bound->operand(1 - k);
    return r.Clone(i, i->shape(), operands);
  }
  return nullptr;
}

// Nothing unsigned is less than 0, on the left as on the right.
Instruction* UnsignedZeroCompared(Instruction* i, Rewriter& r) {
  if (!IsUnsigned(i->operand(0)->shape().type) || !IsSplat(i->operand(0), 0)) return nullptr;
  const ComparisonDirection how = i->attr<CompareAttrs>().direction;
  return how == kGt || how == kLe ? r.Splat(i->shape(), how == kLe) : nullptr;
}

// x < c of an integer, whichever side c stands on.
struct Limit {
  Instruction* x = nullptr;
  int64_t number = 0;
  bool below = false;  // x < number, else x > number
};

Limit LimitOf(const Instruction* i) {
  if (!Is(i, Opcode::kCompare) || !IsInteger(i->operand(0)->shape().type)) return {};
  const ComparisonDirection how = i->attr<CompareAttrs>().direction;
  if (how != kLt && how != kGt) return {};
  for (int k : {1, 0}) {
    const std::optional<int64_t> number = IntegerSplat(i->operand(k));
    if (number) return {i->operand(1 - k), *number, (how == kLt) == (k == 1)};
  }
  return {};
}

// x < 10 and 100 > x is x < 10.
Instruction* AndOfLimits(Instruction* i, Rewriter&) {
  const Limit a = LimitOf(i->operand(0)), b = LimitOf(i->operand(1));
  if (a.x == nullptr || a.x != b.x || a.below != b.below ||
      (IsUnsigned(a.x->shape().type) && (a.number < 0 || b.number < 0)))
    return nullptr;
  const bool first = a.below ? a.number <= b.number : a.number >= b.number;
  return i->operand(first ? 0 : 1);
}

// (iota + 5) % 5 is iota % 5 where the sum does not overflow.
Instruction* RemainderOfShiftedIota(Instruction* i, Rewriter& r) {
  const std::optional<int64_t> by = IntegerSplat(i->operand(1));
  const Instruction* sum = i->operand(0);
  if (!by || *by <= 0 || !Is(sum, Opcode::kAdd)) return nullptr;
  for (int k : {0, 1}) {
    Instruction* iota = sum->operand(k);
    const std::optional<int64_t> shift = IntegerSplat(sum->operand(1 - k));
    if (!shift || !Is(iota, Opcode::kIota) || *shift < 0 || *shift % *by != 0) continue;
    const int bits = BitWidth(i->shape().type) - (IsSigned(i->shape().type) ? 1 : 0);
    const int64_t greatest = std::numeric_limits<int64_t>::max() >> (bits < 63 ? 63 - bits : 0);
    const int64_t size = iota->shape().dims[iota->attr<IotaAttrs>().iota_dimension];
    if (size > greatest || *shift > greatest - size) continue;
    return r.Add(Opcode::kRemainder, i->shape(), {iota, i->operand(1)});
  }
  return nullptr;
}

// exp(0) is 1.
Instruction* ExpOfZero(Instruction* i, Rewriter& r) {
  return Float(i) && IsSplat(i->operand(0), 0) ? r.Splat(i->shape(), 1) : nullptr;
}

// x xor x' where the two compute the same from the same operands.
Instruction* XorOfTwins(Instruction* i, Rewriter& r) {
  const Instruction *a = i->operand(0), *b = i->operand(1);
  if (a == b || a->operand_count() == 0 || !a->SameAttributes(*b) || a->HasSideEffect() ||
      !a->called().empty() || Is(a, Opcode::kRng) ||
      !std::equal(a->operands().begin(), a->operands().end(), b->operands().begin(),
                  b->operands().end()))
    return nullptr;
  return r.Splat(i->shape(), 0);
}

Instruction* AbsOfNeverNegative(Instruction* i, Rewriter&) {
  return i->shape().type == i->operand(0)->shape().type && NeverNegative(i->operand(0))
             ? i->operand(0)
             : nullptr;
}

// x to the power 1/2 is sqrt(x), to the power -1/2 rsqrt(x), for x >= 0.
Instruction* PowerOfHalf(Instruction* i, Rewriter& r) {
  if (!Float(i) || !NeverNegative(i->operand(0))) return nullptr;
  if (IsSplat(i->operand(1), 0.5)) return r.Add(Opcode::kSqrt, i->shape(), {i->operand(0)});
  if (IsSplat(i->operand(1), -0.5)) return r.Add(Opcode::kRsqrt, i->shape(), {i->operand(0)});
  return nullptr;
}

// rsqrt(power(x, -2)) is x for x >= 0.
Instruction* RsqrtOfPower(Instruction* i, Rewriter&) {
  const Instruction* power = i->operand(0);
  return Float(i) && Is(power, Opcode::kPower) && IsSplat(power->operand(1), -2) &&
                 NeverNegative(power->operand(0))
             ? power->operand(0)
             : nullptr;
}

// cbrt(a) is monotonic: max(cbrt(a), cbrt(b)) is cbrt(max(a, b)).
Instruction* MaxOfCbrt(Instruction* i, Rewriter& r) {
  const Instruction *a = i->operand(0), *b = i->operand(1);
  if (!Is(a, Opcode::kCbrt) || !Is(b, Opcode::kCbrt) || a == b || a->users().size() != 1 ||
      b->users().size() != 1 || !a->SameAttributes(*b))
    return nullptr;
  return r.Clone(a, i->shape(), {r.Add(i->opcode(), i->shape(), {a->operand(0), b->operand(0)})});
}

// min(y, min(x, y)) is min(y, x), which needs the inner one no more; min(min(x, y), y) is the inner
// one itself, as min-repeated says.
Instruction* BoundRepeated(Instruction* i, Rewriter& r) {
  const Instruction* inner = i->operand(1);
  if (inner->opcode() != i->opcode() || inner->operand(1) != i->operand(0)) return nullptr;
  return r.Add(i->opcode(), i->shape(), {i->operand(0), inner->operand(0)});
}

constexpr Rule kChainRules[] = {
    {"mul-scaled", Opcode::kMultiply, ProductOfScaled},
    {"mul-spread-factors", Opcode::kMultiply, SpreadFactors},
    {"mul-constants-together", Opcode::kMultiply, ConstantsTogether},
    {"add-constants-together", Opcode::kAdd, ConstantsTogether},
    {"add-to-difference", Opcode::kAdd, AddToDifference},
    {"div-signed-as-shift", Opcode::kDivide, SignedDivideByShift},
    {"select-compared-preds", Opcode::kSelect, SelectOfComparedPreds},
    {"compare-with-bound", Opcode::kCompare, CompareWithBound},
    {"compare-zero-unsigned", Opcode::kCompare, UnsignedZeroCompared},
    {"and-of-limits", Opcode::kAnd, AndOfLimits},
    {"rem-of-shifted-iota", Opcode::kRemainder, RemainderOfShiftedIota},
    {"exp-of-zero", Opcode::kExponential, ExpOfZero},
    {"xor-of-twins", Opcode::kXor, XorOfTwins},
    {"abs-of-never-negative", Opcode::kAbs, AbsOfNeverNegative},
    {"power-of-half", Opcode::kPower, PowerOfHalf},
    {"rsqrt-of-power", Opcode::kRsqrt, RsqrtOfPower},
    {"max-of-cbrt", Opcode::kMaximum, MaxOfCbrt},
    {"min-of-cbrt", Opcode::kMinimum, MaxOfCbrt},
    {"min-once", Opcode::kMinimum, BoundRepeated},
    {"max-once", Opcode::kMaximum, BoundRepeated},
};

// x + (y - x) is y and the like, of floats only where rounding is ignored.
Instruction* FastAddSubtracted(Instruction* i, Rewriter&) {
  for (int k : {0, 1}) {
    const Instruction* difference = i->operand(k);
    if (Float(i) && Is(difference, Opcode::kSubtract) &&
        difference->operand(1) == i->operand(1 - k))
      return difference->operand(0);
  }
  return nullptr;
}

// x - (x - y) is y.
Instruction* SubDifference(Instruction* i, Rewriter&) {
  const Instruction* difference = i->operand(1);
  return Float(i) && Is(difference, Opcode::kSubtract) && difference->operand(0) == i->operand(0)
             ? difference->operand(1)
             : nullptr;
}

Instruction* FastSubSelf(Instruction* i, Rewriter& r) {
  return Float(i) && i->operand(0) == i->operand(1) ? r.Splat(i->shape(), 0) : nullptr;
}

// sqrt(a * a) is abs(a).
Instruction* SqrtOfSquare(Instruction* i, Rewriter& r) {
  const Instruction* square = i->operand(0);
  if (!Float(i) || !Is(square, Opcode::kMultiply) || square->operand(0) != square->operand(1))
    return nullptr;
  return r.Add(Opcode::kAbs, i->shape(), {square->operand(0)});
}

constexpr Rule kFastMathRules[] = {
    {"fast-add-subtracted", Opcode::kAdd, FastAddSubtracted},
    {"fast-sub-difference", Opcode::kSubtract, SubDifference},
    {"fast-sub-self", Opcode::kSubtract, FastSubSelf},
    {"fast-sqrt-of-square", Opcode::kSqrt, SqrtOfSquare},
};

}  // namespace

absl::Span<const Rule> ChainRules() { return kChainRules; }
absl::Span<const Rule> FastMathRules() { return kFastMathRules; }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
