// Float bit patterns to double and back: one template, instantiated for each format.
//
// Every format is a row: widths of exponent and mantissa, bias, whether it has infinities, negative
// zero, a sign and NaN, and three patterns (largest finite, overflow, NaN). Decoding a normal
// number moves the exponent by the difference of the biases; a subnormal one is its integer times
// the smallest number. Encoding rounds to nearest, ties to even, from double at once, so it is
// right for every value that a double holds. The fnuz formats spell NaN as negative zero, f8e8m0fnu
// has neither sign nor mantissa and rounds to powers of two.
#include "types/float_convert.h"

#include <bit>
#include <cstring>

#include "support/status.h"

namespace hlokit {
namespace {

// All bit patterns lack the sign bit, except that fnuz types and f4e2m1fn spell NaN as negative
// zero.
struct Format : FloatFormat {
  uint64_t max_finite;
  uint64_t overflow;  // what too large a value becomes
  uint64_t nan;
};

constexpr Format MakeFormat(ElementType type) {
  //        exponent, mantissa, bias, infinity, -0, sign, NaN      max finite, overflow, NaN
  switch (type) {
    case ElementType::kF16:
      return {{5, 10, 15, true, true, true, true}, 0x7bff, 0x7c00, 0x7e00};
    case ElementType::kBF16:
      return {{8, 7, 127, true, true, true, true}, 0x7f7f, 0x7f80, 0x7fc0};
    case ElementType::kF32:
      return {{8, 23, 127, true, true, true, true}, 0x7f7fffff, 0x7f800000, 0x7fc00000};
    case ElementType::kF64:
      return {{11, 52, 1023, true, true, true, true},
              0x7fefffffffffffff,
              0x7ff0000000000000,
              0x7ff8000000000000};
    case ElementType::kF8E5M2:
      return {{5, 2, 15, true, true, true, true}, 0x7b, 0x7c, 0x7e};
    case ElementType::kF8E4M3FN:
      return {{4, 3, 7, false, true, true, true}, 0x7e, 0x7f, 0x7f};
    case ElementType::kF8E4M3:
      return {{4, 3, 7, true, true, true, true}, 0x77, 0x78, 0x7c};
    case ElementType::kF8E3M4:
      return {{3, 4, 3, true, true, true, true}, 0x6f, 0x70, 0x78};
    case ElementType::kF8E4M3B11FNUZ:
      return {{4, 3, 11, false, false, true, true}, 0x7f, 0x80, 0x80};
    case ElementType::kF8E5M2FNUZ:
      return {{5, 2, 16, false, false, true, true}, 0x7f, 0x80, 0x80};
    case ElementType::kF8E4M3FNUZ:
      return {{4, 3, 8, false, false, true, true}, 0x7f, 0x80, 0x80};
    case ElementType::kF4E2M1FN:
      return {{2, 1, 1, false, true, true, false}, 0x7, 0x7, 0x8};
    case ElementType::kF8E8M0FNU:
      return {{8, 0, 127, false, false, false, true}, 0xfe, 0xff, 0xff};
    default:
      return {};
  }
}

// Pattern to value: normal numbers by moving the exponent's bias, subnormal ones by a product.
template <ElementType type>
constexpr Format kFormat = MakeFormat(type);

constexpr double PowerOfTwo(int exponent) {
  return std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52);
}

template <ElementType type>
double Decode(uint64_t bits) {
  constexpr Format f = kFormat<type>;
  constexpr int kMantissa = f.mantissa_bits;
  constexpr uint64_t kSignBit = f.has_sign ? uint64_t{1} << (f.exponent_bits + kMantissa) : 0;
  const uint64_t sign = (bits & kSignBit) != 0 ? uint64_t{1} << 63 : 0;
  const uint64_t magnitude = bits & ((uint64_t{1} << (f.exponent_bits + kMantissa)) - 1);
  const uint64_t fraction = (bits & ((uint64_t{1} << kMantissa) - 1)) << (52 - kMantissa);
  if (magnitude > f.max_finite) {
    constexpr uint64_t kInfinity = uint64_t{0x7ff} << 52;
    return std::bit_cast<double>(
        sign | (f.has_infinity ? kInfinity | fraction : kInfinity | kInfinity >> 1));
  }
  if (f.has_sign && !f.has_negative_zero && bits == f.nan)
    return std::bit_cast<double>(uint64_t{0xfff8} << 48);
  const uint64_t exponent = magnitude >> kMantissa;
  if (exponent == 0 && f.has_sign) {
    const double value = static_cast<double>(magnitude) * PowerOfTwo(1 - f.bias - kMantissa);
    return sign != 0 ? -value : value;
  }
  return std::bit_cast<double>(sign | (exponent + 1023 - f.bias) << 52 | fraction);
}

// Value to pattern, rounded to nearest, ties to even, by adding just below half of the last place
// kept. Subnormal results shift further; a carry out of the mantissa increments the exponent by
// itself.
template <ElementType type>
uint64_t Encode(double value) {
  constexpr Format f = kFormat<type>;
  constexpr int kSmallest =
      f.has_sign ? 1 - f.bias : -f.bias;  // exponent of the smallest normal number
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  const uint64_t magnitude = bits & ~(uint64_t{1} << 63);
  const uint64_t sign = (bits >> 63) << (f.exponent_bits + f.mantissa_bits);
  if (type == ElementType::kF8E8M0FNU) {
    if (sign != 0 || static_cast<float>(value) == 0) return f.nan;
    if (value > PowerOfTwo(-127) && value < PowerOfTwo(-126))
      return 1;  // as ml_dtypes and XLA, not the nearest
  }
  if (magnitude > uint64_t{0x7ff} << 52) {
    const uint64_t payload =
        type == ElementType::kF16 ? magnitude >> 42 & 0x3ff : 0;  // as the machine's conversion
    return f.nan | payload | (f.has_sign ? sign : 0);
  }
  const int exponent = static_cast<int>(magnitude >> 52) - 1023;
  uint64_t mantissa = magnitude & ((uint64_t{1} << 52) - 1);
  if (exponent != -1023) mantissa |= uint64_t{1} << 52;
  int shift = 52 - f.mantissa_bits;
  if (exponent < kSmallest) shift += kSmallest - exponent;
  if (shift > 60) shift = 60;
  mantissa = (mantissa + ((uint64_t{1} << shift) >> 1) - 1 + ((mantissa >> shift) & 1)) >> shift;
  // The implicit one carries into the exponent, so that field starts one below.
  const int64_t field = (exponent < kSmallest ? kSmallest : exponent) + f.bias - 1;
  int64_t result = field * (int64_t{1} << f.mantissa_bits) + static_cast<int64_t>(mantissa);
  if (result < 0) result = 0;
  if (result == 0 && !f.has_negative_zero) return 0;
  return (static_cast<uint64_t>(result) > f.max_finite ? f.overflow
                                                       : static_cast<uint64_t>(result)) |
         sign;
}

// Calls fn<type>() for the float type `type`.
#define HLOKIT_FOR_SMALL_FLOAT(type, fn, argument)        \
  switch (type) {                                         \
    case ElementType::kF16:                               \
      return fn<ElementType::kF16>(argument);             \
    case ElementType::kBF16:                              \
      return fn<ElementType::kBF16>(argument);            \
    case ElementType::kF8E5M2:                            \
      return fn<ElementType::kF8E5M2>(argument);          \
    case ElementType::kF8E4M3FN:                          \
      return fn<ElementType::kF8E4M3FN>(argument);        \
    case ElementType::kF8E4M3:                            \
      return fn<ElementType::kF8E4M3>(argument);          \
    case ElementType::kF8E3M4:                            \
      return fn<ElementType::kF8E3M4>(argument);          \
    case ElementType::kF8E4M3B11FNUZ:                     \
      return fn<ElementType::kF8E4M3B11FNUZ>(argument);   \
    case ElementType::kF8E5M2FNUZ:                        \
      return fn<ElementType::kF8E5M2FNUZ>(argument);      \
    case ElementType::kF8E4M3FNUZ:                        \
      return fn<ElementType::kF8E4M3FNUZ>(argument);      \
    case ElementType::kF4E2M1FN:                          \
      return fn<ElementType::kF4E2M1FN>(argument);        \
    case ElementType::kF8E8M0FNU:                         \
      return fn<ElementType::kF8E8M0FNU>(argument);       \
    default:                                              \
      CHECK(false) << "not a float type: " << Text(type); \
      std::abort();                                       \
  }

}  // namespace

