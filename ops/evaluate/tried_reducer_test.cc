// Which starts leave numbers as they are, found by trying.
#include "ops/evaluate/tried_reducer.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "parser/parser.h"
#include "types/number_literal.h"

namespace hlokit {
namespace {

// Whether `start` seems the identity element for a computation of two bf16, a and b.
bool Seems(ElementType type, double start, const std::string& body) {
  const std::string t = absl::StrCat(Text(type), "[]");
  Diagnostics diagnostics;
  const auto module = ParseModule(
      std::make_shared<const SourceFile>(
          "test.hlo", absl::StrCat("HloModule m\n\nENTRY f {\n  a = ", t,
                                   " parameter(0)\n  b = ", t, " parameter(1)\n", body, "}\n")),
      ParseOptions(), diagnostics);
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() && ActsAsIdentity(NumberLiteral(type, start), *(*module)->entry());
}

constexpr char kSum[] = "  ROOT r = bf16[] add(a, b)\n";
constexpr char kLogOfSum[] =
    "  m = bf16[] maximum(a, b)\n  n = bf16[] minimum(a, b)\n  d = bf16[] subtract(n, m)\n"
    "  i = pred[] compare(a, b), direction=EQ\n  z = bf16[] constant(0)\n"
    "  s = bf16[] select(i, z, d)\n  e = bf16[] exponential(s)\n"
    "  l = bf16[] log-plus-one(e)\n  ROOT r = bf16[] add(m, l)\n";

TEST(ActsAsIdentityTest, SumsStartFromZeros) {
  EXPECT_TRUE(Seems(ElementType::kBF16, 0, kSum));
  EXPECT_TRUE(Seems(ElementType::kBF16, -0.0, kSum));
  EXPECT_FALSE(Seems(ElementType::kBF16, 1, kSum));
}

TEST(ActsAsIdentityTest, WhatDependsOnTheOrderIsNone) {
  EXPECT_FALSE(Seems(ElementType::kBF16, 0, "  ROOT r = bf16[] subtract(a, b)\n"));
}

TEST(ActsAsIdentityTest, MaximaStartFromMinusInfinity) {
  const std::string maximum = "  ROOT r = f8e5m2[] maximum(a, b)\n";
  EXPECT_TRUE(Seems(ElementType::kF8E5M2, -INFINITY, maximum));
  EXPECT_FALSE(Seems(ElementType::kF8E5M2, 0, maximum));
}

TEST(ActsAsIdentityTest, SeveralOperations) {
  // -inf and -inf are equal, and give log 2 more than either, which is -inf.
  EXPECT_TRUE(Seems(ElementType::kBF16, -INFINITY, kLogOfSum));
  EXPECT_FALSE(Seems(ElementType::kBF16, 0, kLogOfSum));
}

TEST(ActsAsIdentityTest, WiderTypesAreNotTried) {
  EXPECT_FALSE(Seems(ElementType::kF32, 0, "  ROOT r = f32[] add(a, b)\n"));
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
