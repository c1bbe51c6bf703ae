// Identity elements of all types.
#include "ops/evaluate/reducer.h"

#include <gtest/gtest.h>

#include <limits>

#include "types/number_literal.h"

namespace hlokit {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Literal Integer(ElementType type, int64_t value) {
  Literal literal(Shape::Scalar(type));
  literal.SetInt(0, value);
  return literal;
}

TEST(ReducerTest, IdentityElementsOfIntegers) {
  constexpr ElementType kS8 = ElementType::kS8, kU4 = ElementType::kU4, kPred = ElementType::kPred;
  EXPECT_TRUE(IsIdentityElement(Integer(kS8, 0), Opcode::kAdd));
  EXPECT_FALSE(IsIdentityElement(Integer(kS8, 1), Opcode::kAdd));
  EXPECT_TRUE(IsIdentityElement(Integer(kS8, 1), Opcode::kMultiply));
  EXPECT_TRUE(IsIdentityElement(Integer(kS8, -128), Opcode::kMaximum));
  EXPECT_TRUE(IsIdentityElement(Integer(kS8, 127), Opcode::kMinimum));
  EXPECT_FALSE(IsIdentityElement(Integer(kS8, -128), Opcode::kMinimum));
  EXPECT_TRUE(IsIdentityElement(Integer(kU4, 0), Opcode::kMaximum));
  EXPECT_TRUE(IsIdentityElement(Integer(kU4, 15), Opcode::kMinimum));
  EXPECT_TRUE(IsIdentityElement(Integer(kU4, 15), Opcode::kAnd));
  EXPECT_TRUE(IsIdentityElement(Integer(kU4, 0), Opcode::kXor));
  EXPECT_TRUE(IsIdentityElement(Integer(kPred, 1), Opcode::kAnd));
  EXPECT_TRUE(IsIdentityElement(Integer(kPred, 1), Opcode::kMinimum));
  EXPECT_FALSE(IsIdentityElement(Integer(kPred, 1), Opcode::kOr));
  EXPECT_FALSE(IsIdentityElement(Integer(kS8, 0), Opcode::kSubtract));
}

TEST(ReducerTest, IdentityElementsOfFloats) {
  constexpr ElementType kF32 = ElementType::kF32, kF8 = ElementType::kF8E4M3FN;
  EXPECT_TRUE(IsIdentityElement(NumberLiteral(kF32, 0), Opcode::kAdd));
  EXPECT_TRUE(IsIdentityElement(NumberLiteral(kF32, -0.0), Opcode::kAdd));
  EXPECT_TRUE(IsIdentityElement(NumberLiteral(kF32, 1), Opcode::kMultiply));
  EXPECT_TRUE(IsIdentityElement(NumberLiteral(kF32, -kInfinity), Opcode::kMaximum));
  EXPECT_FALSE(IsIdentityElement(NumberLiteral(kF32, -3e38), Opcode::kMaximum));
  EXPECT_TRUE(IsIdentityElement(NumberLiteral(kF8, 448), Opcode::kMinimum));  // has no infinity
  EXPECT_TRUE(IsIdentityElement(NumberLiteral(ElementType::kC64, 1), Opcode::kMultiply));
  EXPECT_FALSE(IsIdentityElement(NumberLiteral(ElementType::kC64, 1), Opcode::kAdd));
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
