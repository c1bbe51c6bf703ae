// Rounding to f16, bf16, f8 and f4 formats, and their bit patterns.
//
// Everything is integer arithmetic on the bits of an f32, so that it works on vectors of any width
// and needs no instruction that a processor may lack.
//   round to n bits less:  bits + (half of the last bit kept, less one) + (that bit), then cut
// A carry runs out of the mantissa into the exponent, which is right: 1.111 rounds to 10.00.
// Subnormal numbers are made by one addition: adding a power of two brings the multiple of the
// smallest number into the low bits, rounded by the machine; decoding takes it away again.
// Formats differ in three facts (FloatFormat): whether they have infinities, a negative zero, and
// NaN. What is too large becomes infinity, NaN, or the largest number, in this order of preference.
#include "codegen/scalars/float_internal.h"

#include <cmath>

#include "llvm/IR/IntrinsicInst.h"
#include "types/float_convert.h"

namespace hlokit {
namespace {

constexpr int kMantissa = 23;
constexpr int kBias = 127;
constexpr uint32_t kInfinityBits = 0x7f800000;

Val Magnitude(Val bits) { return bits & 0x7fffffff; }
Val SignBit(Val bits) { return bits & 0x80000000u; }

double MinNormal(const FloatFormat& f) { return std::ldexp(1.0, 1 - f.bias); }

// The exponent field above all finite numbers, if the format keeps one for inf and NaN.
int FirstSpecial(const FloatFormat& f) { return ((1 << f.exponent_bits) - 1) << f.mantissa_bits; }

double MaxFinite(ElementType type, const FloatFormat& f) {
  if (f.has_infinity) return FloatFromBits(type, FirstSpecial(f) - 1);
  // Without infinities NaN is the last pattern of fn types, none in f4 and fnuz types.
  bool last_is_nan = f.has_negative_zero && f.has_nan;
  return FloatFromBits(type, (1 << (f.exponent_bits + f.mantissa_bits)) - 1 - last_is_nan);
}

// What a float at or above the format's range turns into, apart from the sign.
float Overflow(ElementType type, const FloatFormat& f) {
  if (f.has_infinity) return INFINITY;
  return f.has_nan ? NAN : static_cast<float>(MaxFinite(type, f));
}

// A float's bits and what rounding adds to them, half of the last bit that stays less one, and that
// bit itself: taken away as ~(half - 2 | last), which AVX512 makes in one step. Carries run into
// the exponent as they should.
Val CarryInto(Val bits, int dropped) {
  const uint32_t half = uint32_t{1} << (dropped - 1);
  return bits - !(((bits >> dropped) & 1) | (half - 2));
}

Val RoundBits(Val bits, int dropped) {  // nearest even
  return CarryInto(bits, dropped) & ~((uint32_t{1} << dropped) - 1);
}

// Whether arithmetic of the module's target gives NaNs with all bits set, 0x7fffffff, as NVIDIA's
// GPUs do: to such a NaN nothing may be added.
bool MakesFullNaNs(const llvm::IRBuilderBase& b) {
  return llvm::StringRef(b.GetInsertBlock()->getModule()->getTargetTriple()).starts_with("nvptx");
}

// Whether x is the result of arithmetic, which makes all of its NaNs; others may only have moved.
bool IsOwnResult(llvm::Value* x) {
  if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(x))
    return call->getIntrinsicID() == llvm::Intrinsic::fma ||
           call->getIntrinsicID() == llvm::Intrinsic::sqrt;
  const auto* const i = llvm::dyn_cast<llvm::BinaryOperator>(x);
  return i != nullptr && i->getType()->isFPOrFPVectorTy();
}

// By the instruction that GPUs have for it, whose NaN is 0x7fff: what arithmetic's own are rounded
// to anyhow. Others keep their upper half.
Val RoundToBF16AtOnce(Val x) {
  auto& b = x.builder();
  Val rounded = ToBits(x.With(b.CreateFPTrunc(x.get(), x.Shaped(b.getBFloatTy()))));
  if (!IsOwnResult(x.get()))
    rounded = Select(Unordered(x, x), ResizeUnsigned(ToBits(x) >> 16, 16) | 0x40, rounded);
  return FromBits(ResizeUnsigned(rounded, 32) << 16);
}

Val RoundToBF16(Val x) {
  if (MakesFullNaNs(x.builder())) return RoundToBF16AtOnce(x);
  Val bits = ToBits(x);
  Val rounded = Select(Unordered(x, x), bits | 0x400000, CarryInto(bits, 16));
  return FromBits(rounded & 0xffff0000u);
}

Val RoundToHalf(Val x) {
  auto& b = x.builder();
  return x.With(b.CreateFPExt(b.CreateFPTrunc(x.get(), x.Shaped(b.getHalfTy())), x.FloatType()));
}

// f8e5m2 is the upper half of f16.
Val DecodeUpperHalf(Val pattern) {
  auto& b = pattern.builder();
  Val half = FromBits(ResizeUnsigned(pattern, 16) << 8);
  return pattern.With(b.CreateFPExt(half.get(), pattern.FloatType()));
}

Val EncodeUpperHalf(Val value) {
  auto& b = value.builder();
  Val half = value.With(b.CreateFPTrunc(value.get(), value.Shaped(b.getHalfTy())));
  return ResizeUnsigned(ToBits(half) >> 8, 8);
}

// f8e8m0fnu: powers of two from 2^-127 on, ties up; what is not positive is NaN.
Val RoundToPower(Val x) {
  Val bits = ToBits(x);
  Val tiny = UnsignedLess(bits, bits.Const(0x800000));
  // Between the two smallest powers XLA rounds up always.
  Val smallest =
      Select(UnsignedLess(bits, bits.Const(0x400001)), bits.Const(0x400000), bits.Const(0x800000));
  Val rounded = (bits + 0x400000) & kInfinityBits;
  // Positive by its bits: where subnormals are flushed, a comparison takes 2^-127 for zero.
  Val valid = UnsignedLess(bits - 1, bits.Const(kInfinityBits - 1)) & !(rounded == kInfinityBits);
  return FromBits(Select(valid, Select(tiny, smallest, rounded), 0x7fc00000));
}

Val DecodePower(Val pattern) {
  Val bits = ResizeUnsigned(pattern, 32);
  Val value = Select(bits == 0, 0x400000, bits << kMantissa);
  return FromBits(Select(bits == 0xff, 0x7fc00000, value));
}

Val DecodeSmall(ElementType type, Val pattern) {
  FloatFormat f = FormatOf(type);
  int width = f.exponent_bits + f.mantissa_bits;
  Val wide = ResizeUnsigned(pattern, 32);
  Val magnitude = wide & ((1 << width) - 1);
  Val fraction = magnitude << (kMantissa - f.mantissa_bits);
  Val normal = fraction + ((kBias - f.bias) << kMantissa);
  // Subnormals: put the fraction under the leading one of the smallest normal number and take that
  // one away.
  Val lifted = FromBits(fraction + ((kBias + 1 - f.bias) << kMantissa)) - MinNormal(f);
  Val bits = Select(magnitude < (1 << f.mantissa_bits), ToBits(lifted), normal);
  if (f.has_infinity) {
    bits = Select(magnitude >= FirstSpecial(f), fraction | kInfinityBits, bits);
  } else if (f.has_nan && f.has_negative_zero) {
    bits = Select(magnitude == (1 << width) - 1, 0x7fc00000, bits);
  }
  bits = bits | ((wide & (1 << width)) << (31 - width));
  if (!f.has_negative_zero) bits = Select(wide == (1 << width), 0xffc00000, bits);
  return FromBits(bits);
}

Val EncodeSmall(ElementType type, Val x) {
  FloatFormat f = FormatOf(type);
  int width = f.exponent_bits + f.mantissa_bits, dropped = kMantissa - f.mantissa_bits;
  Val bits = ToBits(x);
  Val magnitude = Magnitude(bits);
  Val normal = (magnitude >> dropped) - ((kBias - f.bias) << f.mantissa_bits);
  // Subnormals: adding a power of two brings their integer multiple into the low bits.
  double shift = std::ldexp(1.0, 1 - f.bias + dropped);
  Val shifted = ToBits(FromBits(magnitude) + shift);
  Val pattern =
      Select(FromBits(magnitude) < MinNormal(f), shifted - ToBits(x.Const(shift)), normal);
  if (f.has_infinity) {
    Val special = ((magnitude >> dropped) & ((1 << f.mantissa_bits) - 1)) | FirstSpecial(f);
    pattern = Select(magnitude >= kInfinityBits, special, pattern);
  } else if (f.has_nan && f.has_negative_zero) {
    pattern = Select(Unordered(x, x), (1 << width) - 1, pattern);
  }
  pattern = pattern | ((bits >> (31 - width)) & (1 << width));
  if (!f.has_negative_zero) {
    pattern = Select(Unordered(x, x), 1 << width, Select(magnitude == 0, 0, pattern));
  } else if (!f.has_nan) {
    pattern = Select(Unordered(x, x), 1 << width, pattern);
  }
  return ResizeUnsigned(pattern, 8);
}

// With `plain_nan`, a NaN has no more bits than the type keeps.
Val RoundToSmall(ElementType type, Val x, bool plain_nan = false) {
  FloatFormat f = FormatOf(type);
  Val bits = ToBits(x);
  Val magnitude = FromBits(Magnitude(bits));
  double shift = std::ldexp(1.0, 1 - f.bias + kMantissa - f.mantissa_bits);
  Val subnormal = (magnitude + shift) - shift;
  Val normal = FromBits(RoundBits(Magnitude(bits), kMantissa - f.mantissa_bits));
  Val rounded = Select(magnitude < MinNormal(f), subnormal, normal);
  rounded = Select(rounded > MaxFinite(type, f), Overflow(type, f), rounded);
  Val result = ToBits(rounded) | SignBit(bits);
  if (!f.has_negative_zero) result = Select(rounded == 0, 0, result);
  // The type without NaN spells it -0.
  if (!f.has_nan) return FromBits(Select(Unordered(x, x), 0x80000000u, result));
  if (plain_nan) return FromBits(result);
  return FromBits(Select(Unordered(x, x), bits | 0x400000, result));
}

}  // namespace

