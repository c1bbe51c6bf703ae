// The complementary error function: 1 - erf(x) for |x| < 1, elsewhere exp(-x^2) times a rational
// function. Source of the coefficients: Cephes, erff, erfcf, erf and erfc.
//
// Example: erfc(3) in f32 is exp(-9) / 3 times a polynomial in 1/9: 2.209e-5, all digits of which
// 1 - erf(3) would lose. Cost: 60 instructions an element, as both sides of a select are computed.
#include "stablehlo/convert/formula_internal.h"

namespace hlokit {
namespace {

// x^n + c[0] x^(n-1) + ... + c[n-1].
Formula MonicPolynomial(Formula x, absl::Span<const double> c) {
  Formula sum = x + c[0];
  for (size_t i = 1; i < c.size(); ++i) sum = sum * x + c[i];
  return sum;
}

// c[0] x^(n-1) + ... + c[n-1], the first product made of x.
Formula PolynomialOf(Formula x, absl::Span<const double> c) {
  Formula sum = x * c[0];
  for (size_t i = 1; i + 1 < c.size(); ++i) sum = (sum + c[i]) * x;
  return sum + c[c.size() - 1];
}

// erf near 0, in x^2.
Formula Erf32(Formula x) {
  constexpr double kNumbers[] = {
      7.853861353153693E-5, -8.010193625184903E-4, 5.188327685732524E-3, -2.685381193529856E-2,
      1.128358514861418E-1, -3.761262582423300E-1, 1.128379165726710E+0};
  return x * PolynomialOf(x * x, kNumbers);
}

Formula Erf64(Formula x) {
  constexpr double kAbove[] = {9.60497373987051638749E0, 9.00260197203842689217E1,
                               2.23200534594684319226E3, 7.00332514112805075473E3,
                               5.55923013010394962768E4};
  constexpr double kBelow[] = {3.35617141647503099647E1, 5.21357949780152679795E2,
                               4.59432382970980127987E3, 2.26290000613890934246E4,
                               4.92673942608635921086E4};
  const Formula square = x * x;
  return x * PolynomialOf(square, kAbove) / MonicPolynomial(square, kBelow);
}

// exp(-x^2) and what remains of the tail, in single precision by polynomials in 1/x^2, left and
// right of |x| = 2.
Formula Tail32(Formula x, Formula square, Formula negated) {
  constexpr double kNear[] = {2.326819970068386E-2,  -1.387039388740657E-1, 3.687424674597105E-1,
                              -5.824733027278666E-1, 6.210004621745983E-1,  -4.944515323274145E-1,
                              3.404879937665872E-1,  -2.741127028184656E-1, 5.638259427386472E-1};
  constexpr double kFar[] = {-1.047766399936249E+1, 1.297719955372516E+1,  -7.495518718768503E+0,
                             2.921019019210786E+0,  -1.015265279202700E+0, 4.218463358204948E-1,
                             -2.820767439740514E-1, 5.641895067754075E-1};
  const Formula size = Abs(x);
  const Formula inverse = 1.0 / square;
  const Formula outer = Exp(negated) * (1.0 / size);
  return outer * (size < 2.0).Select(PolynomialOf(inverse, kNear), PolynomialOf(inverse, kFar));
}

// In double precision by quotients of polynomials in |x|, left and right of |x| = 8.
Formula Tail64(Formula x, Formula, Formula negated) {
  constexpr double kNear[] = {
      2.46196981473530512524E-10, 5.64189564831068821977E-1, 7.46321056442269912687E0,
      4.86371970985681366614E1,   1.96520832956077098242E2,  5.26445194995477358631E2,
      9.34528527171957607540E2,   1.02755188689515710272E3,  5.57535335369399327526E2};
  constexpr double kNearBelow[] = {1.32281951154744992508E1, 8.67072140885989742329E1,
                                   3.54937778887819891062E2, 9.75708501743205489753E2,
                                   1.82390916687909736289E3, 2.24633760818710981792E3,
                                   1.65666309194161350182E3, 5.57535340817727675546E2};
  constexpr double kFar[] = {5.64189583547755073984E-1, 1.27536670759978104416E0,
                             5.01905042251180477414E0,  6.16021097993053585195E0,
                             7.40974269950448939160E0,  2.97886665372100240670E0};
  constexpr double kFarBelow[] = {2.26052863220117276590E0, 9.39603524938001434673E0,
                                  1.20489539808096656605E1, 1.70814450747565897222E1,
                                  9.60896809063285878198E0, 3.36907645100081516050E0};
  const Formula size = Abs(x);
  const Formula exponential = Exp(negated);
  return (size < 8.0)
      .Select(exponential * PolynomialOf(size, kNear) / MonicPolynomial(size, kNearBelow),
              exponential * PolynomialOf(size, kFar) / MonicPolynomial(size, kFarBelow));
}

}  // namespace

absl::Status ConvertErfc(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const Formula given, OnlyFormula(body, op));
  const ElementType own = given.shape().type;
  if (!IsFloat(own)) return InvalidArgument(op.name, ": expected floats");
  const bool is_double = own == ElementType::kF64;
  const Formula x = given.To(is_double ? own : ElementType::kF32);
  const Formula near = 1.0 - (is_double ? Erf64(x) : Erf32(x));
  const Formula square = x * x;
  const Formula negated = -square;
  const Formula tail = (is_double ? Tail64 : Tail32)(x, square, negated);
  // Far out the exponential is 0, and the rest may be no number.
  const double least = is_double ? -709.78271289338399 : -88.7228394;
  const Formula right = (negated < least).Select(x.Number(0), tail);
  const Formula far = (x < 0.0).Select(2.0 - right, right);
  body.SetResults(op, (Abs(x) < 1.0).Select(near, far).To(own).value());
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
