// Elementwise formulas as C++ expressions: each operator is an instruction.
#pragma once

#include <limits>

#include "stablehlo/convert/converter_internal.h"

namespace hlokit {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kPi = 3.14159265358979323846;

// A value of one shape in a body; numbers beside it are splats of that shape.
class Formula {
 public:
  Formula(BodyConverter& body, Instruction* value) : body_(&body), value_(value) {}

  Instruction* value() const { return value_; }
  const Shape& shape() const { return value_->shape(); }
  Formula Number(double number) const { return {*body_, body_->Splat(number, shape())}; }
  Formula Apply(Opcode opcode) const { return {*body_, body_->Add(opcode, {value_})}; }
  Formula Apply(Opcode opcode, Formula other) const {
    return {*body_, Simplified(*body_, body_->Add(opcode, {value_, other.value_}))};
  }
  Formula Compare(ComparisonDirection direction, Formula other) const {
    return {*body_, body_->Add(Opcode::kCompare, shape().WithType(ElementType::kPred),
                               {value_, other.value_}, CompareAttrs{direction})};
  }
  // This one is the predicate.
  Formula Select(Formula yes, Formula no) const {
    return {*body_, body_->Add(Opcode::kSelect, shape().WithType(yes.shape().type),
                               {value_, yes.value_, no.value_})};
  }
  Formula IsFinite() const {
    return {*body_, body_->Add(Opcode::kIsFinite, shape().WithType(ElementType::kPred), {value_})};
  }
  Formula To(ElementType type) const {
    if (shape().type == type) return *this;
    return {*body_, body_->Add(Opcode::kConvert, shape().WithType(type), {value_})};
  }
  Formula BitcastTo(ElementType type) const {
    return {*body_, body_->Add(Opcode::kBitcastConvert, shape().WithType(type), {value_})};
  }
  // Parts of a complex value, and the complex value of this real part and `imaginary`.
  Formula RealPart() const { return Part(Opcode::kReal); }
  Formula ImaginaryPart() const { return Part(Opcode::kImag); }
  Formula ComplexWith(Formula imaginary, const Shape& whole) const {
    return {*body_, body_->Add(Opcode::kComplex, whole, {value_, imaginary.value_})};
  }

 private:
  Formula Part(Opcode opcode) const {
    return {*body_,
            Simplified(*body_, body_->Add(opcode, shape().WithType(RealComponent(shape().type)),
                                          {value_}))};
  }

  BodyConverter* body_;
  Instruction* value_;
};

#define HLOKIT_FORMULA_OPERATOR(sign, opcode)                                               \
  inline Formula operator sign(Formula a, Formula b) { return a.Apply(Opcode::opcode, b); } \
  inline Formula operator sign(Formula a, double b) { return a sign a.Number(b); }          \
  inline Formula operator sign(double a, Formula b) { return b.Number(a) sign b; }
HLOKIT_FORMULA_OPERATOR(+, kAdd)
HLOKIT_FORMULA_OPERATOR(-, kSubtract)
HLOKIT_FORMULA_OPERATOR(*, kMultiply)
HLOKIT_FORMULA_OPERATOR(/, kDivide)
#undef HLOKIT_FORMULA_OPERATOR
inline Formula operator-(Formula a) { return a.Apply(Opcode::kNegate); }

#define HLOKIT_FORMULA_COMPARE(sign, direction)          \
  inline Formula operator sign(Formula a, Formula b) {   \
    return a.Compare(ComparisonDirection::direction, b); \
  }                                                      \
  inline Formula operator sign(Formula a, double b) { return a sign a.Number(b); }
HLOKIT_FORMULA_COMPARE(<, kLt)
HLOKIT_FORMULA_COMPARE(<=, kLe)
HLOKIT_FORMULA_COMPARE(>, kGt)
HLOKIT_FORMULA_COMPARE(>=, kGe)
HLOKIT_FORMULA_COMPARE(==, kEq)
#undef HLOKIT_FORMULA_COMPARE

inline Formula Abs(Formula x) { return x.Apply(Opcode::kAbs); }
inline Formula Floor(Formula x) { return x.Apply(Opcode::kFloor); }
inline Formula Exp(Formula x) { return x.Apply(Opcode::kExponential); }
inline Formula Log(Formula x) { return x.Apply(Opcode::kLog); }
inline Formula Log1p(Formula x) { return x.Apply(Opcode::kLogPlusOne); }
inline Formula Sqrt(Formula x) { return x.Apply(Opcode::kSqrt); }
inline Formula ExpMinus1(Formula x) { return x.Apply(Opcode::kExponentialMinusOne); }
inline Formula Not(Formula x) { return x.Apply(Opcode::kNot); }
inline Formula And(Formula a, Formula b) { return a.Apply(Opcode::kAnd, b); }
inline Formula Or(Formula a, Formula b) { return a.Apply(Opcode::kOr, b); }
inline Formula Max(Formula a, Formula b) { return a.Apply(Opcode::kMaximum, b); }
inline Formula Min(Formula a, Formula b) { return a.Apply(Opcode::kMinimum, b); }
inline Formula Atan2(Formula y, Formula x) { return y.Apply(Opcode::kAtan2, x); }
inline Formula Sine(Formula x) { return x.Apply(Opcode::kSine); }
inline Formula Cosine(Formula x) { return x.Apply(Opcode::kCosine); }

// The error of x + y, which was rounded to `sum`. Source: Knuth's TwoSum.
inline Formula SumError(Formula x, Formula y, Formula sum) {
  const Formula part = sum - x;
  const Formula kept = sum - part;
  return (x - kept) + (y - part);
}

// The upper half of the digits of x. Source: Dekker. Limit: |x| below 2^996 (f64) or 2^115 (f32).
inline Formula UpperHalf(Formula x) {
  const Formula scaled = x * (x.shape().type == ElementType::kF64 ? 134217729.0 : 4097.0);
  return scaled + (x - scaled);
}

// Functions of complex numbers by real arithmetic (complex_functions.cc).
Formula ComplexExponential(Formula x);
Formula ComplexLog(Formula x);
Formula ComplexLogPlusOne(Formula x);
Formula ComplexSqrt(Formula x);
// sqrt(a^2 + b^2) of a and b >= 0, without overflow of the squares.
Formula Hypotenuse(Formula a, Formula b);
// The inverse hyperbolic tangent (arctangent.cc).
Formula ComplexAtanh(Formula x);

// The one operand of an operation of one array and one result; else an error.
absl::StatusOr<Formula> OnlyFormula(BodyConverter& body, const MlirOperation& op);

// log|gamma(x)|; below 1/2 by reflection.
Formula LogGamma(Formula x);
// The derivative of LogGamma; NaN at the poles.
Formula Digamma(Formula x);

// c[0] x^(n-1) + ... + c[n-1], by Horner's scheme.
inline Formula Polynomial(Formula x, absl::Span<const double> c) {
  Formula sum = x.Number(c[0]);
  for (size_t i = 1; i < c.size(); ++i) sum = sum * x + c[i];
  return sum;
}

// Of complex numbers XLA's conversion has formulas for some; null for the others.
inline Formula (*ComplexFormulaOf(Opcode opcode))(Formula) {
  switch (opcode) {
    case Opcode::kExponential:
      return &ComplexExponential;
    case Opcode::kLog:
      return &ComplexLog;
    case Opcode::kLogPlusOne:
      return &ComplexLogPlusOne;
    case Opcode::kSqrt:
      return &ComplexSqrt;
    default:
      return nullptr;
  }
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
