// What can be written in vectors, and which dimensions they cover.
#include "analysis/row_lanes.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "parser/parser.h"

namespace hlokit {
namespace {

std::optional<RowLanes> LanesOf(absl::string_view body) {
  const std::string text = absl::StrCat(
      "HloModule m\n\nsum { a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
      "  ROOT r = f32[] add(a, b) }\n\n"
      "least { a = s32[] parameter(0)\n  b = s32[] parameter(1)\n"
      "  ROOT r = s32[] minimum(a, b) }\n\nENTRY e {\n"
      "  x = f32[4,5,6,8]{3,2,1,0} parameter(0)\n  p = f32[8]{0} parameter(1)\n"
      "  q = f32[6,8]{1,0} parameter(2)\n  z = f32[] constant(0)\n",
      body, "}\n");
  Diagnostics diagnostics;
  auto module = ParseModule(std::make_shared<const SourceFile>("test.hlo", text), ParseOptions(),
                            diagnostics);
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return std::nullopt;
  std::vector<const Instruction*> members;
  for (const Instruction* i : (*module)->entry()->PostOrder())
    if (!i->IsParameter()) members.push_back(i);
  const std::optional<RowForm> form = FindRowForm(members);
  return form.has_value() ? FindRowLanes(*form, members) : std::nullopt;
}

constexpr char kColumns[] =
    "  s = f32[4,6,8]{2,1,0} reduce(x, z), dimensions={1}, to_apply=sum\n"
    "  t = f32[4,5,6,8]{3,2,1,0} broadcast(s), dimensions={0,2,3}\n"
    "  d = f32[4,5,6,8]{3,2,1,0} subtract(x, t)\n";

TEST(RowLanesTest, NeighbouringColumnsAreOneDimension) {
  const auto lanes =
      LanesOf(absl::StrCat(kColumns, "  ROOT n = f32[4,5,6,8]{3,2,1,0} negate(d)\n"));
  ASSERT_TRUE(lanes.has_value());
  EXPECT_EQ(lanes->dims, DimVector({2, 3}));
  EXPECT_EQ(lanes->count, 48);
  EXPECT_EQ(lanes->outer, DimVector({1}));
}

TEST(RowLanesTest, PiecesOfRowsAreOneDimension) {
  const auto lanes =
      LanesOf("  ROOT s = f32[5]{0} reduce(x, z), dimensions={0,2,3}, to_apply=sum\n");
  ASSERT_TRUE(lanes.has_value());
  EXPECT_EQ(lanes->dims, DimVector({2, 3}));
  EXPECT_EQ(lanes->outer, DimVector({0}));
}

TEST(RowLanesTest, WhatIsSpreadAlongOneOfThemKeepsThemApart) {
  const auto lanes =
      LanesOf(absl::StrCat(kColumns,
                           "  v = f32[4,5,6,8]{3,2,1,0} broadcast(p), dimensions={3}\n"
                           "  ROOT n = f32[4,5,6,8]{3,2,1,0} multiply(d, v)\n"));
  ASSERT_TRUE(lanes.has_value());
  EXPECT_EQ(lanes->dims, DimVector({3}));
  const auto both =
      LanesOf(absl::StrCat(kColumns,
                           "  v = f32[4,5,6,8]{3,2,1,0} broadcast(q), dimensions={2,3}\n"
                           "  ROOT n = f32[4,5,6,8]{3,2,1,0} multiply(d, v)\n"));
  ASSERT_TRUE(both.has_value());
  EXPECT_EQ(both->dims, DimVector({2, 3}));
}

TEST(RowLanesTest, RefusesPiecesThatAreNoWholeVectors) {
  EXPECT_FALSE(LanesOf("  ROOT s = f32[5,6]{1,0} reduce(x, z), dimensions={0,3}, to_apply=sum\n")
                   .has_value());
}

TEST(RowLanesTest, RefusesWhatVectorsDoNotDo) {
  const char* kBodies[] = {
      "  ROOT n = f32[4,5,6,8]{3,2,1,0} sine(d)\n",
      // by way of an integer type
      "  k = s8[4,5,6,8]{3,2,1,0} convert(d)\n"
      "  ROOT n = f32[4,5,6,8]{3,2,1,0} convert(k)\n",
      // computed, and with fewer elements than one a column
      "  w = f32[8]{0} negate(p)\n"
      "  v = f32[4,5,6,8]{3,2,1,0} broadcast(w), dimensions={3}\n"
      "  ROOT n = f32[4,5,6,8]{3,2,1,0} multiply(d, v)\n",
  };
  for (const char* body : kBodies)
    EXPECT_FALSE(LanesOf(absl::StrCat(kColumns, body)).has_value()) << body;
}

// Rows of `length`: the logarithm of the sum of exponentials, or the quotients of a sum.
std::optional<RowLanes> LanesOfShortRows(int64_t length, bool costly, bool stores) {
  const std::string rows = absl::StrCat("f32[8,16,", length, "]{2,1,0}");
  return LanesOf(absl::StrCat(
      "  y = ", rows, " parameter(3)\n  f = ", rows, costly ? " exponential" : " negate",
      "(y)\n  s = f32[8,16]{1,0} reduce(f, z), dimensions={2}, to_apply=sum\n",
      stores ? absl::StrCat("  t = ", rows, " broadcast(s), dimensions={0,1}\n  ROOT r = ", rows,
                            " divide(f, t)\n")
             : absl::StrCat("  ROOT r = f32[8,16]{1,0} ", costly ? "log" : "negate", "(s)\n")));
}

TEST(RowLanesTest, ShortRowsAreLanes) {
  const auto lanes = LanesOfShortRows(10, /*costly=*/true, /*stores=*/true);
  ASSERT_TRUE(lanes.has_value());
  EXPECT_TRUE(lanes->across_rows);
  EXPECT_EQ(lanes->dims, DimVector({0, 1}));
  EXPECT_EQ(lanes->count, 128);
  EXPECT_EQ(lanes->outer, DimVector({2}));
}

TEST(RowLanesTest, WhichShortRowsAreLanes) {
  struct Case {
    int64_t length;
    bool costly, stores, across_rows;
  };
  for (const Case& c :
       {Case{2, true, true, true}, Case{31, true, true, true}, Case{33, true, true, false},
        Case{63, true, false, true}, Case{65, true, false, false}, Case{16, true, true, false},
        Case{16, true, false, true}, Case{7, false, true, false}, Case{8, false, true, true},
        Case{17, false, false, false}}) {
    const auto lanes = LanesOfShortRows(c.length, c.costly, c.stores);
    EXPECT_EQ(lanes.has_value() && lanes->across_rows, c.across_rows)
        << c.length << (c.costly ? " costly" : "") << (c.stores ? " stores" : "");
  }
}

// The first largest element's place, of rows of `length`.
std::optional<RowLanes> LanesOfArgMax(int64_t length, absl::string_view counts) {
  const std::string dims = absl::StrCat("[8,16,", length, "]");
  return LanesOf(absl::StrCat(
      "  y = f32", dims,
      " parameter(3)\n  s = f32[8,16] reduce(y, z), dimensions={2}, to_apply=sum\n", "  t = f32",
      dims, " broadcast(s), dimensions={0,1}\n  c = pred", dims,
      " compare(y, t), direction=EQ\n  i = s32", dims, " ", counts,
      "\n  l = s32[] constant(9)\n  k = s32", dims, " broadcast(l), dimensions={}\n  g = s32", dims,
      " select(c, i, k)\n  ROOT r = s32[8,16] reduce(g, l), dimensions={2}, to_apply=least\n"));
}

TEST(RowLanesTest, PlacesAlongRowsAreIntegers) {
  for (const int64_t length : {3, 10, 21}) {
    const auto lanes = LanesOfArgMax(length, "iota(), iota_dimension=2");
    ASSERT_TRUE(lanes.has_value()) << length;
    EXPECT_TRUE(lanes->across_rows) << length;
  }
  const auto along = LanesOfArgMax(32, "iota(), iota_dimension=2");
  ASSERT_TRUE(along.has_value());
  EXPECT_FALSE(along->across_rows);
  EXPECT_EQ(along->dims, DimVector({2}));
  const auto whole = LanesOfArgMax(16, "iota(), iota_dimension=2");
  EXPECT_TRUE(whole.has_value() && !whole->across_rows);
  EXPECT_FALSE(LanesOfArgMax(31, "iota(), iota_dimension=2").has_value());
  // lanes are rows, whose numbers they would be
  EXPECT_FALSE(LanesOfArgMax(10, "iota(), iota_dimension=1").has_value());
  EXPECT_TRUE(LanesOfArgMax(32, "iota(), iota_dimension=1").has_value());
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
