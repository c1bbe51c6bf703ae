// Inverse trigonometric functions.
//
// atan2(y, x): the quotient of the smaller by the larger magnitude, rotated by pi/4 where it is
// above tan(pi/8), so that the polynomial's argument is at most tan(pi/8); then the angle of the
// axis or diagonal is added as two doubles.
//
// asin(x): a polynomial in x^2 up to 1/2; above, asin(x) = pi/2 - 2 asin(sqrt((1 - x) / 2)).
// f32 computes in f64 and rounds once.
#include "codegen/math/internal.h"

namespace hlokit {
namespace {

// atan(a) - a over a^3, for z = a^2 and |a| <= tan(pi/8).
Val AtanTail(Val z) {
  return Horner(
      z, {-0x1.257e19af82744p-6, 0x1.37df48916ac57p-5, -0x1.9cd6c41aaa9ffp-5, 0x1.df103c2d1eb1fp-5,
          -0x1.10ebc988c9b12p-4, 0x1.3b111aabcc64ap-4, -0x1.745cf8f3063a7p-4, 0x1.c71c70e6d2a3dp-4,
          -0x1.24924922af1fdp-3, 0x1.999999999589dp-3, -0x1.555555555553dp-2});
}

// asin(s) - s over s^3, for z = s^2 and |s| <= 1/2.
Val AsinTail(Val z) {
  return Horner(
      z, {0x1.05ce24f1f5e99p-5, -0x1.0af42bb9bea40p-6, 0x1.40b16c1e5eb05p-6, 0x1.aab465573d8bcp-8,
          0x1.8ee48f78aeb68p-7, 0x1.c6f8818b96864p-7, 0x1.1c6c2788311afp-6, 0x1.6e89ef7de0ebap-6,
          0x1.f1c72c6d1da84p-6, 0x1.6db6db41d487fp-5, 0x1.333333336f877p-4, 0x1.5555555555387p-3});
}

// Multiples of pi/4 by their low and high parts.
struct Angle {
  double hi;
  double lo;
};
constexpr Angle kZero = {0, 0};
constexpr Angle kQuarter = {0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55};
constexpr Angle kHalf = {kHalfPi, kHalfPiLow};
constexpr Angle kThreeQuarters = {0x1.2d97c7f3321d2p+1, 0x1.a79394c9e8a0ap-54};
constexpr Angle kPi = {0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53};

// atan(y / x) for magnitudes and the sign of x: `flipped` says that x is negative. `exact` makes up
// for what the division and its operands lost.
Val AtanOfRatio(Val y, Val x, Val flipped, bool exact) {
  Val swap = y > x;
  Val larger = Select(swap, y, x), smaller = Select(swap, x, y);
  Val far = smaller > larger * 0x1.a827999fcef32p-2;  // tan(pi/8)
  ValPair divisor = FastTwoSum(larger, Select(far, smaller, 0));
  ValPair dividend = TwoSum(smaller, Select(far, -larger, 0));
  divisor.hi = Select(divisor.hi == 0, 1, divisor.hi);
  Val a = dividend.hi / divisor.hi;
  Val a_low = x.Const(0);
  if (exact)
    a_low = (Fma(-a, divisor.hi, dividend.hi) + Fma(-a, divisor.lo, dividend.lo)) / divisor.hi;
  // The angle counted from the nearest of 0, pi/4, pi/2, 3pi/4 and pi.
  auto base = [&](double Angle::*part) {
    Val near_axis = Select(swap, x.Const(kHalf.*part),
                           Select(flipped, x.Const(kPi.*part), x.Const(kZero.*part)));
    Val diagonal = Select(flipped, x.Const(kThreeQuarters.*part), x.Const(kQuarter.*part));
    return Select(far, diagonal, near_axis);
  };
  Val opposite = swap ^ flipped;
  a = Select(opposite, -a, a);
  if (exact) a_low = Select(opposite, -a_low, a_low);
  Val z = a * a;
  ValPair sum = FastTwoSum(base(&Angle::hi), a);
  return sum.hi + (sum.lo + Fma(a * z, AtanTail(z), base(&Angle::lo) + a_low));
}

// For 1/2 < y <= 1: acos(y) = 2 asin(sqrt((1 - y) / 2)), as root + rest before doubling.
struct HalfAcos {
  Val root;
  Val rest;
};

HalfAcos SplitAcos(Val z, Val tail) {
  Val root = Sqrt(z);
  Val root_low = Select(z > 0, Fma(-root, root, z) / (root + root), 0);
  return {root, Fma(root * z, tail, root_low)};
}

}  // namespace

// Two infinities count as (1, 1), one as (1, 0) or (0, 1): C's Annex F.10.1.4 has the same angles.
Val Atan2(Val y_in, Val x_in) {
  bool narrow = !x_in.is_f64();
  Val y = ToDouble(y_in), x = ToDouble(x_in);
  Val a = Abs(y), b = Abs(x);
  Val a_infinite = a == x.Infinity(), b_infinite = b == x.Infinity();
  Val infinite = a_infinite | b_infinite;
  Val top = Select(infinite, Select(a_infinite, 1, x.Const(0)), a);
  Val bottom = Select(infinite, Select(b_infinite, 1, x.Const(0)), b);
  if (!narrow) {  // sums and their reciprocals must stay finite
    Val large = (a > 0x1p900) | (b > 0x1p900), small = (a < 0x1p-900) & (b < 0x1p-900);
    Val scale = Select(large, 0x1p-100, Select(small, 0x1p100, x.Const(1)));
    top = top * scale;
    bottom = bottom * scale;
  }
  Val result = AtanOfRatio(top, bottom, ToBits(x) < 0, !narrow);
  result = Select(Unordered(x, y), x.NaN(), CopySign(result, y));
  return narrow ? ToFloat(result) : result;
}

Val Atan(Val x) {
  bool narrow = !x.is_f64();
  Val y = AtMost(Abs(ToDouble(x)), 0x1p60);
  Val never = x.With(llvm::ConstantInt::getFalse(x.IntType(1)));
  Val result = AtanOfRatio(y, y.Const(1), never, !narrow);
  return CopySign(narrow ? ToFloat(result) : result, x);
}

Val Asin(Val x) {
  if (!x.is_f64()) return ViaDouble(Asin, x);
  Val y = Abs(x);
  Val large = y > 0.5;
  Val z = Select(large, (1 - y) * 0.5, y * y);
  Val tail = AsinTail(z);
  HalfAcos half = SplitAcos(z, tail);
  ValPair two = FastTwoSum(x.Const(kHalf.hi), -(half.root + half.root));
  Val near_one = two.hi + (two.lo + (kHalf.lo - (half.rest + half.rest)));
  return CopySign(Select(large, near_one, Fma(y * z, tail, y)), x);
}

Val Acos(Val x) {
  if (!x.is_f64()) return ViaDouble(Acos, x);
  Val y = Abs(x);
  Val large = y > 0.5;
  Val z = Select(large, (1 - y) * 0.5, y * y);
  Val tail = AsinTail(z);
  HalfAcos half = SplitAcos(z, tail);
  Val near_one = (half.root + half.rest) * 2;
  Val near_minus_one = kPi.hi - ((half.root + half.rest) * 2 - kPi.lo);
  Val middle = kHalf.hi - (x + (Fma(x * z, tail, x.Const(-kHalf.lo))));
  return Select(large, Select(x < 0, near_minus_one, near_one), middle);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
