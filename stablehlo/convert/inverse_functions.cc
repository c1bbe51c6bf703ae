// asin, acos, asinh and acosh of chlo, and sinh and cosh, as XLA's conversion writes them.
//
// Real numbers: asin x is 2 atan2(x, 1 + sqrt((1 - x)(1 + x))), which keeps its digits near 1 where
// sqrt(1 - x^2) loses them; asinh and acosh are log1p of what is added to 1, and log(2 |x|) where
// the square would overflow.
// Complex numbers: all four are one pair (real, imaginary) of the absolute values of the parts,
// with the signs put back and the parts exchanged:
//   asin z = atan2(re, real) +- i imaginary       acosh z = imaginary +- i atan2(real, re)
// The pair is by Hull, Fairgrieve and Tang, "Implementing the complex arcsine and arccosine
// functions using exception handling": with r and s the distances from -1 and 1, a = (r + s) / 2
// and every difference that cancels written as a quotient.
// Types narrower than f32 keep HLO's own instruction, which rounds once: in f16 the formulas lose
// half of the digits. sinh and cosh are computed in f32 and rounded once. Cost: 8 to 20
// instructions, 110 of complex numbers.
#include <cmath>
#include <limits>

#include "stablehlo/convert/formula_internal.h"

namespace hlokit {
namespace {

constexpr double kLog2 = 0.69314718055994530942;

double Largest(ElementType type) {
  return type == ElementType::kF64 ? std::numeric_limits<double>::max()
                                   : std::numeric_limits<float>::max();
}

double Smallest(ElementType type) {
  return type == ElementType::kF64 ? std::numeric_limits<double>::min()
                                   : std::numeric_limits<float>::min();
}

// An eighth of the square root of the largest number, rounded as the type has it.
double SafeLargest(ElementType type) {
  if (type == ElementType::kF64) return std::sqrt(Largest(type)) / 8;
  return std::sqrt(std::numeric_limits<float>::max()) / 8;
}

struct ArcParts {
  Formula real, imaginary;
};

// What both parts need of x = |re| and y = |im|.
struct Distances {
  Formula x, y, x_plus, x_minus, to_minus_one, to_one, mean;
};

Distances DistancesOf(Formula x, Formula y) {
  const Formula x_plus = x + 1.0, x_minus = x - 1.0;
  const Formula r = Hypotenuse(Abs(x_plus), y), s = Hypotenuse(Abs(x_minus), y);
  return {x, y, x_plus, x_minus, r, s, (r + s) * 0.5};
}

ArcParts ArcSineOfSizes(Formula x, Formula y) {
  const double safe = SafeLargest(x.shape().type);
  const Distances d = DistancesOf(x, y);
  const Formula y_square = y * y;
  const Formula r_plus = d.to_minus_one + d.x_plus;
  const Formula s_minus = d.to_one - d.x_minus, s_plus = d.to_one + d.x_minus;
  const Formula half_sum = (d.mean + x) * 0.5;
  const Formula inside = Sqrt(half_sum * (y_square / r_plus + s_minus));
  const Formula outside = y * Sqrt(half_sum / r_plus + half_sum / s_plus);
  const Formula real = (Max(x, y) >= safe).Select(y, (x <= 1.0).Select(inside, outside));

  // log(2 |z|) far out: the limit depends on which part is the larger.
  const Formula limit = (x < safe * 1e12).Select(x.Number(safe * 1e-6), x.Number(safe * 1e2));
  const Formula tall = y >= limit;
  const Formula larger = tall.Select(y, x);
  const Formula far = larger >= tall.Select(limit, x.Number(safe));
  const Formula ratio = And(tall, Not(y == kInfinity)).Select(x / y, x.Number(0));
  const Formula far_value = Log(larger) + kLog2 + Log1p(ratio * ratio) * 0.5;

  // mean - 1 without cancellation.
  const double tiny = std::sqrt(Smallest(x.shape().type)) * 4;
  const Formula on_cut = And(y < tiny, x < 1.0);
  const Formula mean_plus = d.mean + 1.0;
  const Formula half_square = y_square * 0.5;
  const Formula by_r = half_square / r_plus;
  const Formula near = (d.mean <= 1.5).Select(by_r + half_square / s_minus, d.mean - 1.0);
  const Formula excess = on_cut.Select(-(d.x_plus * d.x_minus / mean_plus),
                                       (x >= 1.0).Select(by_r + s_plus * 0.5, near));
  const Formula root = Sqrt(excess * mean_plus);
  const Formula value = on_cut.Select(y / root, Log1p(excess + root));
  return {real, far.Select(far_value, value)};
}

Formula Asin(Formula x) {
  if (!IsComplex(x.shape().type)) {
    const Formula root = Sqrt((1.0 - x) * (x + 1.0));
    const Formula half = Atan2(x, root + 1.0);
    return half + half;
  }
  const Formula re = x.RealPart();
  const ArcParts parts = ArcSineOfSizes(Abs(x.RealPart()), Abs(x.ImaginaryPart()));
  const Formula below = x.ImaginaryPart() < 0.0;
  const Formula imaginary = below.Select(-parts.imaginary, parts.imaginary);
  return Atan2(re, parts.real).ComplexWith(imaginary, x.shape());
}

Formula Acos(Formula x) {
  if (!IsComplex(x.shape().type)) return Atan2(Sqrt((1.0 - x) * (x + 1.0)), x);
  const ArcParts parts = ArcSineOfSizes(Abs(x.RealPart()), Abs(x.ImaginaryPart()));
  const Formula real = Atan2(parts.real, x.RealPart());
  const Formula below = x.ImaginaryPart() < 0.0;
  return real.ComplexWith(below.Select(parts.imaginary, -parts.imaginary), x.shape());
}

Formula Asinh(Formula x) {
  if (IsComplex(x.shape().type)) {
    const Formula re = x.RealPart(), im = x.ImaginaryPart();
    const ArcParts parts = ArcSineOfSizes(Abs(-im), Abs(re));
    const Formula real = (re < 0.0).Select(-parts.imaginary, parts.imaginary);
    return real.ComplexWith(Atan2(im, parts.real), x.shape());
  }
  const Formula sign = x.Apply(Opcode::kSign);
  const Formula size = Abs(x);
  const Formula square = size * size;
  const Formula near = Log1p(size + square / (Sqrt(square + 1.0) + 1.0));
  const Formula far = size >= std::sqrt(Largest(x.shape().type));
  return sign * far.Select(Log(size) + kLog2, near);
}

Formula Acosh(Formula x) {
  if (IsComplex(x.shape().type)) {
    const ArcParts parts = ArcSineOfSizes(Abs(x.RealPart()), Abs(x.ImaginaryPart()));
    const Formula angle = Atan2(parts.real, x.RealPart());
    const Formula below = x.ImaginaryPart() < 0.0;
    return parts.imaginary.ComplexWith(below.Select(-angle, angle), x.shape());
  }
  const Formula root = Sqrt(x - 1.0);
  const Formula near = Log1p(root * (Sqrt(x + 1.0) + root));
  return (x >= Largest(x.shape().type) / 2).Select(Log(x) + kLog2, near);
}

// e^x / 2 and e^-x / 2, without overflow where their sum is none.
std::pair<Formula, Formula> HalfExponentials(Formula x) {
  if (IsComplex(x.shape().type)) {
    const Formula log_half = ComplexLog(x.Number(0.5));
    return {ComplexExponential(x + log_half), ComplexExponential(log_half - x)};
  }
  return {Exp(x + -kLog2), Exp(-kLog2 - x)};
}

Formula Cosh(Formula x) {
  const auto [grows, shrinks] = HalfExponentials(x);
  return grows + shrinks;
}

Formula Sinh(Formula x) {
  const auto [grows, shrinks] = HalfExponentials(x);
  const Formula far = grows - shrinks;
  if (IsComplex(x.shape().type)) return far;
  // Near 0 the difference cancels.
  const Formula minus_one = ExpMinus1(x);
  const Formula near = (minus_one + minus_one / (minus_one + 1.0)) * 0.5;
  return (Abs(x) < 1.0).Select(near, far);
}

absl::Status ConvertHyperbolic(BodyConverter& body, const MlirOperation& op,
                               Formula (*formula)(Formula)) {
  ASSIGN_OR_RETURN(const Formula x, OnlyFormula(body, op));
  const ElementType type = x.shape().type;
  const bool wide = IsComplex(type) || type == ElementType::kF64;
  body.SetResults(op, formula(x.To(wide ? type : ElementType::kF32)).To(type).value());
  return absl::OkStatus();
}

// The formula, or the instruction where the type is narrower than f32.
absl::Status ConvertOr(BodyConverter& body, const MlirOperation& op, Opcode opcode,
                       Formula (*formula)(Formula)) {
  ASSIGN_OR_RETURN(const Formula x, OnlyFormula(body, op));
  const ElementType type = x.shape().type;
  const bool wide = IsComplex(type) || type == ElementType::kF32 || type == ElementType::kF64;
  body.SetResults(op, (wide ? formula(x) : x.Apply(opcode)).value());
  return absl::OkStatus();
}

}  // namespace

#define CONVERT_OR(opcode)                                                     \
  absl::Status Convert##opcode(BodyConverter& body, const MlirOperation& op) { \
    return ConvertOr(body, op, Opcode::k##opcode, &opcode);                    \
  }
CONVERT_OR(Acos)
CONVERT_OR(Acosh)
CONVERT_OR(Asin)
CONVERT_OR(Asinh)
#undef CONVERT_OR

absl::Status ConvertCosh(BodyConverter& body, const MlirOperation& op) {
  return ConvertHyperbolic(body, op, &Cosh);
}

absl::Status ConvertSinh(BodyConverter& body, const MlirOperation& op) {
  return ConvertHyperbolic(body, op, &Sinh);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
