// Logarithmic family: log, log1p and the inverse hyperbolic functions.
// x = 2^k m with m in [sqrt(1/2), sqrt(2)); log(x) = k ln2 + log(1 + f), f = m - 1.
#include <cmath>

#include "codegen/math/internal.h"

namespace hlokit {
namespace {

constexpr double kSqrtHalf = 0x1.6a09e667f3bcdp-1;

struct Split {
  Val exponent;  // the integer k
  Val k;
  Val m;
};

// x must be normal and positive for a meaningful result.
Split SplitExponent(Val x) {
  FloatLayout layout = LayoutOf(x);
  Val bits = ToBits(x);
  Val base = ToBits(x.Const(kSqrtHalf));
  Val offset = bits - base;
  Val exponent = ShiftArithmetic(offset, layout.mantissa_bits);
  Val m = FromBits((offset & ((int64_t{1} << layout.mantissa_bits) - 1)) + base);
  Val narrow = Resize(exponent, 32);
  return {exponent, x.is_f64() ? ToDouble(narrow) : ToFloat(narrow), m};
}

// The same for positive x that may be subnormal.
Split SplitAnyExponent(Val x) {
  FloatLayout layout = LayoutOf(x);
  Val tiny = x < layout.min_normal;
  double lift = layout.mantissa_bits + 2;
  Split split = SplitExponent(Select(tiny, x * std::ldexp(1.0, layout.mantissa_bits + 2), x));
  split.k = split.k - Select(tiny, lift, split.k.Const(0));
  return split;
}

// log(1 + f) + k ln2 + correction, correction tiny beside f or k.
Val LogOfParts(Val f, Val k, Val correction) {
  Val square = f * f;
  if (!f.is_f64()) {
    Val tail = Horner(f, {-0x1.3908d6p-4, 0x1.057496p-3, -0x1.0d8118p-3, 0x1.22d5eap-3,
                          -0x1.54722ap-3, 0x1.99a036p-3, -0x1.000228p-2, 0x1.555554p-2});
    Val low = Fma(square * f, tail, Fma(k, -0x1.bd0106p-13, correction));
    return Fma(k, 0x1.63p-1, f + Fma(square, -0.5, low));
  }
  Val s = f / (f + 2);
  Val z = s * s;
  Val tail = z * Horner(z, {0x1.0f0ddfb32da9cp-3, 0x1.0f6742f393816p-3, 0x1.3b20248cf0c66p-3,
                            0x1.745ce1c88d832p-3, 0x1.c71c724b676a8p-3, 0x1.24924924397f5p-2,
                            0x1.9999999999d11p-2, 0x1.5555555555555p-1});
  Val half_square = square * 0.5;
  Val low = Fma(s, half_square + tail, Fma(k, 0x1.a39ef35793c76p-33, correction));
  return Fma(k, 0x1.62e42feep-1, f - (half_square - low));
}

// The values of log at 0, below 0, at inf and NaN.
Val LogEdges(Val x, Val result) {
  result = Select(x < x.Infinity(), result, x);
  result = Select(x == 0, -x.Infinity(), result);
  return Select(x < 0, x.NaN(), result);
}

}  // namespace

Val Log(Val x) {
  Split split = SplitAnyExponent(x);
  return LogEdges(x, LogOfParts(split.m - 1, split.k, x.Const(0)));
}

// log(1 + a + a_low) + extra ln2. What rounding 1 + a lost is added back after division by 1 + a,
// to first order.
Val Log1pOfSum(Val a, Val a_low, Val extra) {
  FloatLayout layout = LayoutOf(a);
  Val u = a + 1;
  Val rest = Select(a < 1, a - (u - 1), 1 - (u - a)) + a_low;
  Split split = SplitExponent(u);
  Val f = split.m - 1;
  // rest / u, where 1 / (1 + f) needs few bits: |rest| is at most an ulp of u.
  Val negative_exponent = split.exponent.Const(layout.bias) - split.exponent;
  negative_exponent = Select(negative_exponent < 0, 0, negative_exponent);
  Val scale = FromBits(negative_exponent << layout.mantissa_bits);
  Val correction = rest * scale * Fma(f, Fma(f, 0.7, -1), 1);
  Val result = LogOfParts(f, split.k + extra, correction);
  return LogEdges(u, Select(a == a.Infinity(), a, result));
}

Val Log1p(Val x) { return Select(x == 0, x, Log1pOfSum(x, x.Const(0), x.Const(0))); }

// log1p(y + y^2 / (sqrt(y^2 + 1) + 1)): the argument has no cancellation near 0.
Val Asinh(Val x) {
  if (!x.is_f64()) return ViaDouble(Asinh, x);
  Val y = Abs(x);
  Val square = y * y;
  ValPair sum = FastTwoSum(y, square / (Sqrt(square + 1) + 1));
  Val large = y > 0x1p28;  // asinh(y) = log(2y)
  Val result = Log1pOfSum(Select(large, y - 1, sum.hi), Select(large, 0, sum.lo),
                          Select(large, 1, y.Const(0)));
  return CopySign(Select(y < 0x1p-30, y, result), x);
}

// log1p(t + sqrt(t^2 + 2t)) for t = x - 1.
Val Acosh(Val x) {
  if (!x.is_f64()) return ViaDouble(Acosh, x);
  Val t = x - 1;
  Val under_root = Fma(t, t, t + t);
  ValPair sum = TwoSum(Sqrt(under_root), t);
  Val large = x > 0x1p28;
  Val result =
      Log1pOfSum(Select(large, t, sum.hi), Select(large, 0, sum.lo), Select(large, 1, x.Const(0)));
  return Select(x < 1, x.NaN(), result);
}

// log1p(2y / (1 - y)) / 2, the quotient as a pair.
Val Atanh(Val x) {
  if (!x.is_f64()) return ViaDouble(Atanh, x);
  Val y = Abs(x);
  Val twice = y + y;
  ValPair divisor = FastTwoSum(x.Const(1), -y);
  Val inverse = 1 / divisor.hi;
  Val quotient = twice * inverse;
  Val rest = Fma(-quotient, divisor.hi, twice) - quotient * divisor.lo;
  Val low = Select(y < 1, rest * inverse, 0);
  ValPair sum = FastTwoSum(quotient, low);
  Val whole = Select(y == 1, x.Infinity(), sum.hi);
  Val result = Log1pOfSum(whole, Select(y < 1, sum.lo, 0), x.Const(0)) * 0.5;
  return CopySign(Select(y < 0x1p-30, y, result), x);
}

// Written for a short chain: only the division by m + 1 and what follows it wait for each other.
Val LogOfFloat(Val x) {
  Split split = SplitExponent(x);
  Val k = Select(x == 0, -x.Infinity(), Select(x < x.Infinity(), split.k, x));
  Val s = (split.m - 1) / (split.m + 1);
  Val z = s * s;
  Val tail = Fma(z * z, Fma(z, 0x1.e2f6640bb7ea0p-3, 0x1.2438d791c4471p-2),
                 Fma(z, 0x1.999a7a8afe75bp-2, 0x1.555554fd9ca78p-1));
  return Fma(s * z, tail, Fma(k, kLn2, s + s));
}

// log(x) as a pair, for powers: the exponent y log x reaches 709, whose last bit as a double would
// be an error of 2^-44 of the result.
ValPair LogPair(Val x) {
  Split split = SplitAnyExponent(x);
  // log(m) = 2s (1 + z/3 + z^2 Q(z)), s = (m-1)/(m+1), z = s^2; all but Q in pairs.
  Val f = split.m - 1;
  ValPair divisor = TwoSum(split.m, x.Const(1));
  Val inverse = 1 / divisor.hi;
  Val s = f * inverse;
  Val s_low = (Fma(-s, divisor.hi, f) - s * divisor.lo) * inverse;
  ValPair z = TwoProduct(s, s);
  z.lo = Fma(s + s, s_low, z.lo);
  Val tail = z.hi * z.hi *
             Horner(z.hi, {0x1.ecbb1604609e3p-5, 0x1.a50611c41d89cp-5, 0x1.e2659feeb442bp-5,
                           0x1.110f1bd2c0f6ap-4, 0x1.3b13ba5bdd22fp-4, 0x1.745d172bc681fp-4,
                           0x1.c71c71c747eb9p-4, 0x1.2492492492363p-3, 0x1.999999999999ap-3});
  constexpr double kThird = 0x1.5555555555555p-2, kThirdLow = 0x1.5555555555555p-56;
  ValPair third = TwoProduct(z.hi, x.Const(kThird));
  third.lo = Fma(z.hi, kThirdLow, Fma(z.lo, kThird, third.lo)) + tail;
  ValPair factor = FastTwoSum(third.hi, third.lo);
  Val twice = s + s;
  ValPair product = TwoProduct(twice, factor.hi);
  product.lo = product.lo + Fma(twice, factor.lo, (s_low + s_low) * factor.hi);
  ValPair log_m = FastTwoSum(twice, product.hi);
  log_m.lo = log_m.lo + (product.lo + (s_low + s_low));
  Val k_high = split.k * 0x1.62e42feep-1;  // exact
  ValPair sum = TwoSum(k_high, log_m.hi);
  // ln2 minus its first part, as a pair of its own: one double would leave k * 2^-86.
  Val k_low = split.k * 0x1.a39ef35793c76p-33;
  Val k_rest = Fma(split.k, 0x1.a39ef35793c76p-33, -k_low);
  ValPair low = TwoSum(k_low, sum.lo);
  return FastTwoSum(sum.hi, low.hi + (low.lo + (k_rest + log_m.lo)));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