Val DecodeFloat(ElementType type, Val pattern) {
  auto& b = pattern.builder();
  switch (type) {
    case ElementType::kF16:
      return pattern.With(b.CreateFPExt(pattern.get(), pattern.FloatType()));
    case ElementType::kBF16:
      return FromBits(ResizeUnsigned(pattern, 32) << 16);
    case ElementType::kF8E5M2:
      return DecodeUpperHalf(pattern);
    case ElementType::kF8E8M0FNU:
      return DecodePower(pattern);
    default:
      return DecodeSmall(type, pattern);
  }
}

Val EncodeFloat(ElementType type, Val value) {
  auto& b = value.builder();
  switch (type) {
    case ElementType::kF16:
      return value.With(b.CreateFPTrunc(value.get(), value.Shaped(b.getHalfTy())));
    case ElementType::kBF16:
      return ResizeUnsigned(ToBits(value) >> 16, 16);
    case ElementType::kF8E5M2:
      return EncodeUpperHalf(value);
    case ElementType::kF8E8M0FNU:
      return ResizeUnsigned(ToBits(value) >> kMantissa, 8);
    default:
      return EncodeSmall(type, value);
  }
}

Val RoundFloat(ElementType type, Val x) {
  switch (type) {
    case ElementType::kF16:
      return RoundToHalf(x);
    case ElementType::kBF16:
      return RoundToBF16(x);
    case ElementType::kF8E8M0FNU:
      return RoundToPower(x);
    default:
      return RoundToSmall(type, x);
  }
}

Val RoundOwnResult(ElementType type, Val x) {
  if (MakesFullNaNs(x.builder())) return RoundFloat(type, x);
  if (type == ElementType::kF16 || type == ElementType::kF8E8M0FNU) return RoundFloat(type, x);
  if (type != ElementType::kBF16) return RoundToSmall(type, x, /*plain_nan=*/true);
  // No carry leaves the low half of a NaN, which is zero.
  return FromBits(RoundBits(ToBits(x), 16));
}

Val RoundHalfToF8(Val half) {
  Val bits = ToBits(half);
  Val rounded = bits - !(((bits >> 8) & 1) | 0x7e);
  Val pattern = Select(Unordered(half, half), bits | 0x200, rounded);
  return ResizeUnsigned(pattern >> 8, 8);
}

Val NarrowRoundingToOdd(Val x) {
  Val rounded = ToFloat(x);
  Val back = ToDouble(rounded);
  Val bits = ToBits(rounded);
  Val away = Abs(x) < Abs(back);
  Val toward_zero = Select(away, bits - 1, bits);
  return FromBits(Select((back == x) | Unordered(x, x), bits, toward_zero | 1));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
