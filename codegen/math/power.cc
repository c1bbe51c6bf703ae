// Roots and powers. x^y = e^(y log x), with log x as a pair of doubles since e^ turns an absolute
// error of the exponent into a relative one of the result; for f32 plain doubles are enough, and
// polynomials of 36 bits.
#include <optional>

#include "codegen/math/internal.h"

namespace hlokit {
namespace {

// x^y for x >= 0; where `settled`, the value is `other`. Not for 1 to an infinite power.
struct Power {
  Val value, settled, other;
};

Power PowerOfDoubles(Val x, Val y) {
  ValPair log = LogPair(x);
  Val edge = (x == 0) | (x == x.Infinity()) | Unordered(x, x);
  log.hi = Select(edge, Select(x == 0, -x.Infinity(), x), log.hi);
  Val hi = y * log.hi;
  Val lo = Fma(y, log.hi, -hi) + y * log.lo;
  return {ExpOfSum(hi, Select(Abs(hi) < 1000, lo, 0)), {}, {}};
}

// Floats that wait for nothing beside the exponent: a loop that steps by powers (an integrator's
// error control) takes as long as this chain.
Power PowerOfFloats(Val x, Val y) {
  constexpr double kOverflow = 89, kUnderflow = -105;  // of e^exponent as a float
  Val exponent = ToDouble(y) * LogOfFloat(ToDouble(x));
  Val large = exponent > kOverflow;
  return {ToFloat(ExpToFloat(exponent)), large | (exponent < kUnderflow),
          Select(large, x.Infinity(), x.Const(0))};
}

// x^c for c = 1/2 or -1/2, or nothing: a root, but for the negative zero and infinity.
std::optional<Val> PowerOfHalf(Val x, Val y) {
  auto* constant = llvm::dyn_cast<llvm::Constant>(y.get());
  if (constant != nullptr && constant->getType()->isVectorTy())
    constant = constant->getSplatValue();
  const auto* exponent = llvm::dyn_cast_or_null<llvm::ConstantFP>(constant);
  if (exponent == nullptr) return std::nullopt;
  const bool root = exponent->isExactlyValue(0.5);
  if (!root && !exponent->isExactlyValue(-0.5)) return std::nullopt;
  Val value = Sqrt(x + 0);
  if (!root) value = 1 / value;
  return Select(x == -x.Infinity(), root ? x.Infinity() : x.Const(0), value);
}

}  // namespace

Val Rsqrt(Val x) { return 1 / Sqrt(x); }

Val Cbrt(Val x) {
  if (!x.is_f64()) return ViaDouble(Cbrt, x);
  Val y = Abs(x);
  Val tiny = y < 0x1p-1022;
  Val scaled = Select(tiny, y * 0x1p54, y);
  // A third of the exponent, from the bits, is within 6 %; a polynomial in t^3/x takes it to 23
  // bits, then one Newton step from a t whose square is exact.
  Val high = ToDouble(Resize(ToBits(scaled) >> 32, 32));
  Val guess =
      y.With(y.builder().CreateFPToSI(Fma(high, 1.0 / 3, 715094163.0).get(), y.IntType(32)));
  Val t = FromBits(ResizeUnsigned(guess, 64) << 32);
  Val ratio = Fma(t * t, t / scaled, -1);
  t = t * Horner(ratio, {0x1.25d79e6350d99p-3, -0x1.662d5f50a5ca1p-3, 0x1.c72460615162dp-3,
                         -0x1.555390a703059p-2, 0x1.ffffff65b0b5cp-1});
  t = FromBits((ToBits(t) + int64_t{1 << 29}) & ~((int64_t{1} << 30) - 1));
  Val quotient = scaled / (t * t);
  t = Fma(t, (quotient - t) / (t + t + quotient), t);
  Val result = Select(tiny, t * 0x1p-18, t);
  Val plain = (y == 0) | !(y < y.Infinity());
  return CopySign(Select(plain, y, result), x);
}

// The rules of C's Annex F.10.4.4 for signs, zeros and infinities: a negative base has a result for
// whole exponents only, negative where the exponent is odd; x^0 and 1^y are 1, even for NaN.
Val Pow(Val x, Val y) {
  if (const std::optional<Val> half = PowerOfHalf(x, y); half.has_value()) return *half;
  Val magnitude = Abs(x);
  Val whole = Floor(y) == y;
  Val half = y * 0.5;
  Val odd = whole & !(Floor(half) == half);
  Val negative = (ToBits(x) < 0) & odd;
  Val one = (y == 0) | (x == 1) | ((magnitude == 1) & (Abs(y) == y.Infinity()));
  Val none = (x < 0) & (magnitude < x.Infinity()) & !whole;
  Val settled = one | none, other = Select(one, 1, x.NaN());
  const Power power = x.is_f64() ? PowerOfDoubles(magnitude, y) : PowerOfFloats(magnitude, y);
  if (power.settled.get() != nullptr) {
    other = Select(settled, other, Select(negative, -power.other, power.other));
    settled = settled | power.settled;
  }
  return Select(settled, other, Select(negative, -power.value, power.value));
}

// Scaled by a power of two where squares would overflow or vanish. Infinite where either is, even
// if the other is NaN (Annex F.10.4.3).
Val Hypot(Val x, Val y) {
  struct Limits {
    double large, down, small, up;
  };
  const Limits limits = x.is_f64() ? Limits{0x1p500, 0x1p-600, 0x1p-400, 0x1p600}
                                   : Limits{0x1p60, 0x1p-70, 0x1p-50, 0x1p100};
  Val a = Abs(x), b = Abs(y);
  Val swap = b > a;
  Val larger = Select(swap, b, a), smaller = Select(swap, a, b);
  Val large = larger > limits.large, small = larger < limits.small;
  Val scale = Select(large, limits.down, Select(small, limits.up, x.Const(1)));
  Val inverse = Select(large, 1 / limits.down, Select(small, 1 / limits.up, x.Const(1)));
  Val u = larger * scale, v = smaller * scale;
  Val result = Sqrt(Fma(u, u, v * v)) * inverse;
  return Select((a == x.Infinity()) | (b == x.Infinity()), x.Infinity(), result);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
