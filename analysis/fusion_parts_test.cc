// Which results of a fusion have an array in common.
#include "analysis/fusion_parts.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/module.h"
#include "parser/parser.h"

namespace hlokit {
namespace {

FusionParts PartsOf(absl::string_view body) {
  const auto module = ParseModule(absl::StrCat("HloModule m\nENTRY e {\n", body, "}\n"));
  EXPECT_TRUE(module.ok()) << module.status();
  return FindFusionParts(*(*module)->entry());
}

TEST(FusionPartsTest, ScalarsAreSharedAndArraysAreNot) {
  const FusionParts parts = PartsOf(R"(
    s = f32[] parameter(0)
    a = f32[8] parameter(1)
    b = f32[8] parameter(2)
    c = f32[4] parameter(3)
    t = f32[] negate(s)
    all = f32[8] broadcast(t), dimensions={}
    x = f32[8] add(a, all)
    y = f32[8] multiply(b, all)
    z = f32[8] subtract(x, a)
    w = f32[4] negate(c)
    ROOT r = (f32[8], f32[8], f32[8], f32[4]) tuple(x, y, z, w)
)");
  EXPECT_EQ(parts.count, 3);
  EXPECT_THAT(parts.of_result, testing::ElementsAre(0, 1, 0, 2));
  EXPECT_THAT(parts.of_parameter, testing::ElementsAre(-1, 0, 1, 2));
}

TEST(FusionPartsTest, AScalarMadeOfAnArrayTiesWhatReadsIt) {
  const FusionParts parts = PartsOf(R"(
    a = f32[8] parameter(0)
    b = f32[8] parameter(1)
    one = f32[1] slice(a), slice={[0:1]}
    s = f32[] reshape(one)
    all = f32[8] broadcast(s), dimensions={}
    x = f32[8] negate(a)
    y = f32[8] multiply(b, all)
    ROOT r = (f32[8], f32[8]) tuple(x, y)
)");
  EXPECT_EQ(parts.count, 1);
  EXPECT_THAT(parts.of_result, testing::ElementsAre(0, 0));
}

TEST(FusionPartsTest, OneResultIsOnePart) {
  const FusionParts parts = PartsOf(R"(
    a = f32[8] parameter(0)
    b = f32[8] parameter(1)
    ROOT r = f32[8] add(a, b)
)");
  EXPECT_EQ(parts.count, 1);
  EXPECT_THAT(parts.of_parameter, testing::ElementsAre(0, 0));
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