double FloatFromBits(ElementType type, uint64_t bits) {
  if (type == ElementType::kF32) return std::bit_cast<float>(static_cast<uint32_t>(bits));
  if (type == ElementType::kF64) return std::bit_cast<double>(bits);
  HLOKIT_FOR_SMALL_FLOAT(type, Decode, bits)
}

uint64_t FloatToBits(ElementType type, double value) {
  if (type == ElementType::kF32) return std::bit_cast<uint32_t>(static_cast<float>(value));
  if (type == ElementType::kF64) return std::bit_cast<uint64_t>(value);
  HLOKIT_FOR_SMALL_FLOAT(type, Encode, value)
}

#undef HLOKIT_FOR_SMALL_FLOAT

ElementType ReducePrecisionFormat(ElementType type) {
  if (BitWidth(type) > 8) return type;
  return FormatOf(type).exponent_bits > FormatOf(ElementType::kF16).exponent_bits
             ? ElementType::kF32
             : ElementType::kF16;
}

const FloatFormat& FormatOf(ElementType type) {
  static const auto* const formats = [] {
    auto* all = new FloatFormat[kElementTypeCount];
    for (int i = 0; i < kElementTypeCount; ++i) all[i] = MakeFormat(static_cast<ElementType>(i));
    return all;
  }();
  CHECK(IsFloat(type)) << "not a float type: " << Text(type);
  return formats[static_cast<int>(type)];
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
