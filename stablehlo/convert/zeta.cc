// Hurwitz' zeta function and the derivatives of digamma, which are multiples of it.
//
// Example: chlo.zeta of s = 2 and q = 1 is 1 + 1/4 + 1/9 + ... = 1.6449341. Ten terms (q + i)^-s
// are added as they are; from the eleventh on it is the formula of Euler and Maclaurin with twelve
// numbers of Bernoulli. In double precision terms are added only as long as that formula needs
// them, with the errors of each addition carried along, so that zeta and polygamma are within 2
// units in the last place; in single precision the instructions are those of XLA's conversion.
// Limits: no value below s = 1, nor below q = 0 for an s that is not a whole number.
#include <limits>

#include "stablehlo/convert/formula_internal.h"

namespace hlokit {
namespace {

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

using ZetaFunction = Formula (*)(BodyConverter&, Formula, Formula);

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

// A number and what its rounding lost.
struct Exact {
  Formula value, error;
};

// x / y, the error from the product of halves, of which each is exact.
Exact Quotient(Formula x, Formula y) {
  const Formula quotient = x / y;
  const Formula qh = UpperHalf(quotient), yh = UpperHalf(y);
  const Formula ql = quotient - qh, yl = y - yh;
  const Formula rest = (((x - qh * yh) - qh * yl) - ql * yh) - ql * yl;
  return {quotient, (x < 1e290).Select(rest / y, x.Number(0))};
}

// The same sum with its roundings undone. The formula of Euler and Maclaurin is exact enough from
// a = 0.81 (s + 12) on, so that no more terms are added: each has the rounding error of its base,
// times s.
Formula ExactZetaSum(Formula s, Formula q) {
  constexpr int kTerms = 10;
  const Formula minus_s = -s;
  const Formula enough = (s + 12.0) * 0.81;
  Formula steps = s.Number(0), a = q, sum = s.Number(0), error = s.Number(0);
  for (int i = 0; i < kTerms; ++i) {
    const Formula needed = a < enough;
    const Formula power = Power(a, minus_s);
    const Formula base_error = SumError(q, steps, a);
    const Formula term = needed.Select(power, s.Number(0));
    const Formula next = sum + term;
    error = error + SumError(sum, term, next) - term * (s * base_error / a);
    sum = next;
    steps = steps + needed.Select(s.Number(1), s.Number(0));
    a = q + steps;
  }
  const Formula power = Power(a, minus_s);
  const Formula base_error = SumError(q, steps, a);
  const Exact quotient = Quotient(a, s - 1.0);
  const Formula corrections = Corrections(s, a);
  const Formula factor = quotient.value + corrections;
  const Formula factor_error = SumError(quotient.value, corrections, factor) + quotient.error -
                               factor * (s * base_error / a);
  const Formula whole = sum + (power * factor + (error + power * factor_error));
  return (Abs(sum) < kInfinity).Select(whole, sum);
}

Formula Zeta(BodyConverter&, Formula s, Formula q) {
  const bool exact = s.shape().type == ElementType::kF64;
  const Formula positive = exact ? ExactZetaSum(s, q) : ZetaSum(s, q);
  const Formula sum = (s < 1.0).Select(s.Number(kNan), positive);
  const Formula below = q <= 0.0;
  // A negative base has a real power for whole exponents only.
  const Formula real = And(below, IsBroken(s)).Select(s.Number(kNan), sum);
  // At a pole both sides grow to +inf for an even s; they differ for an odd one.
  const Formula even = And(IsWhole(s), Remainder(s, 2) == 0.0);
  const Formula pole = even.Select(s.Number(kInfinity), s.Number(kNan));
  const Formula value = And(below, IsWhole(q)).Select(pole, real);
  return (s == 1.0).Select(s.Number(kInfinity), value);
}

// n! of whole numbers from a table, infinite from 171! on.
Formula Factorial(BodyConverter& body, Formula n) {
  constexpr int64_t kCount = 172;
  Literal table = Literal::Unset(Shape::Array(ElementType::kF64, {kCount}).WithDefaultLayout());
  long double product = 1;
  for (int64_t i = 0; i < kCount; ++i) {
    if (i > 0) product *= static_cast<long double>(i);
    table.SetDouble(i, static_cast<double>(product));
  }
  const Formula clamped = (n < 171.0).Select(n, n.Number(171));
  Shape index = n.shape().WithType(ElementType::kS32);
  GatherAttrs gather;
  gather.collapsed_slice_dims = {0};
  gather.start_index_map = {0};
  gather.slice_sizes = {1};
  gather.index_vector_dim = index.rank();
  return {body, body.Add(Opcode::kGather, n.shape(),
                         {body.Constant(std::move(table)), clamped.To(index.type).value()},
                         std::move(gather))};
}

// The n-th derivative of digamma: (-1)^(n+1) n! zeta(n + 1, x) for n > 0.
Formula Polygamma(BodyConverter& body, Formula n, Formula x) {
  const Formula next = n + 1.0;
  const Formula sign = Remainder(n, 2) * 2.0 - 1.0;
  const Formula derivative = sign * Factorial(body, n) * Zeta(body, next, x);
  const Formula value = (n == 0.0).Select(Digamma(x), derivative);
  return Or(IsBroken(n), n < 0.0).Select(n.Number(kNan), value);
}

// f in a type that is at least as wide as `least`, whose results are rounded from it.
absl::Status ConvertFormula(BodyConverter& body, const MlirOperation& op, ElementType least,
                            ZetaFunction f) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, body.Operands(op));
  if (operands.size() != 2 || op.results.size() != 1 || !IsFloat(operands[0]->shape().type) ||
      !SameIgnoringLayout(operands[0]->shape(), operands[1]->shape()))
    return InvalidArgument(op.name, ": expected two arrays of floats of one shape and a result");
  const ElementType own = operands[0]->shape().type;
  const ElementType wide = own == ElementType::kF64 ? own : least;
  const Formula first = Formula(body, operands[0]).To(wide);
  const Formula second = Formula(body, operands[1]).To(wide);
  body.SetResults(op, f(body, first, second).To(own).value());
  return absl::OkStatus();
}

}  // namespace

absl::Status ConvertZeta(BodyConverter& body, const MlirOperation& op) {
  return ConvertFormula(body, op, ElementType::kF32, &Zeta);
}

absl::Status ConvertPolygamma(BodyConverter& body, const MlirOperation& op) {
  return ConvertFormula(body, op, ElementType::kF64, &Polygamma);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
