// Special functions of chlo as XLA computes them: published series in elementwise instructions.
//
// A function is written once as a Formula, an expression whose operators add instructions:
//   near.Select(w - 2.5, Sqrt(w) - 3.0)   ->   select(compare(w, 5), subtract(w, 2.5), ...)
// Both sides of a Select are computed for every element, as there are no branches in elementwise
// code; sides that are of no use give NaN or infinity that is not selected.
//   erf_inv     Giles: polynomials of w = -log(1 - x^2), two ranges in f32, three in f64
//   lgamma      Lanczos, g = 7, nine terms; below 0.5 by reflection through the sine
//   digamma     the derivative of that sum; below 0.5 by reflection through the cotangent
//   bessel_i1e  Chebyshev series in two ranges, odd in x
// Types narrower than f32 are computed in f32 and rounded once. Cost: 20 to 120 instructions an
// element, which the target fuses into one loop.
#include <cmath>
#include <limits>

#include "stablehlo/convert/formula_internal.h"

namespace hlokit {
namespace {

// Lanczos' approximation of the gamma function, g = 7 and nine coefficients.
constexpr double kLanczosG = 7;
constexpr double kLanczosBase = 0.99999999999980993227684700473478;
constexpr double kLanczos[] = {
    676.520368121885098567009190444019, -1259.13921672240287047156078755283,
    771.3234287776530788486528258894,   -176.61502916214059906584551354,
    12.507343278686904814458936853,     -0.13857109526572011689554707,
    9.984369578019570859563e-6,         1.50563273514931155834e-7};

using Function = Formula (*)(Formula);

// f in f32 for narrower types, whose results are rounded from it.
absl::Status ConvertFormula(BodyConverter& body, const MlirOperation& op, Function f) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, body.Operands(op));
  if (operands.size() != 1 || op.results.size() != 1 || !IsFloat(operands[0]->shape().type))
    return InvalidArgument(op.name, ": expected an array of floats and a result");
  const ElementType own = operands[0]->shape().type;
  const ElementType wide = own == ElementType::kF64 ? own : ElementType::kF32;
  const Formula x = Formula(body, operands[0]).To(wide);
  body.SetResults(op, f(x).To(own).value());
  return absl::OkStatus();
}

// The inverse error function. Source: M. Giles, "Approximating the erfinv function", single
// precision: polynomials in w = -log(1 - x^2), left and right of w = 5.
Formula ErfInv32(Formula x) {
  constexpr double kNear[] = {2.81022636e-08,  3.43273939e-07, -3.5233877e-06,
                              -4.39150654e-06, 0.00021858087,  -0.00125372503,
                              -0.00417768164,  0.246640727,    1.50140941};
  constexpr double kFar[] = {-0.000200214257, 0.000100950558, 0.00134934322,
                             -0.00367342844,  0.00573950773,  -0.0076224613,
                             0.00943887047,   1.00167406,     2.83297682};
  const Formula w = -Log1p(x * -x);
  const Formula near = w < 5.0;
  const Formula at = near.Select(w - 2.5, Sqrt(w) - 3.0);
  Formula sum = near.Select(x.Number(kNear[0]), x.Number(kFar[0]));
  for (size_t i = 1; i < std::size(kNear); ++i)
    sum = near.Select(x.Number(kNear[i]), x.Number(kFar[i])) + sum * at;
  return (Abs(x) == 1.0).Select(x * kInfinity, sum * x);
}

