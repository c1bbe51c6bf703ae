// The remainder of floats, exact as C's fmod, without a branch: loops over it become vectors.
// In doubles, by multiples of y times 2^250, 2^200, ..., 1: each leaves a rest of up to one and a
// half of its multiple, so that the next quotient has up to 51 bits and is off by one at most.
// Rests are sums of few multiples of the last bits of x and y, which doubles hold.
//   x mod y: q = round(x / (y 2^250)), x -= q y 2^250;  q = round(x / (y 2^200)), ...
#include <algorithm>
#include <cmath>

#include "codegen/math/internal.h"

namespace hlokit {

Val Remainder(Val x, Val y) {
  if (x.is_f64()) return x.With(x.builder().CreateFRem(x.get(), y.get()));
  constexpr int kBits = 50, kSteps = 6;  // 2^277, the largest quotient, is 27 bits above the fifth
  Val rest = ToDouble(Abs(x)), divisor = ToDouble(Abs(y));
  Val inverse = 1 / divisor;
  const double shift = RoundingShift(rest);
  // The last one twice: its quotient may have been off by one.
  for (int step = kSteps; step-- > -1;) {
    const double scale = std::ldexp(1.0, kBits * std::max(step, 0));
    Val quotient = Fma(rest, inverse * (1 / scale), shift) - shift;
    rest = Fma(-quotient, divisor * scale, rest);
  }
  rest = Select(rest < 0, rest + divisor, rest);
  Val infinite = (Abs(y) == y.Infinity()) & (Abs(x) < x.Infinity());
  return Select(infinite, x, CopySign(ToFloat(rest), x));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
