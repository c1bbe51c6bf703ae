// The complementary error function: 1 - erf(x) near 0, elsewhere exp(-x^2) times a rational
// function. Source of the coefficients: Cephes, erfcf and erfc.
#include "stablehlo/convert/formula_internal.h"

namespace hlokit {
namespace {

// In single precision by polynomials in 1/x^2, left and right of |x| = 2.
Formula Tail32(Formula size) {
  constexpr double kNear[] = {2.326819970068386E-2,  -1.387039388740657E-1, 3.687424674597105E-1,
                              -5.824733027278666E-1, 6.210004621745983E-1,  -4.944515323274145E-1,
                              3.404879937665872E-1,  -2.741127028184656E-1, 5.638259427386472E-1};
  constexpr double kFar[] = {-1.047766399936249E+1, 1.297719955372516E+1,  -7.495518717768503E+0,
                             2.921019019210786E+0,  -1.015265279202700E+0, 4.218463358204948E-1,
                             -2.820767439740514E-1, 5.641895067754075E-1};
  const Formula inverse = 1.0 / size;
  const Formula square = inverse * inverse;
  return inverse * (size < 2.0).Select(Polynomial(square, kNear), Polynomial(square, kFar));
}

// In double precision by quotients of polynomials in x, left and right of |x| = 8.
Formula Tail64(Formula size) {
  constexpr double kNear[] = {
      2.46196981473530512524E-10, 5.64189564831068821977E-1, 7.46321056442269912687E0,
      4.86371970985681366614E1,   1.96520832956077098242E2,  5.26445194995477358631E2,
      9.34528527171957607540E2,   1.02755188689515710272E3,  5.57535335369399327526E2};
  constexpr double kNearBelow[] = {1,
                                   1.32281951154744992508E1,
                                   8.67072140885989742329E1,
                                   3.54937778887819891062E2,
                                   9.75708501743205489753E2,
                                   1.82390916687909736289E3,
                                   2.24633760818710981792E3,
                                   1.65666309194161350182E3,
                                   5.57535340817727675546E2};
  constexpr double kFar[] = {5.64189583547755073984E-1, 1.27536670759978104416E0,
                             5.01905042251180477414E0,  6.16021097993053585195E0,
                             7.40974269950448939160E0,  2.97886665372100240670E0};
  constexpr double kFarBelow[] = {1,
                                  2.26052863220117276590E0,
                                  9.39603524938001434673E0,
                                  1.20489539808096656605E1,
                                  1.70814450747565897222E1,
                                  9.60896809063285878198E0,
                                  3.36907645100081516050E0};
  return (size < 8.0)
      .Select(Polynomial(size, kNear) / Polynomial(size, kNearBelow),
              Polynomial(size, kFar) / Polynomial(size, kFarBelow));
}

}  // namespace

absl::Status ConvertErfc(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, body.Operands(op));
  if (operands.size() != 1 || op.results.size() != 1 || !IsFloat(operands[0]->shape().type))
    return InvalidArgument(op.name, ": expected an array of floats and a result");
  const ElementType own = operands[0]->shape().type;
  const bool is_double = own == ElementType::kF64;
  const Formula x = Formula(body, operands[0]).To(is_double ? own : ElementType::kF32);
  const Formula size = Abs(x), exponent = x * -x;
  const Formula tail = Exp(exponent) * (is_double ? Tail64(size) : Tail32(size));
  // Far out the exponential is 0, and the rest may be no number.
  const Formula right =
      (exponent < (is_double ? -709.78271289338399 : -88.7228394)).Select(x.Number(0), tail);
  const Formula far = (x < 0.0).Select(2.0 - right, right);
  const Formula result = (size > 1.0).Select(far, 1.0 - x.Apply(Opcode::kErf));
  body.SetResults(op, result.To(own).value());
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