// The same source, double precision: three ranges of w, 23, 19 and 17 coefficients.
Formula ErfInv64(Formula x) {
  constexpr double kNear[] = {
      -3.64441206401782e-21,  -1.6850591381820166e-19, 1.28584807152564e-18,
      1.1157877678025181e-17, -1.3331716628546209e-16, 2.0972767875968562e-17,
      6.6376381343583238e-15, -4.0545662729752069e-14, -8.1519341976054722e-14,
      2.6335093153082323e-12, -1.2975133253453532e-11, -5.4154120542946279e-11,
      1.0512122733215323e-09, -4.1126339803469837e-09, -2.9070369957882005e-08,
      4.2347877827932404e-07, -1.3654692000834679e-06, -1.3882523362786469e-05,
      0.00018673420803405714, -0.000740702534166267,   -0.0060336708714301491,
      0.24015818242558962,    1.6536545626831027};
  constexpr double kMiddle[] = {
      2.2137376921775787e-09, 9.0756561938885391e-08, -2.7517406297064545e-07,
      1.8239629214389228e-08, 1.5027403968909828e-06, -4.013867526981546e-06,
      2.9234449089955446e-06, 1.2475304481671779e-05, -4.7318229009055734e-05,
      6.8284851459573175e-05, 2.4031110387097894e-05, -0.00035503752036284748,
      0.0009532893797373805,  -0.0016882755560235047, 0.0024914420961078508,
      -0.0037512085075692412, 0.0053709145535900636,  1.0052589676941592,
      3.0838856104922208};
  constexpr double kFar[] = {
      -2.7109920616438573e-11, -2.5556418169965252e-10, 1.5076572693500548e-09,
      -3.789465440126737e-09,  7.61570120807834e-09,    -1.496002662714924e-08,
      2.9147953450901081e-08,  -6.7711997758452339e-08, 2.2900482228026655e-07,
      -9.9298272942317e-07,    4.5260625972231537e-06,  -1.9681778105531671e-05,
      7.5995277030017761e-05,  -0.00021503011930044477, -0.00013871931833623122,
      1.0103004648645344,      4.8499064014085844};
  const Formula w = -Log1p(x * -x);
  const Formula near = w < 6.25, middle = w < 16.0;
  const Formula root_from = middle.Select(x.Number(3.25), x.Number(5));
  const Formula at = near.Select(w - 3.125, Sqrt(w) - root_from);
  // One polynomial whose coefficients depend on the range; the shorter ones end earlier.
  const auto coefficient = [&](size_t i) {
    const Formula first = near.Select(x.Number(kNear[i]), x.Number(kMiddle[i]));
    return i < std::size(kFar) ? middle.Select(first, x.Number(kFar[i])) : first;
  };
  Formula sum = coefficient(0);
  for (size_t i = 1; i < std::size(kFar); ++i) sum = coefficient(i) + sum * at;
  for (size_t i = std::size(kFar); i < std::size(kMiddle); ++i)
    sum = middle.Select(coefficient(i) + sum * at, sum);
  for (size_t i = std::size(kMiddle); i < std::size(kNear); ++i)
    sum = near.Select(sum * at + kNear[i], sum);
  return (Abs(x) == 1.0).Select(x * kInfinity, sum * x);
}

Formula ErfInv(Formula x) {
  return x.shape().type == ElementType::kF64 ? ErfInv64(x) : ErfInv32(x);
}

// log(7.5 + z), of which 7.5 is taken out for the sake of small z.
Formula LogOfLanczosSum(Formula z) {
  return Log1p(z / (kLanczosG + 0.5)) + std::log(kLanczosG + 0.5);
}

}  // namespace

Formula LogGamma(Formula x) {
  const Formula reflect = x < 0.5;
  const Formula z = reflect.Select(-x, x - 1.0);
  Formula sum = x.Number(kLanczosBase);
  for (size_t i = 0; i < std::size(kLanczos); ++i)
    sum = sum + kLanczos[i] / (z + static_cast<double>(i + 1));
  const Formula log_t = LogOfLanczosSum(z);
  const Formula t = z + (kLanczosG + 0.5);
  const Formula direct = (z + 0.5 - t / log_t) * log_t + 0.5 * std::log(2 * kPi) + Log(sum);
  const Formula size = Abs(x);
  const Formula fraction = size - Floor(size);
  const Formula nearest = (x.Number(0.5) < fraction).Select(1.0 - fraction, fraction);
  const Formula log_sine = Log(Sine(nearest * kPi));
  const Formula reflected = std::log(kPi) - log_sine - direct;
  // At a pole the sine is 0.
  const Formula finite = log_sine.IsFinite();
  const Formula result = reflect.Select(finite.Select(reflected, -log_sine), direct);
  return (Abs(x) == kInfinity).Select(x.Number(kInfinity), result);
}

Formula Digamma(Formula x) {
  const Formula reflect = x < 0.5;
  const Formula z = reflect.Select(-x, x - 1.0);
  Formula numerator = x.Number(0), denominator = x.Number(kLanczosBase);
  for (size_t i = 0; i < std::size(kLanczos); ++i) {
    const Formula at = z + static_cast<double>(i + 1);
    numerator = numerator - kLanczos[i] / (at * at);
    denominator = denominator + kLanczos[i] / at;
  }
  const Formula t = z + (kLanczosG + 0.5);
  const Formula direct = LogOfLanczosSum(z) + numerator / denominator - kLanczosG / t;
  // The cotangent's argument is brought near 0 first.
  const Formula angle = (x + Abs(Floor(x + 0.5))) * kPi;
  const Formula reflected = direct - Cosine(angle) * kPi / Sine(angle);
  const Formula pole = (x <= 0.0).Apply(Opcode::kAnd, x == Floor(x));
  return pole.Select(x.Number(std::nan("")), reflect.Select(reflected, direct));
}

