// chlo.atan: atan2(x, 1) of real numbers, a formula of the parts of complex ones, and that of
// atanh.
//
// Example: atan(1 + i) = 1.0172220 + 0.4023595 i. It is -i atanh(iz), with the signs on the branch
// cuts (the imaginary axis beyond i and -i) that this form gives, as XLA's conversion has it.
#include <cmath>
#include <limits>

#include "stablehlo/convert/formula_internal.h"

namespace hlokit {
namespace {

// 1 or -1; 1 for both zeros.
Formula SignOf(Formula x) {
  return x.Compare(ComparisonDirection::kGe, x.Number(0)).Select(x.Number(1), x.Number(-1));
}

Formula IsInfinite(Formula x) { return Or(x == kInfinity, x == -kInfinity); }

// Real and imaginary part of atanh(a + bi). The real one is the sign of a times
// log1p(4 |a| / ((1 - |a|)^2 + b^2)) / 4, the imaginary one half the angle of (1 - a^2 - b^2, 2b).
std::pair<Formula, Formula> AtanhOfParts(Formula a, Formula b) {
  const bool is_double = a.shape().type == ElementType::kF64;
  // Beyond the square of `ratio`, 1 and the smaller part are lost in the larger one.
  const double ratio = std::ldexp(1.0, is_double ? 53 : 24) + 2;
  const double large = ratio * ratio;
  const Formula size = Abs(a), b_size = Abs(b);
  const Formula small = And(size < large, b_size < large);
  const Formula below = 1.0 - size;
  const Formula square = b * b;
  const Formula near = size / (below * below + square);
  // |a| / (a^2 + b^2) without a square: 1/|a| where b adds nothing, else (1 / (|a|/b + b/|a|)) / b.
  const Formula any_infinite = Or(IsInfinite(a), IsInfinite(b));
  const Formula quotient = 1.0 / (size / b + b / size) / b;
  const Formula far =
      (b_size * ratio < size).Select(1.0 / size, any_infinite.Select(b.Number(0), quotient));
  const Formula real = SignOf(a) * Log1p(small.Select(near, far) * 4.0) * 0.25;
  const Formula angle = Atan2(b + b, below * (size + 1.0) - square);
  return {real, small.Select(angle, SignOf(b) * kPi) * 0.5};
}

}  // namespace

Formula ComplexAtanh(Formula x) {
  const auto [real, imaginary] = AtanhOfParts(x.RealPart(), x.ImaginaryPart());
  return real.ComplexWith(imaginary, x.shape());
}

absl::Status ConvertAtan(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, body.Operands(op));
  if (operands.size() != 1 || op.results.size() != 1 || !operands[0]->shape().IsArray())
    return InvalidArgument(op.name, ": expected an array and a result");
  const Formula x(body, operands[0]);
  if (!IsComplex(x.shape().type)) {
    body.SetResults(op, Atan2(x, x.Number(1)).value());
    return absl::OkStatus();
  }
  const Formula real = x.RealPart(), imaginary = x.ImaginaryPart();
  const auto [up, along] = AtanhOfParts(-imaginary, real);
  body.SetResults(op, along.ComplexWith(-up, x.shape()).value());
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
