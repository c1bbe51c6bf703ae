// Exponential family: exp, expm1, logistic and the hyperbolic functions that stand on them.
// x = k ln2 + r with |r| <= ln2 / 2, e^r = 1 + r + r^2 Q(r); the powers of two are put together
// from bits.
#include <cmath>

#include "codegen/math/internal.h"

namespace hlokit {
namespace {

Val ExpTail(Val r) {
  if (r.is_f64()) {
    return Horner(r, {0x1.204e647b4504bp-29, 0x1.af74376ef7b44p-26, 0x1.27e44ba69e893p-22,
                      0x1.71ddeab5b39c5p-19, 0x1.a01a01e844705p-16, 0x1.a01a01b5f17e2p-13,
                      0x1.6c16c16c0a4b4p-10, 0x1.111111110e54ep-7, 0x1.555555555556cp-5,
                      0x1.555555555555dp-3, 0x1p-1});
  }
  return Horner(r, {0x1.6ab1e8p-10, 0x1.122c82p-7, 0x1.55579ep-5, 0x1.5554aap-3, 0x1.fffffep-2});
}

// ln2 in two parts, the first so short that k * hi is exact.
ValPair Ln2Parts(Val x) {
  if (x.is_f64()) return {x.Const(0x1.62e42feep-1), x.Const(0x1.a39ef35793c76p-33)};
  return {x.Const(0x1.63p-1), x.Const(-0x1.bd0106p-13)};
}

struct Reduced {
  Val biased;  // an integer whose low bits hold k + bias
  Val r;
  Val r_low;
};

Reduced ReduceByLn2(Val x, int bias) {
  double shift = RoundingShift(x) + bias;
  Val shifted = Fma(x, 0x1.71547652b82fep+0, shift);
  Val k = shifted - shift;
  ValPair ln2 = Ln2Parts(x);
  Val high = Fma(-k, ln2.hi, x);
  Val r = Fma(-k, ln2.lo, high);
  return {ToBits(shifted), r, Fma(-k, ln2.lo, high - r)};
}

// 2^n from an integer whose low bits hold n + bias.
Val PowerOfTwo(Val biased, Val like) { return FromBits(biased << LayoutOf(like).mantissa_bits); }

// e^x - 1 = 8 * scale * (hi + lo), where scale = 2^(k-3) and inverse = 1 / scale are finite for k
// up to bias + 3.
struct Expm1Parts {
  Val scale;
  Val inverse;
  Val hi;
  Val lo;
};

Expm1Parts SplitExpm1(Val x) {
  FloatLayout layout = LayoutOf(x);
  Reduced reduced = ReduceByLn2(x, layout.bias - 3);
  Val r = reduced.r;
  ValPair p = FastTwoSum(r, Fma(r * r, ExpTail(r), reduced.r_low));
  Val scale = PowerOfTwo(reduced.biased, x);
  uint64_t twice_bias = static_cast<uint64_t>(2 * layout.bias) << layout.mantissa_bits;
  Val scale_bits = ToBits(scale);
  Val inverse = FromBits(scale_bits.Const(twice_bias) - scale_bits);
  // (e^x - 1) / 2^k = p + (1 - 2^-k)
  Val whole = Fma(inverse, -0.125, 1);
  Val whole_low = Fma(inverse, -0.125, 1 - whole);
  ValPair sum = FastTwoSum(whole, p.hi);
  return {scale, inverse, sum.hi, sum.lo + (p.lo + whole_low)};
}

double ExpUpperBound(Val x) { return x.is_f64() ? 710 : 89; }
// e^x is 0 below.
double ExpLowerBound(Val x) { return x.is_f64() ? -746 : -105; }

// 0 where e^x is 0, else `scaled`, which a power of two is about to make small. A product that
// underflows to 0 takes x86 some 150 cycles, and a mask makes many of them.
Val ZeroBelow(Val x, Val scaled) { return Select(x < ExpLowerBound(x), scaled.Const(0), scaled); }

// (1 + p) * 2^k for the parts that `x`, where it is not too small, was reduced to with twice the
// bias: two steps keep subnormal results and overflow right.
Val ScaledInTwoSteps(Val x, Val p, Val biased) {
  Val half = biased >> 1;
  Val scale = PowerOfTwo(half, x);
  return ZeroBelow(x, Fma(p, scale, scale)) * PowerOfTwo(biased - half, x);
}

// e^x for x up to 0: the powers of two, all shifted upwards, are normal numbers, and one product
// brings them back.
Val ExpUpToZero(Val x) {
  const int up = x.is_f64() ? 512 : 64;
  Reduced reduced = ReduceByLn2(AtLeast(x, ExpLowerBound(x)), LayoutOf(x).bias + up);
  Val r = reduced.r;
  Val p = Fma(r * r, ExpTail(r), r);
  Val scale = PowerOfTwo(reduced.biased, x);
  return ZeroBelow(x, Fma(p, scale, scale)) * std::ldexp(1.0, -up);
}

}  // namespace

Val ExpInRange(Val x) {
  Reduced reduced = ReduceByLn2(x, LayoutOf(x).bias);
  Val r = reduced.r;
  Val p = Fma(r * r, ExpTail(r), r);
  Val scale = PowerOfTwo(reduced.biased, x);
  return Fma(p, scale, scale);
}

Val Exp(Val x) {
  Val bounded = AtLeast(AtMost(x, ExpUpperBound(x)), ExpLowerBound(x));
  Reduced reduced = ReduceByLn2(bounded, 2 * LayoutOf(x).bias);
  Val r = reduced.r;
  return ScaledInTwoSteps(x, Fma(r * r, ExpTail(r), r), reduced.biased);
}

// Seven terms of the series, those of neighbouring powers at a time.
Val ExpToFloat(Val x) {
  const double shift = RoundingShift(x) + LayoutOf(x).bias;
  Val shifted = Fma(x, 0x1.71547652b82fep+0, shift);
  Val r = Fma(shifted - shift, -kLn2, x);
  Val square = r * r;
  Val low = Fma(square, Fma(r, 0x1.555554433a588p-3, 0x1.0000003a23577p-1), r + 1);
  Val high = Fma(square, Fma(r, 0x1.9f0891504fde6p-13, 0x1.6d8d06ab0eaeep-10),
                 Fma(r, 0x1.111270b63e50cp-7, 0x1.55548dc4d0fb9p-5));
  return Fma(square * square, high, low) * PowerOfTwo(ToBits(shifted), x);
}

Val ExpOfNegative(Val x) { return ExpUpToZero(x); }

Val ExpOfSum(Val x, Val x_low) {
  Val bounded = AtLeast(AtMost(x, ExpUpperBound(x)), ExpLowerBound(x));
  Val low = Select(x == bounded, x_low, 0);
  Reduced reduced = ReduceByLn2(bounded, 2 * LayoutOf(x).bias);
  Val r = reduced.r;
  Val low_part = low + reduced.r_low;
  Val tail = r * r * ExpTail(r);
  Val p = r + (tail + Fma(low_part, r + tail, low_part));
  return ScaledInTwoSteps(x, p, reduced.biased);
}

// Below -40 the result is -1 in double precision, and 1 / scale would overflow.
Val Expm1(Val x) {
  Expm1Parts parts = SplitExpm1(AtLeast(AtMost(x, ExpUpperBound(x)), -40));
  Val result = (parts.hi + parts.lo) * parts.scale * 8;
  return Select(Abs(x) < 0x1p-60, x, result);
}

// e / (1 + e) or 1 / (1 + e) for e = e^-|x|, which is at most 1: no overflow on either side. One
// Newton step with the divisor's lost bits makes the quotient accurate.
Val Logistic(Val x) {
  Val e = ExpUpToZero(-Abs(x));
  Val divisor = e + 1;
  Val divisor_low = e - (divisor - 1);
  Val numerator = Select(x < 0, e, x.Const(1));
  Val inverse = 1 / divisor;
  Val quotient = numerator * inverse;
  Val rest = Fma(-quotient, divisor_low, Fma(-quotient, divisor, numerator));
  return Fma(rest, inverse, quotient);
}

// E / (E + 2), E = e^2|x| - 1. What rounding r lost would be a third of the error of a double.
Val Tanh(Val x) {
  Val y = AtMost(Abs(x), x.is_f64() ? 22 : 10);
  Reduced reduced = ReduceByLn2(y + y, LayoutOf(x).bias);
  Val r = reduced.r;
  Val scale = PowerOfTwo(reduced.biased, x);
  Val p = x.is_f64() ? r + Fma(r * r, ExpTail(r), reduced.r_low) : Fma(r * r, ExpTail(r), r);
  Val e = Fma(p, scale, scale - 1);
  Val divisor = e + 2;
  Val divisor_low = e - (divisor - 2);
  Val inverse = 1 / divisor;
  Val quotient = e * inverse;
  Val rest = Fma(-quotient, divisor_low, Fma(-quotient, divisor, e));
  return CopySign(Fma(rest, inverse, quotient), x);
}

// Coefficients of the two that follow: such that no bf16 value is rounded to the wrong side.
Val LogisticOfBF16(Val x) {
  // 1 / (1 + e^-x), both sides of the fraction 2^-8 of theirs, so that e^-x stays finite as long as
  // the result is none below the smallest subnormal number of bf16.
  constexpr double kUnit = 0x1p-8;
  Val y = AtMost(AtLeast(x, -93.5), 30);
  const double shift = RoundingShift(x) + LayoutOf(x).bias - 8;
  Val shifted = Fma(y, -0x1.715476p+0, shift);
  Val f = Fma(y, -0x1.715476p+0, -(shifted - shift));
  Val p = Horner(f, {0x1.358fb6p-7, 0x1.c9b778p-5, 0x1.ec0184p-3, 0x1.62dfbp-1, 0x1.fffff2p-1});
  return kUnit / Fma(p, PowerOfTwo(ToBits(shifted), x), kUnit);
}

Val TanhOfBF16(Val x) {  // E / (E + 2), E = e^2|x| - 1
  Val y = AtMost(Abs(x), 10);
  const double shift = RoundingShift(x) + LayoutOf(x).bias;
  Val shifted = Fma(y, 0x1.715476p+1, shift);
  Val f = Fma(y, 0x1.715476p+1, -(shifted - shift));
  Val p = f * Horner(f, {0x1.3b441p-7, 0x1.c97ea8p-5, 0x1.ebf97ep-3, 0x1.62e2c4p-1});
  Val scale = PowerOfTwo(ToBits(shifted), x);
  Val e = Fma(p, scale, scale - 1);
  return CopySign(e / (e + 2), x);
}

// (E + E / (E + 1)) / 2 for E = e^|x| - 1: no cancellation near 0.
Val Sinh(Val x) {
  if (!x.is_f64()) return ViaDouble(Sinh, x);
  Val y = AtMost(Abs(x), 711);
  Expm1Parts parts = SplitExpm1(y);
  ValPair sum = FastTwoSum(parts.hi, parts.lo);
  Val half = sum.hi * parts.scale * 4;  // (e^y - 1) / 2
  Val low = sum.lo * (parts.scale * 4);
  Val minus_inverse = Select(y < 40, half / (half + half + 1), 0.5);  // (1 - e^-y) / 2
  Val result = half + (minus_inverse + Select(y < 1, low, 0));
  return CopySign(Select(y < 0x1p-60, y, result), x);
}

// (e^|x| + e^-|x|) / 2; e^|x| / 2 is finite up to where the result is.
Val Cosh(Val x) {
  if (!x.is_f64()) return ViaDouble(Cosh, x);
  Val y = AtMost(Abs(x), 711);
  Reduced reduced = ReduceByLn2(y, LayoutOf(x).bias - 3);
  Val r = reduced.r;
  Val p = r + Fma(r * r, ExpTail(r), reduced.r_low);
  Val scale = PowerOfTwo(reduced.biased, x);
  Val half = Fma(p, scale, scale) * 4;  // e^y / 2
  return half + 0.25 / half;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