namespace {

// A Chebyshev series by Clenshaw's recurrence, halved.
Formula Chebyshev(Formula x, absl::Span<const double> c) {
  Formula b0 = x.Number(0), b1 = x.Number(0), b2 = x.Number(0);
  for (const double coefficient : c) {
    b2 = b1;
    b1 = b0;
    b0 = x * b1 - b2 + coefficient;
  }
  return 0.5 * (b0 - b2);
}

// exp(-|x|) I1(x) by one series up to |x| = 8 and another beyond.
Formula BesselI1eSeries(Formula x, absl::Span<const double> near, absl::Span<const double> far) {
  const Formula size = Abs(x);
  const Formula below = size * Chebyshev(size * 0.5 - 2.0, near);
  const Formula beyond = Chebyshev(32.0 / size - 2.0, far) / Sqrt(size);
  return x.Apply(Opcode::kSign) * (size <= 8.0).Select(below, beyond);
}

// In single precision. Source: Cephes, i1ef.
Formula BesselI1e32(Formula x) {
  constexpr double kNear[] = {
      9.38153738649577178388e-9,  -4.44505912879632808065e-8, 2.00329475355213526229e-7,
      -8.56872026469545474066e-7, 3.47025130813767847674e-6,  -1.32731636560394358279e-5,
      4.78156510755005422638e-5,  -1.61760815825896745588e-4, 5.12285956168575772895e-4,
      -1.51357245063125314899e-3, 4.15642294431288815669e-3,  -1.05640848946261981558e-2,
      2.47264490306265168283e-2,  -5.29459812080949914269e-2, 1.02643658689847095384e-1,
      -1.76416518357834055153e-1, 2.52587186443633654823e-1};
  constexpr double kFar[] = {-3.83538038596423702205e-9, -2.63146884688951950684e-8,
                             -2.51223623787020892529e-7, -3.88256480887769039346e-6,
                             -1.10588938762623716291e-4, -9.76109749136146840777e-3,
                             7.78576235018280120474e-1};
  return BesselI1eSeries(x, kNear, kFar);
}

// In double precision. Source: Cephes, i1e.
Formula BesselI1e64(Formula x) {
  constexpr double kNear[] = {
      2.7779141127610464e-18,  -2.111421214358166e-17,  1.5536319577362005e-16,
      -1.1055969477353862e-15, 7.600684294735408e-15,   -5.042185504727912e-14,
      3.223793365945575e-13,   -1.9839743977649436e-12, 1.1736186298890901e-11,
      -6.663489723502027e-11,  3.625590281552117e-10,   -1.8872497517228294e-09,
      9.381537386495773e-09,   -4.445059128796328e-08,  2.0032947535521353e-07,
      -8.568720264695455e-07,  3.4702513081376785e-06,  -1.3273163656039436e-05,
      4.781565107550054e-05,   -0.00016176081582589674, 0.0005122859561685758,
      -0.0015135724506312532,  0.004156422944312888,    -0.010564084894626197,
      0.024726449030626516,    -0.05294598120809499,    0.1026436586898471,
      -0.17641651835783406,    0.25258718644363365};
  constexpr double kFar[] = {
      7.517296310842105e-18,   4.414348323071708e-18,   -4.6503053684893586e-17,
      -3.209525921993424e-17,  2.96262899764595e-16,    3.3082023109209285e-16,
      -1.8803547755107825e-15, -3.8144030724370075e-15, 1.0420276984128802e-14,
      4.272440016711951e-14,   -2.1015418427726643e-14, -4.0835511110921974e-13,
      -7.198551776245908e-13,  2.0356285441470896e-12,  1.4125807436613782e-11,
      3.2526035830154884e-11,  -1.8974958123505413e-11, -5.589743462196584e-10,
      -3.835380385964237e-09,  -2.6314688468895196e-08, -2.512236237870209e-07,
      -3.882564808877691e-06,  -0.00011058893876262371, -0.009761097491361469,
      0.7785762350182801};
  return BesselI1eSeries(x, kNear, kFar);
}

Formula Atanh(Formula x) {
  const Formula outside = Abs(x) > 1.0;
  const Formula value = (Log1p(x) - Log1p(-x)) * 0.5;
  return outside.Select(x.Number(std::nan("")), value);
}

Formula BesselI1e(Formula x) {
  return x.shape().type == ElementType::kF64 ? BesselI1e64(x) : BesselI1e32(x);
}

}  // namespace

// Half of log(1 + x) - log(1 - x), whose parts have one sign; a formula of its own of complex
// numbers.
absl::Status ConvertAtanh(BodyConverter& body, const MlirOperation& op) {
  RETURN_IF_ERROR(CheckOperands(op, 1));
  if (!IsComplex(op.operands[0]->type->shape.type)) return ConvertFormula(body, op, &Atanh);
  ASSIGN_OR_RETURN(const Formula x, OnlyFormula(body, op));
  body.SetResults(op, ComplexAtanh(x).value());
  return absl::OkStatus();
}

absl::Status ConvertErfInv(BodyConverter& body, const MlirOperation& op) {
  return ConvertFormula(body, op, &ErfInv);
}

absl::Status ConvertLgamma(BodyConverter& body, const MlirOperation& op) {
  return ConvertFormula(body, op, &LogGamma);
}

absl::Status ConvertDigamma(BodyConverter& body, const MlirOperation& op) {
  return ConvertFormula(body, op, &Digamma);
}

absl::Status ConvertBesselI1e(BodyConverter& body, const MlirOperation& op) {
  return ConvertFormula(body, op, &BesselI1e);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
