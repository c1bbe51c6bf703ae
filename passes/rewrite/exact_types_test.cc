// HoldsAllValues against the values themselves: every value of the narrow types converted there and
// back.
#include "passes/rewrite/exact_types.h"

#include <gtest/gtest.h>

#include "types/literal.h"

namespace hlokit {
namespace {

// Whether each value of `from`, of 16 bits at most, comes back from `to` as it was.
bool ComesBack(ElementType from, ElementType to) {
  Literal there(Shape::Scalar(to)), back(Shape::Scalar(from));
  const int64_t count = int64_t{1} << BitWidth(from);
  for (int64_t k = 0; k < count; ++k) {
    const int64_t value = IsSigned(from) ? k - count / 2 : k;
    if (IsFloat(to)) {
      there.SetDouble(0, static_cast<double>(value));
      if (there.GetDouble(0) != static_cast<double>(value)) return false;
    } else {
      there.SetInt(0, value);
      if (there.GetInt(0) != value) return false;
    }
  }
  return true;
}

constexpr ElementType kIntegers[] = {ElementType::kS8,  ElementType::kU8,  ElementType::kS16,
                                     ElementType::kU16, ElementType::kS32, ElementType::kU32};
constexpr ElementType kFloats[] = {ElementType::kBF16, ElementType::kF16, ElementType::kF32,
                                   ElementType::kF64};

TEST(HoldsAllValuesTest, AgreesWithTheValuesOfNarrowIntegers) {
  ExactTypeOptions mantissa;
  mantissa.integers_as_floats = ExactTypeOptions::IntegersAsFloats::kOfTheMantissa;
  for (const ElementType from : {kIntegers[0], kIntegers[1], kIntegers[2], kIntegers[3]}) {
    for (const ElementType to : kIntegers)
      EXPECT_EQ(HoldsAllValues(from, to), ComesBack(from, to)) << Text(from) << " " << Text(to);
    for (const ElementType to : kFloats)
      // f16 and bf16 hold -2^15 too, but 2^15 - 1 only with 15 bits.
      EXPECT_EQ(HoldsAllValues(from, to, mantissa), ComesBack(from, to))
          << Text(from) << " " << Text(to);
  }
}

TEST(HoldsAllValuesTest, FloatsOfFewerBits) {
  EXPECT_TRUE(HoldsAllValues(ElementType::kBF16, ElementType::kF32));
  EXPECT_TRUE(HoldsAllValues(ElementType::kF8E5M2, ElementType::kF16));
  EXPECT_FALSE(HoldsAllValues(ElementType::kBF16, ElementType::kF16));
  EXPECT_FALSE(HoldsAllValues(ElementType::kF16, ElementType::kBF16));
  EXPECT_FALSE(HoldsAllValues(ElementType::kF64, ElementType::kF32));
  EXPECT_FALSE(HoldsAllValues(ElementType::kF32, ElementType::kS64));
}

TEST(HoldsAllValuesTest, OptionsNarrowIt) {
  ExactTypeOptions o;
  o.same_width = o.predicates = o.unsigned_as_signed = false;
  o.integers_as_floats = ExactTypeOptions::IntegersAsFloats::kNever;
  o.floats = ExactTypeOptions::Floats::kOf16BitsAndMore;
  EXPECT_FALSE(HoldsAllValues(ElementType::kS8, ElementType::kS8, o));
  EXPECT_FALSE(HoldsAllValues(ElementType::kPred, ElementType::kS8, o));
  EXPECT_FALSE(HoldsAllValues(ElementType::kU8, ElementType::kS16, o));
  EXPECT_FALSE(HoldsAllValues(ElementType::kS8, ElementType::kF32, o));
  EXPECT_FALSE(HoldsAllValues(ElementType::kF8E5M2, ElementType::kF32, o));
  EXPECT_TRUE(HoldsAllValues(ElementType::kF32, ElementType::kF64, o));
  o.floats = ExactTypeOptions::Floats::kOf16Bits;
  EXPECT_FALSE(HoldsAllValues(ElementType::kF32, ElementType::kF64, o));
  EXPECT_TRUE(HoldsAllValues(ElementType::kF16, ElementType::kF64, o));
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
