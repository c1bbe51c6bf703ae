// Conversions between element types, rounded as XLA rounds them. f16 and bf16 are reached from f64
// and from integers by way of f32, in two roundings. The smaller floats are reached from f64 by
// one: it is first rounded to odd in f32 (the last bit set where anything was lost), which a second
// rounding to fewer bits cannot mistake for a tie. Floats to integers saturate, NaN gives 0;
// integers to integers wrap.
#include "codegen/scalars/convert.h"

#include <algorithm>
#include <cmath>

#include "codegen/scalars/float_internal.h"
#include "codegen/scalars/integer_internal.h"
#include "types/float_convert.h"

namespace hlokit {
namespace {

// `x` is float or double; `to` any float type.
Val FloatToFloat(ElementType to, Val x) {
  if (to == ElementType::kF64) return ToDouble(x);
  if (to == ElementType::kF32) return ToFloat(x);
  if (!x.is_f64() || BitWidth(to) == 16) return RoundFloat(to, ToFloat(x));
  Val odd = NarrowRoundingToOdd(x);
  // That format has no zero: a double that is none as a float is NaN in it.
  if (to == ElementType::kF8E8M0FNU) odd = Select(ToFloat(x) == 0, 0, odd);
  return RoundFloat(to, odd);
}

Val IntegerToFloat(ElementType from, ElementType to, Val x) {
  auto& b = x.builder();
  const bool is_unsigned = IsUnsigned(from) || IsPred(from);
  llvm::Type* type = to == ElementType::kF64 ? x.DoubleType() : x.FloatType();
  return FloatToFloat(
      to, x.With(is_unsigned ? b.CreateUIToFP(x.get(), type) : b.CreateSIToFP(x.get(), type)));
}

// Truncation with saturation at the logical width of `to`; NaN gives 0.
Val FloatToInteger(ElementType to, Val x) {
  auto& b = x.builder();
  int width = BitWidth(to), storage = 8 * ByteWidth(to);
  bool is_signed = IsSigned(to);
  // Bounds are powers of two, so exact; the comparison leaves room for fractions beyond them.
  double above = std::ldexp(1.0, width - is_signed);
  double below = is_signed ? -above : 0;
  int64_t lowest = is_signed ? static_cast<int64_t>(~uint64_t{0} << (width - 1)) : 0;
  int value_bits = width - is_signed;
  uint64_t highest = value_bits == 0 ? 0 : ~uint64_t{0} >> (64 - value_bits);
  // Narrow targets go through 32 bits, which every vector unit converts.
  int working = std::max(storage, 32);
  bool native_signed = is_signed || width < 32;
  Val inside = Select((x > below - 1) & (x < above), x, 0);
  llvm::Type* type = x.IntType(working);
  Val value = x.With(native_signed ? b.CreateFPToSI(inside.get(), type)
                                   : b.CreateFPToUI(inside.get(), type));
  value = Resize(value, storage);
  value = Select(x >= above, value.Const(highest), value);
  return Select(x <= below, value.Const(lowest), value);
}

Val ToPred(Val x) {
  auto& b = x.builder();
  llvm::Value* zero = llvm::Constant::getNullValue(x.type());
  return x.With(x.is_float() ? b.CreateFCmpUNE(x.get(), zero) : b.CreateICmpNE(x.get(), zero));
}

Val ConvertReal(ElementType from, ElementType to, Val x) {
  if (from == to) return x;
  if (IsPred(to)) return ToPred(x);
  if (IsFloat(to)) return IsFloat(from) ? FloatToFloat(to, x) : IntegerToFloat(from, to, x);
  if (IsFloat(from)) return FloatToInteger(to, x);
  int storage = 8 * ByteWidth(to);
  return WrapInteger(to, IsSigned(from) ? Resize(x, storage) : ResizeUnsigned(x, storage));
}

// The pattern of a float of format `f` (no NaN) with fewer exponent and mantissa bits.
// Rounding to nearest even on the pattern; what exceeds the narrower exponent becomes infinity,
// what is subnormal in it becomes 0, as ReducePrecision of XLA does.
Val ReduceBits(const FloatFormat& f, int64_t exponent_bits, int64_t mantissa_bits, Val bits) {
  uint64_t all = ~uint64_t{0} >> (65 - bits.bits());
  Val sign = bits & ~all;
  Val magnitude = bits & all;
  if (mantissa_bits < f.mantissa_bits) {
    int dropped = f.mantissa_bits - static_cast<int>(mantissa_bits);
    uint64_t half = uint64_t{1} << (dropped - 1);
    magnitude = (magnitude + ((magnitude >> dropped) & 1) + (half - 1)) & ~(2 * half - 1);
  }
  if (exponent_bits < f.exponent_bits) {
    int bias = (1 << (exponent_bits - 1)) - 1;
    uint64_t infinity = ((uint64_t{1} << f.exponent_bits) - 1) << f.mantissa_bits;
    uint64_t too_large = static_cast<uint64_t>(f.bias + bias + 1) << f.mantissa_bits;
    uint64_t smallest = static_cast<uint64_t>(f.bias - bias + 1) << f.mantissa_bits;
    magnitude = Select(magnitude >= too_large, infinity, magnitude);
    magnitude = Select(magnitude < smallest, 0, magnitude);
  }
  return magnitude | sign;
}

// Types whose values f16 has, other than f8e5m2.
bool FitsInHalf(ElementType type) {
  return IsNarrowFloat(type) && BitWidth(type) <= 16 && type != ElementType::kBF16 &&
         type != ElementType::kF8E8M0FNU && type != ElementType::kF8E5M2;
}

// To f8e5m2 in 16 bits.
ScalarValue ConvertByHalf(Val x) {
  auto& b = x.builder();
  constexpr ElementType kTo = ElementType::kF8E5M2;
  Val pattern = RoundHalfToF8(x.With(b.CreateFPTrunc(x.get(), x.Shaped(b.getHalfTy()))));
  return {DecodeFloat(kTo, pattern).get(), nullptr, pattern.get(), kTo};
}

}  // namespace

ScalarValue EmitConvert(llvm::IRBuilderBase& builder, ElementType from, ElementType to,
                        const ScalarValue& x) {
  if (x.memory != nullptr && x.memory_type == to) return x;  // it was loaded as what is asked for
  if (to == ElementType::kF8E5M2 && FitsInHalf(from)) return ConvertByHalf(Val(builder, x.re));
  ElementType from_part = RealComponent(from), to_part = RealComponent(to);
  auto convert = [&](llvm::Value* v) {
    return ConvertReal(from_part, to_part, Val(builder, v)).get();
  };
  if (IsComplex(from) && IsPred(to)) {
    return {builder.CreateOr(convert(x.re), convert(x.im))};
  }
  ScalarValue result = {convert(x.re)};
  if (IsComplex(to))
    result.im =
        IsComplex(from) ? convert(x.im) : llvm::Constant::getNullValue(result.re->getType());
  return result;
}

ScalarValue EmitRoundOwnResult(llvm::IRBuilderBase& builder, ElementType to, const ScalarValue& x) {
  return {RoundOwnResult(to, Val(builder, x.re)).get()};
}

ScalarValue EmitBitcastConvert(llvm::IRBuilderBase& builder, ElementType from, ElementType to,
                               const ScalarValue& x) {
  if (from == to || IsComplex(from)) return x;
  Val memory(builder, ToMemoryForm(builder, from, x));
  Val bits = memory.is_float() ? ToBits(memory) : memory;
  if (IsInteger(to)) return {WrapInteger(to, bits).get()};
  llvm::Type* type = bits.Shaped(MemoryType(builder.getContext(), to));
  // Sub-byte patterns keep only their own bits.
  if (IsSubByte(to)) bits = bits & ((1 << BitWidth(to)) - 1);
  return FromMemoryForm(builder, to, builder.CreateBitCast(bits.get(), type));
}

ScalarValue EmitReducePrecision(llvm::IRBuilderBase& builder, ElementType type,
                                int64_t exponent_bits, int64_t mantissa_bits,
                                const ScalarValue& value) {
  const ElementType format = ReducePrecisionFormat(type);
  Val x(builder, value.re);
  Val memory = x.With(ToMemoryForm(builder, format, value));
  Val bits = memory.is_float() ? ToBits(memory) : memory;
  Val reduced = ReduceBits(FormatOf(format), exponent_bits, mantissa_bits, bits);
  llvm::Value* back = builder.CreateBitCast(reduced.get(), memory.type());
  Val result = Select(Unordered(x, x), x, x.With(FromMemoryForm(builder, format, back).re));
  return {(format != type ? RoundFloat(type, result) : result).get()};
}

ScalarValue EmitStochasticConvert(llvm::IRBuilderBase& builder, ElementType from, ElementType to,
                                  const ScalarValue& value, const ScalarValue& random) {
  if (!IsFloat(from) || !IsInteger(to)) return {};
  Val x(builder, value.re), draw(builder, random.re);
  Val magnitude = ToDouble(Abs(x));
  Val whole = Floor(magnitude);
  Val share = draw.With(builder.CreateUIToFP(draw.get(), draw.DoubleType())) *
              std::ldexp(1.0, -draw.bits());
  Val rounded = CopySign(Select(share < magnitude - whole, whole + 1, whole), ToDouble(x));
  return {FloatToInteger(to, rounded).get()};
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
