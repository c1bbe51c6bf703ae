// Recipes that work element by element on real numbers, integers and truth values. Functions with
// poles or discontinuities get operands tamed to where they are smooth; steps such as floor and
// comparisons get exact operands only, since a rounding error before them could change the result
// by a whole unit.
#include <cmath>

#include "generator/scope_internal.h"

namespace hlokit {
namespace {

// A function of one float, and where it is smooth.
struct Function {
  Opcode opcode;
  double low, high;
  double (*exact)(double);
};
constexpr Function kFunctions[] = {
    {Opcode::kAcos, -0.9, 0.9, [](double x) { return std::acos(x); }},
    {Opcode::kAcosh, 1.25, 8, [](double x) { return std::acosh(x); }},
    {Opcode::kAsin, -0.9, 0.9, [](double x) { return std::asin(x); }},
    {Opcode::kAsinh, -8, 8, [](double x) { return std::asinh(x); }},
    {Opcode::kAtanh, -0.9, 0.9, [](double x) { return std::atanh(x); }},
    {Opcode::kCbrt, 0.125, 8, [](double x) { return std::cbrt(x); }},
    {Opcode::kCosine, -8, 8, [](double x) { return std::cos(x); }},
    {Opcode::kCosh, -4, 4, [](double x) { return std::cosh(x); }},
    {Opcode::kErf, -4, 4, [](double x) { return std::erf(x); }},
    {Opcode::kExponential, -4, 4, [](double x) { return std::exp(x); }},
    {Opcode::kExponentialMinusOne, -4, 4, [](double x) { return std::expm1(x); }},
    {Opcode::kLog, 0.125, 8, [](double x) { return std::log(x); }},
    {Opcode::kLogPlusOne, -0.75, 8, [](double x) { return std::log1p(x); }},
    {Opcode::kLogistic, -8, 8, [](double x) { return 1 / (1 + std::exp(-x)); }},
    {Opcode::kRsqrt, 0.125, 8, [](double x) { return 1 / std::sqrt(x); }},
    {Opcode::kSine, -8, 8, [](double x) { return std::sin(x); }},
    {Opcode::kSinh, -4, 4, [](double x) { return std::sinh(x); }},
    {Opcode::kSqrt, 0.125, 8, [](double x) { return std::sqrt(x); }},
    {Opcode::kTan, -1.25, 1.25, [](double x) { return std::tan(x); }},
    {Opcode::kTanh, -8, 8, [](double x) { return std::tanh(x); }},
};

// A value of the same type and dimensions, from those that exist where possible.
RandomValue SameDims(GeneratedCode& s, const RandomValue& other) {
  return s.Get(other.type(), other.shape().dims);
}

Bounds Either(const Bounds& a, const Bounds& b) { return Join(a, b); }

}  // namespace

void UnaryFloat(GeneratedCode& s) {
  const Function& f = s.random().OneOf(kFunctions);
  const ElementType type = s.FloatType();
  const RandomValue x = s.GetTame(type, s.AnyDims(), f.low, f.high);
  // The bounds of a narrow type are rounded.
  Bounds in = x.bounds;
  in.low = std::max(in.low, f.low) - 0.02;
  in.high = std::min(in.high, f.high) + 0.02;
  s.Keep(s.Make(f.opcode, {x.instruction}), SmoothBounds(type, f.exact, in));
}

// Functions that are exact or have jumps; those with jumps take exact operands.
void UnaryExactFloat(GeneratedCode& s) {
  constexpr Opcode kOpcodes[] = {Opcode::kAbs,    Opcode::kNegate,           Opcode::kFloor,
                                 Opcode::kCeil,   Opcode::kRoundNearestAfz,  Opcode::kSign,
                                 Opcode::kNegate, Opcode::kRoundNearestEven, Opcode::kIsFinite};
  const Opcode opcode = s.random().OneOf(kOpcodes);
  const bool smooth = opcode == Opcode::kAbs || opcode == Opcode::kNegate;
  const RandomValue x = s.GetAny(s.FloatType(), /*exact=*/!smooth);
  const double most = opcode == Opcode::kSign ? 1 : x.bounds.Most() + (smooth ? 0 : 1);
  s.Keep(s.Make(opcode, {x.instruction}),
         {opcode == Opcode::kAbs ? 0 : -most, most, x.bounds.error});
}

void UnaryInteger(GeneratedCode& s) {
  constexpr Opcode kOpcodes[] = {
      Opcode::kAbs,  Opcode::kNegate,          Opcode::kNot,
      Opcode::kSign, Opcode::kPopulationCount, Opcode::kCountLeadingZeros};
  const Opcode opcode = s.random().OneOf(kOpcodes);
  const ElementType type = s.IntegerType();
  if (!IsSigned(type) && (opcode == Opcode::kAbs || opcode == Opcode::kSign)) return;
  s.Keep(s.Make(opcode, {s.GetAny(type).instruction}));
}

void BinaryFloat(GeneratedCode& s) {
  constexpr Opcode kOpcodes[] = {Opcode::kAdd,    Opcode::kSubtract, Opcode::kMultiply,
                                 Opcode::kDivide, Opcode::kMaximum,  Opcode::kMinimum,
                                 Opcode::kPower,  Opcode::kAtan2,    Opcode::kRemainder,
                                 Opcode::kAdd,    Opcode::kMultiply};
  const Opcode opcode = s.random().OneOf(kOpcodes);
  const ElementType type = s.FloatType();
  const bool exact = opcode == Opcode::kRemainder;
  RandomValue x = s.GetAny(type, exact);
  RandomValue y = exact ? s.Get(type, x.shape().dims, true) : SameDims(s, x);
  Bounds bounds;
  switch (opcode) {
    case Opcode::kAdd:
      bounds = AddBounds(type, x.bounds, y.bounds);
      break;
    case Opcode::kSubtract:
      bounds = AddBounds(type, x.bounds, {-y.bounds.high, -y.bounds.low, y.bounds.error});
      break;
    case Opcode::kMultiply:
      bounds = MultiplyBounds(type, x.bounds, y.bounds);
      break;
    case Opcode::kDivide:
      y = s.Tame(y, 0.5, 4);
      bounds = DivideBounds(type, x.bounds, {0.5, 4, y.bounds.error});
      break;
    case Opcode::kPower: {
      x = s.Tame(x, 0.25, 4);
      y = s.Tame(y, -2, 2);
      // y x^(y-1) <= 128, ln(x) x^y <= 23
      bounds = {0, 16, 128 * x.bounds.error + 23 * y.bounds.error + RoundingError(type, 16)};
      break;
    }
    case Opcode::kAtan2:
      y = s.Tame(y, 0.5, 4);
      bounds = {-2, 2, 2 * (x.bounds.error + y.bounds.error) + RoundingError(type, 2)};
      break;
    case Opcode::kRemainder: {  // by zero it is NaN
      y = s.Tame(y, 0.5, 4);
      bounds = {-4, 4, 0};
      break;
    }
    default:
      bounds = Either(x.bounds, y.bounds);
  }
  s.Keep(s.Make(opcode, {x.instruction, y.instruction}), bounds);
}

void BinaryInteger(GeneratedCode& s) {
  const RandomValue x = s.GetAny(s.IntegerType());
  s.Keep(
      s.Make(s.random().OneOf(kIntegerBinaryOpcodes), {x.instruction, SameDims(s, x).instruction}));
}

// Arithmetic on pred is logic: add is or, multiply is and.
void PredLogic(GeneratedCode& s) {
  constexpr Opcode kOpcodes[] = {Opcode::kAnd,     Opcode::kOr,      Opcode::kXor,
                                 Opcode::kAdd,     Opcode::kNot,     Opcode::kMaximum,
                                 Opcode::kMinimum, Opcode::kMultiply};
  const Opcode opcode = s.random().OneOf(kOpcodes);
  const RandomValue x = s.GetAny(ElementType::kPred);
  if (opcode == Opcode::kNot) return s.Keep(s.Make(opcode, {x.instruction}));
  s.Keep(s.Make(opcode, {x.instruction, SameDims(s, x).instruction}));
}

// Comparisons take exact operands, since an error could change the answer.
void CompareValues(GeneratedCode& s) {
  const ElementType type = s.AnyType();
  if (type == ElementType::kF8E8M0FNU) return;
  const RandomValue x = s.GetAny(type, /*exact=*/true);
  const RandomValue y = s.Get(type, x.shape().dims, /*exact=*/true);
  CompareAttrs attributes;
  using D = ComparisonDirection;
  attributes.direction = IsComplex(type)
                             ? s.random().OneOf({D::kEq, D::kNe})
                             : s.random().OneOf({D::kEq, D::kNe, D::kGe, D::kGt, D::kLe, D::kLt});
  if (IsFloat(type) && s.random().Chance(0.2)) attributes.type = ComparisonType::kTotalOrder;
  s.Keep(s.Make(Opcode::kCompare, {x.instruction, y.instruction}, attributes));
}

void SelectValues(GeneratedCode& s) {
  const RandomValue x = s.Any();
  const RandomValue y = SameDims(s, x);
  const DimVector dims = s.random().Chance(0.2) ? DimVector() : x.shape().dims;
  const RandomValue which = s.Get(ElementType::kPred, dims);
  s.Keep(s.Make(Opcode::kSelect, {which.instruction, x.instruction, y.instruction}),
         Either(x.bounds, y.bounds));
}

void ClampValues(GeneratedCode& s) {
  const RandomValue x = s.Any();
  if (IsComplex(x.type()) || x.type() == ElementType::kF8E8M0FNU) return;
  const DimVector dims = s.random().Chance(0.5) ? DimVector() : x.shape().dims;
  const RandomValue low = s.Get(x.type(), dims);
  const RandomValue high = s.Get(x.type(), dims);
  s.Keep(s.Make(Opcode::kClamp, {low.instruction, x.instruction, high.instruction}),
         Either(x.bounds, Either(low.bounds, high.bounds)));
}

void ConvertValue(GeneratedCode& s) {
  RandomValue x = s.Any();
  const ElementType to = s.AnyType();
  const Shape shape = x.shape().WithoutLayout().WithType(to);
  if (IsComplex(x.type()) && !IsComplex(to)) return;
  if (!IsFloat(x.type()) && !IsComplex(x.type())) {
    if (!IsFloat(to) && !IsComplex(to))
      return s.Keep(s.Make(Opcode::kConvert, {x.instruction}, &shape));
    const bool positive = to == ElementType::kF8E8M0FNU;
    if (positive && IsPred(x.type())) return;
    Instruction* from =
        IsPred(x.type()) ? x.instruction : s.TameInteger(x.instruction, positive ? 1 : -4, 4);
    const Bounds bounds{-4, 4, 0};
    return s.Keep(s.Make(Opcode::kConvert, {from}, &shape), bounds);
  }
  const bool rounds = !IsComplex(to);
  if (rounds && !x.bounds.Exact()) x = s.Get(x.type(), x.shape().dims, /*exact=*/true);
  if (to == ElementType::kF8E8M0FNU) {
    if (IsComplex(x.type())) return;
    x = s.Tame(x, 0.25, 4);
  }
  Bounds bounds = x.bounds;
  bounds.low -= EpsilonOf(ElementType::kF4E2M1FN) * x.bounds.Most();
  bounds.high += EpsilonOf(ElementType::kF4E2M1FN) * x.bounds.Most();
  if (!x.bounds.Exact()) bounds.error += RoundingError(to, bounds.Most());
  s.Keep(s.Make(Opcode::kConvert, {x.instruction}, &shape), bounds);
}

void BitcastConvertValue(GeneratedCode& s) {
  // To integers only: the bits of integers may be any float.
  const RandomValue from = s.Any();
  if (IsPred(from.type()) || IsComplex(from.type())) return;
  const RandomValue x = s.Get(from.type(), from.shape().dims, /*exact=*/true);
  const int bits = BitWidth(x.type());
  DimVector dims = x.shape().dims;
  const ElementType to = s.IntegerType();
  if (BitWidth(to) > bits) {
    if (dims.empty() || dims.back() != BitWidth(to) / bits) return;
    dims.pop_back();
  } else if (BitWidth(to) < bits) {
    dims.push_back(bits / BitWidth(to));
  }
  const Shape shape = Shape::Array(to, dims);
  s.Keep(s.Make(Opcode::kBitcastConvert, {x.instruction}, &shape));
}

void ReducePrecisionValue(GeneratedCode& s) {
  const RandomValue x = s.GetAny(s.FloatType(), /*exact=*/true);
  if (BitWidth(x.type()) < 16) return;
  const ReducePrecisionAttrs attributes{s.random().Between(3, 11), s.random().Between(0, 23)};
  s.Keep(s.Make(Opcode::kReducePrecision, {s.Tame(x, -2, 2).instruction}, attributes), {-4, 4, 0});
}

void StochasticConvertValue(GeneratedCode& s) {
  const RandomValue x = s.GetAny(s.random().OneOf({ElementType::kF32, ElementType::kF16}), true);
  const bool wide = x.type() == ElementType::kF32;
  const RandomValue bits = s.Get(wide ? ElementType::kU32 : ElementType::kU16, x.shape().dims);
  const Shape shape = x.shape().WithoutLayout().WithType(
      s.random().OneOf({ElementType::kS8, ElementType::kS16, ElementType::kS32}));
  s.Keep(
      s.Make(Opcode::kStochasticConvert, {s.Tame(x, -2, 2).instruction, bits.instruction}, &shape));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
