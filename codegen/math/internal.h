// Pieces that several files of elementary functions share.
#pragma once

#include "codegen/math/functions.h"

namespace hlokit {

inline constexpr double kLn2 = 0x1.62e42fefa39efp-1;
inline constexpr double kHalfPi = 0x1.921fb54442d18p+0;
inline constexpr double kHalfPiLow = 0x1.1a62633145c07p-54;

// Facts of float and double as numbers.
struct FloatLayout {
  int mantissa_bits;
  int bias;
  double min_normal;
};
inline FloatLayout LayoutOf(Val x) {
  if (x.is_f64()) return {52, 1023, 0x1p-1022};
  return {23, 127, 0x1p-126};
}

// `function` computed in double and rounded to float: exact enough to be correctly rounded nearly
// always.
template <typename Function>
Val ViaDouble(Function function, Val x) {
  return ToFloat(function(ToDouble(x)));
}

// e^x for x whose result is a normal number (or NaN).
Val ExpInRange(Val x);
// e^(x + x_low) for any double x, |x_low| tiny.
Val ExpOfSum(Val x, Val x_low);

// log(1 + a + a_low) + extra * ln2, for a > -1; a_low is a small correction of a.
Val Log1pOfSum(Val a, Val a_low, Val extra);
// log(x) for x > 0 as hi + lo with about 68 correct bits; doubles only.
ValPair LogPair(Val x);

// For powers of floats, in doubles. log(x) within 2^-37 of itself, for a float x >= 0 and what is
// infinite or NaN; and e^x within 2^-34 for x whose result is a float (a normal number as double).
Val LogOfFloat(Val x);
Val ExpToFloat(Val x);

// 1.5 * 2^mantissa_bits: adding it rounds a small number to an integer, found in the low bits of
// the sum.
inline double RoundingShift(Val x) { return x.is_f64() ? 0x1.8p52 : 0x1.8p23; }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
