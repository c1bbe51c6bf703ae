// Text keeps the bits of every value: what is printed reads back as it was.
#include <bit>
#include <cmath>
#include <cstring>
#include <random>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "parser/parser.h"
#include "types/float_convert.h"
#include "types/literal_text.h"

namespace hlokit {
namespace {

std::string Bytes(const Literal& literal) {
  return std::string(reinterpret_cast<const char*>(literal.data()), literal.byte_size());
}

// Where the bytes of a literal differ from those of what its text reads as; -1 nowhere.
int64_t FirstLoss(const Literal& literal) {
  LiteralTextOptions options;
  options.with_shape = true;
  const absl::StatusOr<Literal> back = ParseLiteral(Text(literal, options));
  EXPECT_TRUE(back.ok()) << back.status();
  if (!back.ok()) return 0;
  const std::string before = Bytes(literal), after = Bytes(*back);
  EXPECT_EQ(before.size(), after.size());
  for (size_t i = 0; i < before.size(); ++i)
    if (before[i] != after[i]) return static_cast<int64_t>(i);
  return -1;
}

// A vector of `type` with these bit patterns, low bits used.
Literal FromBits(ElementType type, absl::Span<const uint64_t> patterns) {
  Literal literal(Shape::Array(type, {static_cast<int64_t>(patterns.size())}));
  const int width = ByteWidth(type);
  for (size_t i = 0; i < patterns.size(); ++i)
    std::memcpy(literal.data() + i * width, &patterns[i], width);
  return literal;
}

std::string TextOfBits(ElementType type, uint64_t bits) { return Text(FromBits(type, {bits})); }

TEST(LiteralBits, EveryNarrowFloatReadsBack) {
  for (const char* name : {"f4e2m1fn", "f8e8m0fnu", "f8e3m4", "f8e4m3", "f8e4m3fn", "f8e4m3fnuz",
                           "f8e4m3b11fnuz", "f8e5m2", "f8e5m2fnuz", "f16", "bf16"}) {
    const ElementType type = *ElementTypeFromText(name);
    std::vector<uint64_t> patterns(uint64_t{1} << BitWidth(type));
    for (size_t i = 0; i < patterns.size(); ++i) patterns[i] = i;
    const int64_t loss = FirstLoss(FromBits(type, patterns));
    EXPECT_EQ(loss, -1) << name << " "
                        << TextOfBits(type, patterns[std::max<int64_t>(loss, 0) / ByteWidth(type)]);
  }
}

// Random bits, and those next to powers of two, subnormals, infinities and NaN of any payload.
std::vector<uint64_t> SomeFloats(int bits, int mantissa_bits) {
  std::mt19937_64 random(17);
  std::vector<uint64_t> patterns;
  const uint64_t mask = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  for (uint64_t exponent = 0; exponent < uint64_t{1} << (bits - mantissa_bits); ++exponent)
    for (int64_t step : {-2, -1, 0, 1, 2})
      patterns.push_back(((exponent << mantissa_bits) + static_cast<uint64_t>(step)) & mask);
  for (int i = 0; i < 100000; ++i) patterns.push_back(random() & mask);
  for (int i = 0; i < 1000; ++i)  // integers of few digits, which are printed as such
    patterns.push_back(bits == 32 ? std::bit_cast<uint32_t>(static_cast<float>(i - 500) * 4000)
                                  : std::bit_cast<uint64_t>((i - 500) * 4000.0));
  return patterns;
}

TEST(LiteralBits, WideFloatsReadBack) {
  EXPECT_EQ(FirstLoss(FromBits(ElementType::kF32, SomeFloats(32, 23))), -1);
  EXPECT_EQ(FirstLoss(FromBits(ElementType::kF64, SomeFloats(64, 52))), -1);
}

TEST(LiteralBits, ComplexNumbersReadBack) {
  const std::vector<uint64_t> narrow = SomeFloats(32, 23), wide = SomeFloats(64, 52);
  Literal c64(Shape::Array(ElementType::kC64, {static_cast<int64_t>(narrow.size() / 2)}));
  for (int64_t i = 0; i < 2 * c64.element_count(); ++i)
    std::memcpy(c64.data() + 4 * i, &narrow[i], 4);
  Literal c128(Shape::Array(ElementType::kC128, {static_cast<int64_t>(wide.size() / 2)}));
  for (int64_t i = 0; i < 2 * c128.element_count(); ++i)
    std::memcpy(c128.data() + 8 * i, &wide[i], 8);
  EXPECT_EQ(FirstLoss(c64), -1);
  EXPECT_EQ(FirstLoss(c128), -1);
}

TEST(LiteralBits, IntegersReadBackAtTheirEnds) {
  for (const char* name :
       {"s1", "s2", "s4", "s8", "s16", "s32", "s64", "u1", "u2", "u4", "u8", "u16", "u32", "u64"}) {
    const ElementType type = *ElementTypeFromText(name);
    const int bits = BitWidth(type);
    Literal literal(Shape::Array(type, {4}));
    const auto last = static_cast<int64_t>(~uint64_t{0} >> (64 - bits));
    const int64_t high =
        IsSigned(type) ? static_cast<int64_t>(static_cast<uint64_t>(last) >> 1) : last;
    const int64_t low = IsSigned(type) ? -high - 1 : 0;
    for (int i = 0; const int64_t value : {low, high, int64_t{0}, low + 1})
      literal.SetInt(i++, value);
    EXPECT_EQ(FirstLoss(literal), -1) << Text(literal);
  }
}

// The sign of zero, however it is written; types without one have none.
TEST(LiteralBits, NegativeZeroKeepsItsSign) {
  for (const char* zero : {"-0", "-0.0", "-0e7", "-0.", "-1e-400"}) {
    for (const char* name : {"f16", "bf16", "f32", "f64", "f8e4m3", "f8e4m3fn", "f8e5m2", "f8e3m4",
                             "f4e2m1fn", "f8e4m3fnuz", "f8e5m2fnuz", "f8e4m3b11fnuz"}) {
      const ElementType type = *ElementTypeFromText(name);
      const auto literal = ParseLiteral(absl::StrCat(name, "[2,1] {{", zero, "},{0}}"));
      ASSERT_TRUE(literal.ok()) << literal.status();
      EXPECT_EQ(std::signbit(literal->GetDouble(0)), FormatOf(type).has_negative_zero)
          << name << zero;
      EXPECT_EQ(literal->GetDouble(0), 0);
      EXPECT_FALSE(std::signbit(literal->GetDouble(1)));
    }
    const auto complex = ParseLiteral(absl::StrCat("c64[1] {(", zero, ", ", zero, ")}"));
    ASSERT_TRUE(complex.ok());
    EXPECT_EQ(Text(*complex), "{(-0, -0)}");
  }
  EXPECT_FALSE(ParseLiteral("f8e8m0fnu[] -0").ok());
  EXPECT_EQ(Text(*ParseLiteral("s32[] -0")), "0");
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
