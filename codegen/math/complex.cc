// Complex functions from real ones; branch cuts and signed zeros follow C's Annex G.
//
// Formulas are chosen against overflow and cancellation, for example
//   a / b       a conj(b) / |b|^2 with b scaled by a power of two
//   log z       log |z| by log1p of |z|^2 - 1 taken apart, where |z| is near 1
//   asin, acos  W. Kahan's, from sqrt(1 - z) and sqrt(1 + z)
// Straight-line code: every case is computed, and selected.
#include "codegen/math/complex.h"

#include "codegen/math/internal.h"

namespace hlokit {
namespace {

ComplexVal TimesI(ComplexVal z) { return {-z.im, z.re}; }
ComplexVal TimesMinusI(ComplexVal z) { return {z.im, -z.re}; }
ComplexVal Conjugate(ComplexVal z) { return {z.re, -z.im}; }
ComplexVal Scale(ComplexVal z, Val factor) { return {z.re * factor, z.im * factor}; }

ComplexVal Select(Val condition, ComplexVal on_true, ComplexVal on_false) {
  return {hlokit::Select(condition, on_true.re, on_false.re),
          hlokit::Select(condition, on_true.im, on_false.im)};
}

Val IsInfinite(Val x) { return Abs(x) == x.Infinity(); }
Val IsNaN(Val x) { return Unordered(x, x); }
Val IsFinite(Val x) { return Abs(x) < x.Infinity(); }

ComplexVal OnePlus(ComplexVal z) { return {z.re + 1, z.im}; }
ComplexVal OneMinus(ComplexVal z) { return {1 - z.re, -z.im}; }

// A power of two that brings the larger part of z into [1/4, 1/2) (1 for inf and NaN).
Val ScaleToUnit(ComplexVal z) {
  Val a = Abs(z.re), b = Abs(z.im);
  Val larger = hlokit::Select(a > b, a, b);
  const FloatLayout layout = LayoutOf(z.re);
  const auto exponent = [&](int64_t e) { return e << layout.mantissa_bits; };
  Val field = ToBits(larger) & exponent(2 * layout.bias + 1);
  Val bits = field.Const(exponent(2 * layout.bias - 2)) - field;
  bits = Intrinsic(llvm::Intrinsic::smax, bits, bits.Const(exponent(1)));
  return hlokit::Select(larger < larger.Infinity(), FromBits(bits), 1);
}

// 1 where x is infinite, else 0, with x's sign.
Val InfinityToUnit(Val x) { return CopySign(hlokit::Select(IsInfinite(x), 1, x.Const(0)), x); }

// The quotient where the plain formula gives NaN for both parts though the true one is a zero or an
// infinity.
ComplexVal RecoverQuotient(ComplexVal a, ComplexVal b, ComplexVal plain) {
  Val infinity = a.re.Infinity();
  Val a_infinite = IsInfinite(a.re) | IsInfinite(a.im),
      b_infinite = IsInfinite(b.re) | IsInfinite(b.im);
  Val a_finite = IsFinite(a.re) & IsFinite(a.im), b_finite = IsFinite(b.re) & IsFinite(b.im);
  Val by_zero = (b.re == 0) & (b.im == 0) & !(IsNaN(a.re) & IsNaN(a.im));
  Val both_nan = IsNaN(plain.re) & IsNaN(plain.im);
  ComplexVal u = {InfinityToUnit(a.re), InfinityToUnit(a.im)},
             v = {InfinityToUnit(b.re), InfinityToUnit(b.im)};
  ComplexVal to_infinity = {infinity * (u.re * b.re + u.im * b.im),
                            infinity * (u.im * b.re - u.re * b.im)};
  ComplexVal to_zero = {(a.re * v.re + a.im * v.im) * 0.0, (a.im * v.re - a.re * v.im) * 0.0};
  ComplexVal result = Select(both_nan & b_infinite & a_finite, to_zero, plain);
  result = Select(both_nan & a_infinite & b_finite, to_infinity, result);
  return Select(both_nan & by_zero, Scale(a, CopySign(infinity, b.re)), result);
}

}  // namespace

ComplexVal operator+(ComplexVal a, ComplexVal b) { return {a.re + b.re, a.im + b.im}; }
ComplexVal operator-(ComplexVal a, ComplexVal b) { return {a.re - b.re, a.im - b.im}; }
ComplexVal operator*(ComplexVal a, ComplexVal b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
ComplexVal operator-(ComplexVal a) { return {-a.re, -a.im}; }

// a conj(b) / |b|^2, with b scaled by a power of two first so that |b|^2 neither overflows nor
// vanishes.
ComplexVal operator/(ComplexVal a, ComplexVal b) {
  Val scale = ScaleToUnit(b);
  ComplexVal divisor = Scale(b, scale);
  Val norm = Fma(divisor.re, divisor.re, divisor.im * divisor.im);
  ComplexVal product = a * Conjugate(divisor);
  ComplexVal plain = {product.re / norm * scale, product.im / norm * scale};
  return RecoverQuotient(a, b, plain);
}

// z / |z|, and z itself at zero.
ComplexVal ComplexSign(ComplexVal z) {
  ComplexVal scaled = Scale(z, ScaleToUnit(z));
  Val square = Fma(scaled.re, scaled.re, scaled.im * scaled.im);
  return Select(square == 0, z, Scale(scaled, 1 / Sqrt(square)));
}

ComplexVal ComplexExp(ComplexVal z) {
  Val root = Exp(z.re * 0.5);  // in two steps, for results that are finite though e^re is not
  Val re = root * Cos(z.im) * root;
  Val im = hlokit::Select(z.im == 0, z.im, root * Sin(z.im) * root);
  Val vanishes = z.re == -z.re.Infinity();
  return {hlokit::Select(vanishes, 0, re), hlokit::Select(vanishes, 0, im)};
}

// e^z - 1 = expm1(x) cos(y) - 2 sin(y/2)^2 + i e^x sin(y): no cancellation near 0.
ComplexVal ComplexExpm1(ComplexVal z) {
  Val half_sine = Sin(z.im * 0.5);
  Val re = Fma(Expm1(z.re), Cos(z.im), half_sine * half_sine * -2);
  return {re, ComplexExp(z).im};
}

// e^z / (1 + e^z) on the left, where 1 / (1 + e^-z) would overflow before it is small.
ComplexVal ComplexLogistic(ComplexVal z) {
  ComplexVal one = {z.re.Const(1), z.re.Const(0)};
  Val left = z.re < 0;
  ComplexVal power = ComplexExp(Select(left, z, -z));
  return Select(left, power, one) / OnePlus(power);
}

namespace {

// log|z|, from half of z where |z| itself may overflow; and |z|, halved there too.
struct LogLength {
  Val log, length;
};
LogLength LogOfLength(ComplexVal z) {
  const Val infinity = z.re.Infinity();
  Val large = (Abs(z.re) * 4 == infinity) | (Abs(z.im) * 4 == infinity);
  Val scale = hlokit::Select(large, z.re.Const(0.5), z.re.Const(1));
  Val length = Hypot(z.re * scale, z.im * scale);
  constexpr double kLog2 = 0.693147180559945309417;
  return {Log(length) + hlokit::Select(large, z.re.Const(kLog2), z.re.Const(0)), length};
}

}  // namespace

ComplexVal ComplexLog(ComplexVal z) {
  const auto [log, length] = LogOfLength(z);
  // Near the unit circle |z|^2 - 1 is small: take it apart.
  Val a = Abs(z.re), b = Abs(z.im);
  Val swap = b > a;
  Val larger = hlokit::Select(swap, b, a), smaller = hlokit::Select(swap, a, b);
  Val excess = Fma(larger - 1, larger + 1, smaller * smaller);
  Val near_circle = (length > 0.5) & (length < 2);
  return {hlokit::Select(near_circle, Log1p(excess) * 0.5, log), Atan2(z.im, z.re)};
}

ComplexVal ComplexLog1p(ComplexVal z) {
  ComplexVal shifted = OnePlus(z);
  const auto [log, length] = LogOfLength(shifted);
  Val excess = Fma(z.re, z.re + 2, z.im * z.im);
  Val near_circle = (length > 0.5) & (length < 2);
  return {hlokit::Select(near_circle, Log1p(excess) * 0.5, log), Atan2(z.im, shifted.re)};
}

// sqrt((|z| + |x|) / 2) is the part that cannot cancel; the other is |y| over twice that.
ComplexVal ComplexSqrt(ComplexVal z) {
  Val length = Hypot(z.re, z.im);
  Val t = Sqrt(Fma(length, 0.5, Abs(z.re) * 0.5));
  Val other = Abs(z.im) / (t + t);
  Val forward = !(z.re < 0);
  Val re = hlokit::Select(forward, t, other), im = hlokit::Select(forward, other, t);
  Val zero = length == 0, infinite = IsInfinite(z.im);
  re = hlokit::Select(zero, 0, hlokit::Select(infinite, z.re.Infinity(), re));
  im = hlokit::Select(zero, 0, hlokit::Select(infinite, z.re.Infinity(), im));
  return {re, CopySign(im, z.im)};
}

ComplexVal ComplexRsqrt(ComplexVal z) {
  ComplexVal one = {z.re.Const(1), z.re.Const(0)};
  return one / ComplexSqrt(z);
}

ComplexVal ComplexSinh(ComplexVal z) {
  Val im = Cosh(z.re) * Sin(z.im), re = Sinh(z.re) * Cos(z.im);
  // 0 * inf is 0 where an argument is exactly 0.
  return {hlokit::Select(z.re == 0, z.re, re), hlokit::Select(z.im == 0, z.im, im)};
}

ComplexVal ComplexCosh(ComplexVal z) {
  Val re = Cosh(z.re) * Cos(z.im), im = Sinh(z.re) * Sin(z.im);
  return {re, hlokit::Select((z.re == 0) | (z.im == 0), z.re * 0.0 * z.im, im)};
}

// Beyond 350 the result is ±1 in double precision; clamping keeps sinh and cosh finite.
ComplexVal ComplexTanh(ComplexVal z) {
  Val x = CopySign(AtMost(Abs(z.re), 350), z.re);
  Val sinh = Sinh(x), sine = Sin(z.im), cosine = Cos(z.im);
  Val norm = Fma(sinh, sinh, cosine * cosine);
  Val re = sinh * Cosh(x) / norm, im = sine * cosine / norm;
  return {hlokit::Select(IsInfinite(z.re), CopySign(z.re.Const(1), z.re), re),
          hlokit::Select(IsInfinite(z.re) & !IsFinite(z.im), 0, im)};
}

ComplexVal ComplexSin(ComplexVal z) { return TimesMinusI(ComplexSinh(TimesI(z))); }
ComplexVal ComplexCos(ComplexVal z) { return ComplexCosh(TimesI(z)); }
ComplexVal ComplexTan(ComplexVal z) { return TimesMinusI(ComplexTanh(TimesI(z))); }

// W. Kahan's formulas ("Branch Cuts for Complex Elementary Functions", 1987), from sqrt(1 - z) and
// sqrt(1 + z): their signs put the branch cuts where C has them. The same for acos and acosh.
ComplexVal ComplexAsin(ComplexVal z) {
  ComplexVal below = ComplexSqrt(OneMinus(z)), above = ComplexSqrt(OnePlus(z));
  return {Atan2(z.re, (below * above).re), Asinh((Conjugate(below) * above).im)};
}

ComplexVal ComplexAcos(ComplexVal z) {
  ComplexVal below = ComplexSqrt(OneMinus(z)), above = ComplexSqrt(OnePlus(z));
  return {Atan2(below.re, above.re) * 2, Asinh((Conjugate(above) * below).im)};
}

ComplexVal ComplexAcosh(ComplexVal z) {
  ComplexVal below = ComplexSqrt({z.re - 1, z.im}), above = ComplexSqrt(OnePlus(z));
  return {Asinh((Conjugate(below) * above).re), Atan2(below.im, above.re) * 2};
}

ComplexVal ComplexAtanh(ComplexVal z) {
  Val square = z.im * z.im, from_one = 1 - z.re;
  // The real part is odd in that of z; on the negative side log1p would lose what is near -1.
  Val size = Abs(z.re), past_one = 1 - size;
  Val re = Log1p(size * 4 / Fma(past_one, past_one, square)) * 0.25;
  Val im = Atan2(z.im * 2, from_one * (z.re + 1) - square) * 0.5;
  return {CopySign(re, z.re), im};
}

ComplexVal ComplexAsinh(ComplexVal z) { return TimesMinusI(ComplexAsin(TimesI(z))); }
ComplexVal ComplexAtan(ComplexVal z) { return TimesMinusI(ComplexAtanh(TimesI(z))); }

// e^(w log z). 0^w is 0 where w's real part is positive; z^0 is 1.
ComplexVal ComplexPow(ComplexVal base, ComplexVal exponent) {
  ComplexVal result = ComplexExp(exponent * ComplexLog(base));
  Val zero = (base.re == 0) & (base.im == 0);
  Val none = (exponent.re == 0) & (exponent.im == 0);
  ComplexVal at_zero = {hlokit::Select(none, 1, base.re.Const(0)), base.re.Const(0)};
  return Select((zero & (exponent.re > 0)) | none, at_zero, result);
}

ComplexVal ComplexAtan2(ComplexVal y, ComplexVal x) {
  ComplexVal length = ComplexSqrt(x * x + y * y);
  return TimesMinusI(ComplexLog((x + TimesI(y)) / length));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
