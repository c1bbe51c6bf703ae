// Hurwitz' zeta function and the derivatives of digamma, which are multiples of it.
//
// Example: chlo.zeta of s = 2 and q = 1 is 1 + 1/4 + 1/9 + ... = 1.6449341. Ten terms (q + i)^-s
// are added as they are; from the eleventh on it is the formula of Euler and Maclaurin with twelve
// numbers of Bernoulli. Limits: no value below s = 1, nor below q = 0 for an s that is not a whole
// number.
#include <limits>

#include "stablehlo/convert/formula_internal.h"

namespace hlokit {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// (2k)! / B(2k) for k = 1 to 12. Source: Cephes, zeta.
constexpr double kFactorialOverBernoulli[] = {12.0,
                                              -720.0,
                                              30240.0,
                                              -1209600.0,
                                              47900160.0,
                                              -1.8924375803183791606e9,
                                              7.47242496e10,
                                              -2.950130727918164224e12,
                                              1.1646782814350067249e14,
                                              -4.5979787224074726105e15,
                                              1.8152105401943546773e17,
                                              -7.1661652561756670113e18};

using Function = Formula (*)(Formula, Formula);

Formula And(Formula a, Formula b) { return a.Apply(Opcode::kAnd, b); }
Formula Or(Formula a, Formula b) { return a.Apply(Opcode::kOr, b); }
Formula IsWhole(Formula x) { return x == Floor(x); }
Formula IsBroken(Formula x) { return x.Compare(ComparisonDirection::kNe, Floor(x)); }
Formula Remainder(Formula x, double by) { return x.Apply(Opcode::kRemainder, x.Number(by)); }
Formula Power(Formula x, Formula y) { return x.Apply(Opcode::kPower, y); }

// The corrections of Euler and Maclaurin beyond the first, in the order of Horner's scheme: the sum
// over k of B(2k) / (2k)! s (s + 1) ... (s + 2k - 2) a^(1 - 2k), then 1/2.
Formula Corrections(Formula s, Formula a) {
  const Formula inverse = 1.0 / (a * a);
  const int count = static_cast<int>(std::size(kFactorialOverBernoulli));
  Formula sum = inverse * (1.0 / kFactorialOverBernoulli[count - 1]);
  sum = (s + (2.0 * count - 2)) * (s + (2.0 * count - 3)) * sum;
  for (int k = count - 1; k > 1; --k) {
    const Formula inner = inverse * (sum + 1.0 / kFactorialOverBernoulli[k - 1]);
    sum = (s + (2.0 * k - 2)) * (s + (2.0 * k - 3)) * inner;
  }
  return s / a * (sum + 1.0 / kFactorialOverBernoulli[0]) + 0.5;
}

// The sum where it converges: s > 1, q no pole.
Formula ZetaSum(Formula s, Formula q) {
  constexpr int kTerms = 10;
  const Formula minus_s = -s;
  Formula a = q, sum = Power(q, minus_s), power = sum;
  for (int i = 1; i <= kTerms; ++i) {
    a = a + 1.0;
    power = Power(a, minus_s);
    if (i < kTerms) sum = sum + power;
  }
  const Formula whole = sum + power * a / (s - 1.0) + power * Corrections(s, a);
  const double least = s.shape().type == ElementType::kF64
                           ? std::numeric_limits<double>::denorm_min()
                           : std::numeric_limits<float>::denorm_min();
  return (Abs(power) < Abs(sum) * least).Select(sum, whole);
}

Formula Zeta(Formula s, Formula q) {
  const Formula sum = (s < 1.0).Select(s.Number(kNan), ZetaSum(s, q));
  const Formula below = q <= 0.0;
  // A negative base has a real power for whole exponents only.
  const Formula real = And(below, IsBroken(s)).Select(s.Number(kNan), sum);
  // At a pole both sides grow to +inf for an even s; they differ for an odd one.
  const Formula even = And(IsWhole(s), Remainder(s, 2) == 0.0);
  const Formula pole = even.Select(s.Number(kInfinity), s.Number(kNan));
  const Formula value = And(below, IsWhole(q)).Select(pole, real);
  return (s == 1.0).Select(s.Number(kInfinity), value);
}

// The n-th derivative of digamma: (-1)^(n+1) n! zeta(n + 1, x) for n > 0.
Formula Polygamma(Formula n, Formula x) {
  const Formula next = n + 1.0;
  const Formula sign = Remainder(n, 2) * 2.0 - 1.0;
  const Formula factorial = LogGamma(next).Apply(Opcode::kExponential);
  const Formula derivative = sign * factorial * Zeta(next, x);
  const Formula value = (n == 0.0).Select(Digamma(x), derivative);
  return Or(IsBroken(n), n < 0.0).Select(n.Number(kNan), value);
}

// f in f32 for narrower types, whose results are rounded from it.
absl::Status ConvertFormula(BodyConverter& body, const MlirOperation& op, Function f) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, body.Operands(op));
  if (operands.size() != 2 || op.results.size() != 1 || !IsFloat(operands[0]->shape().type) ||
      !SameIgnoringLayout(operands[0]->shape(), operands[1]->shape()))
    return InvalidArgument(op.name, ": expected two arrays of floats of one shape and a result");
  const ElementType own = operands[0]->shape().type;
  const ElementType wide = own == ElementType::kF64 ? own : ElementType::kF32;
  const Formula first = Formula(body, operands[0]).To(wide);
  const Formula second = Formula(body, operands[1]).To(wide);
  body.SetResults(op, f(first, second).To(own).value());
  return absl::OkStatus();
}

}  // namespace

absl::Status ConvertZeta(BodyConverter& body, const MlirOperation& op) {
  return ConvertFormula(body, op, &Zeta);
}

absl::Status ConvertPolygamma(BodyConverter& body, const MlirOperation& op) {
  return ConvertFormula(body, op, &Polygamma);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
