// Every bit pattern of the small float formats against their definition, and roundings by hand.
#include "types/float_convert.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "gtest/gtest.h"

namespace hlokit {
namespace {

using T = ElementType;
constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

const std::vector<T> kSmall = {T::kF16,        T::kBF16,     T::kF8E5M2,        T::kF8E4M3FN,
                               T::kF8E4M3,     T::kF8E3M4,   T::kF8E4M3B11FNUZ, T::kF8E5M2FNUZ,
                               T::kF8E4M3FNUZ, T::kF4E2M1FN, T::kF8E8M0FNU};

// The value by the textbook formula: independent of the shifts of the implementation. NaN where the
// format says so.
double Textbook(T type, uint64_t bits) {
  const FloatFormat& f = FormatOf(type);
  const uint64_t fraction = bits % (uint64_t{1} << f.mantissa_bits);
  const uint64_t field = (bits >> f.mantissa_bits) % (uint64_t{1} << f.exponent_bits);
  const bool negative = f.has_sign && (bits >> (f.mantissa_bits + f.exponent_bits)) & 1;
  const bool top = field == (uint64_t{1} << f.exponent_bits) - 1;
  const double unit = std::ldexp(1.0, -f.mantissa_bits);
  if (top && f.has_infinity) return fraction != 0 ? kNan : negative ? -kInf : kInf;
  if (type == T::kF8E4M3FN && top && fraction == 7) return kNan;
  if (type == T::kF8E8M0FNU) return top ? kNan : std::ldexp(1.0, static_cast<int>(field) - 127);
  if (!f.has_negative_zero && negative && field == 0 && fraction == 0) return kNan;
  const double magnitude = field == 0
                               ? std::ldexp(fraction * unit, 1 - f.bias)
                               : std::ldexp(1 + fraction * unit, static_cast<int>(field) - f.bias);
  return negative ? -magnitude : magnitude;
}

TEST(FloatConvert, EveryPatternHasItsValueAndComesBack) {
  for (T type : kSmall) {
    for (uint64_t bits = 0; bits < uint64_t{1} << BitWidth(type); ++bits) {
      const double want = Textbook(type, bits), have = FloatFromBits(type, bits);
      if (std::isnan(want)) {
        ASSERT_TRUE(std::isnan(have)) << Text(type) << " " << bits;
        ASSERT_TRUE(std::isnan(FloatFromBits(type, FloatToBits(type, have))))
            << Text(type) << " " << bits;
        continue;
      }
      ASSERT_EQ(have, want) << Text(type) << " " << bits;
      ASSERT_EQ(std::signbit(have), std::signbit(want)) << Text(type) << " " << bits;
      ASSERT_EQ(FloatToBits(type, have), bits) << Text(type);
    }
  }
}

// Between neighbours the nearer wins, and of two as near the even one, at the last digit of a
// double.
TEST(FloatConvert, RoundsOnceToNearestEven) {
  for (T type : kSmall) {
    if (type == T::kF8E8M0FNU) continue;  // its powers have no even neighbour: below
    for (uint64_t bits = 0; std::isfinite(FloatFromBits(type, bits + 1)); ++bits) {
      const double low = FloatFromBits(type, bits), high = FloatFromBits(type, bits + 1);
      if (high <= low) break;
      const double middle = (low + high) / 2;  // exact
      ASSERT_EQ(FloatToBits(type, middle), bits % 2 == 0 ? bits : bits + 1)
          << Text(type) << " " << middle;
      ASSERT_EQ(FloatToBits(type, std::nextafter(middle, 0)), bits) << Text(type) << " " << middle;
      ASSERT_EQ(FloatToBits(type, std::nextafter(middle, kInf)), bits + 1)
          << Text(type) << " " << middle;
    }
  }
}

TEST(FloatConvert, SpecialValues) {
  struct Case {
    T type;
    double value;
    uint64_t bits;
  };
  for (const Case& c : {Case{T::kF16, 65519.9, 0x7bff},   {T::kF16, 65520, 0x7c00},
                        {T::kF16, -kInf, 0xfc00},         {T::kF16, 1e-300, 0},
                        {T::kF16, -1e-300, 0x8000},       {T::kBF16, 3.4e38, 0x7f80},
                        {T::kBF16, 3.38e38, 0x7f7e},      {T::kBF16, kNan, 0x7fc0},
                        {T::kF8E5M2, 61439, 0x7b},        {T::kF8E5M2, 61440, 0x7c},
                        {T::kF8E5M2, kNan, 0x7e},         {T::kF8E4M3FN, 464, 0x7e},
                        {T::kF8E4M3FN, 464.1, 0x7f},      {T::kF8E4M3FN, kInf, 0x7f},
                        {T::kF8E4M3FN, -kInf, 0xff},      {T::kF8E4M3, 248, 0x78},
                        {T::kF8E4M3, kNan, 0x7c},         {T::kF8E3M4, 15.7, 0x6f},
                        {T::kF8E3M4, 15.75, 0x70},        {T::kF8E4M3FNUZ, 1e9, 0x80},
                        {T::kF8E4M3FNUZ, -0.0, 0},        {T::kF8E5M2FNUZ, kInf, 0x80},
                        {T::kF8E4M3B11FNUZ, -1e-9, 0},    {T::kF4E2M1FN, 100, 7},
                        {T::kF4E2M1FN, -kInf, 15},        {T::kF4E2M1FN, 5, 6},
                        {T::kF4E2M1FN, kNan, 8},          {T::kF8E8M0FNU, 0, 0xff},
                        {T::kF8E8M0FNU, -1, 0xff},        {T::kF8E8M0FNU, 1.49, 0x7f},
                        {T::kF8E8M0FNU, 1.5, 0x80},       {T::kF8E8M0FNU, 3, 0x81},
                        {T::kF8E8M0FNU, 1e-40, 0},        {T::kF8E8M0FNU, 0x1.01p-127, 1},
                        {T::kF8E8M0FNU, 0x1.8p127, 0xff}, {T::kF32, 0.1, 0x3dcccccd},
                        {T::kF64, -2, 0xc000000000000000}}) {
    EXPECT_EQ(FloatToBits(c.type, c.value), c.bits) << Text(c.type) << " " << c.value;
  }
  EXPECT_EQ(FloatFromBits(T::kF32, 0x3f800000), 1.0);
  EXPECT_EQ(FloatFromBits(T::kF64, 0x3ff8000000000000), 1.5);
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
