// Shapes, literals and shardings that stand alone.
#include <cmath>
#include <cstring>

#include "gtest/gtest.h"
#include "parser/parser.h"
#include "parser/values_internal.h"

namespace hlokit {
namespace {

TEST(ParseShapeTest, KeepsWhatTheTextSays) {
  for (const char* text :
       {"f32[]", "bf16[2,3]{1,0}", "pred[0]", "f32[<=5,?,3]", "(f32[2]{0}, (), token[])",
        "f32[2,3]{0,1:T(8,128)(2,1)E(4)S(1)}", "u32[]{:S(2)}", "f8e4m3b11fnuz[4]", "opaque[]",
        "b(f32[2])", "f32[4,8]{1,0:T(*,128)L(2)#(u32)*(u32)SC(0:1,2)M(4)}"}) {
    const auto shape = ParseShape(text);
    ASSERT_TRUE(shape.ok()) << shape.status();
    EXPECT_EQ(Text(*shape, true), text);
  }
  for (const char* text :
       {"", "f33[2]", "f32", "f32[2", "f32[a]", "f32[2]{0", "f32[2,3]{0}", "(f32[2]", "f32[2] x",
        "f32[2]{0:Q(1)}",
        "f32[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
        "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]"})
    EXPECT_FALSE(ParseShape(text).ok()) << text;
}

TEST(ParseLiteralTest, ReadsEveryType) {
  struct Case {
    const char* text;
    std::vector<double> values;
  };
  const double nan = std::nan("");
  for (const Case& c : std::initializer_list<Case>{
           {"f32[] 1.5", {1.5}},
           {"f32[2]{0} {1, -2e1}", {1, -20}},
           {"f64[3] {inf, -inf, nan}", {INFINITY, -INFINITY, nan}},
           {"f32[2,2] {{1,2},{3,4}}", {1, 2, 3, 4}},
           {"f32[2,1] { /*i0=0*/ {1}, /*i0=1*/ {2} }", {1, 2}},
           {"f32[0] {}", {}},
           {"f32[2,0] {{},{}}", {}},
           {"pred[4] {true, false, 1, 0}", {1, 0, 1, 0}},
           {"s4[2] {-8, 7}", {-8, 7}},
           {"u4[2] {0, 15}", {0, 15}},
           {"s2[2] {-2, 1}", {-2, 1}},
           {"s1[2] {-1, 0}", {-1, 0}},
           {"u8[1] {255}", {255}},
           {"s16[1] {-32768}", {-32768}},
           {"bf16[2] {1.5, 256}", {1.5, 256}},
           {"f16[1] {65504}", {65504}},
           {"f8e4m3fn[2] {448, nan}", {448, nan}},
           {"f8e5m2[2] {57344, inf}", {57344, INFINITY}},
           {"f4e2m1fn[3] {6, 0.5, -6}", {6, 0.5, -6}},
           {"f8e8m0fnu[2] {1, 4}", {1, 4}},
           {"f32[3] -.5", {-0.5, 0, 0}},
           {"f32[2] {1. 2.}", {1, 2}},
           {"s64[2] {-9223372036854775808, 5}", {-9223372036854775808.0, 5}}}) {
    const auto literal = ParseLiteral(c.text);
    ASSERT_TRUE(literal.ok()) << c.text << ": " << literal.status();
    ASSERT_EQ(literal->element_count(), static_cast<int64_t>(c.values.size())) << c.text;
    for (size_t i = 0; i < c.values.size(); ++i) {
      const double got = IsFloat(literal->type()) ? literal->GetDouble(i)
                                                  : static_cast<double>(literal->GetInt(i));
      if (std::isnan(c.values[i]))
        EXPECT_TRUE(std::isnan(got)) << c.text;
      else
        EXPECT_EQ(got, c.values[i]) << c.text;
    }
  }
}

TEST(ParseLiteralTest, KeepsNanPayloadsAndSigns) {
  const auto literal = ParseLiteral("f32[6] {nan, -nan, nan(0x1), -nan(0x400001), -0.0, -0}");
  ASSERT_TRUE(literal.ok()) << literal.status();
  const uint32_t want[] = {0x7fc00000, 0xffc00000, 0x7f800001, 0xffc00001, 0x80000000, 0x80000000};
  EXPECT_EQ(std::memcmp(literal->data(), want, sizeof(want)), 0);
}

TEST(ParseLiteralTest, ReadsComplexNumbersAndTuples) {
  const auto complex = ParseLiteral("c64[2] {(1, -2.5), (inf, nan)}");
  ASSERT_TRUE(complex.ok()) << complex.status();
  EXPECT_EQ(complex->GetComplex(0), std::complex<double>(1, -2.5));
  const auto tuple = ParseLiteral("( s32[2] {4, 128}, pred[] true, () )");
  ASSERT_TRUE(tuple.ok()) << tuple.status();
  EXPECT_EQ(tuple->elements()[0].GetInt(1), 128);
  const auto front = ParseLiteral("(f32[], (s32[2])) (1, ({2, 3}))");
  ASSERT_TRUE(front.ok()) << front.status();
  EXPECT_EQ(front->elements()[1].elements()[0].GetInt(1), 3);
  const auto shape = ParseShape("(f32[], (s32[2]))");
  const auto typed = ParseLiteral("(1, ({2, 3}))", *shape);
  ASSERT_TRUE(typed.ok()) << typed.status();
  EXPECT_EQ(typed->elements()[1].elements()[0].GetInt(1), 3);
}

TEST(ParseLiteralTest, Refuses) {
  for (const char* text : {"f32[2] {1}",
                           "f32[2] {1,2,3}",
                           "f32[2] {{1,2}}",
                           "f32[2,2] {1,2}",
                           "f32[] {1}",
                           "f32[] .5",
                           "s8[] 128",
                           "u8[] -1",
                           "s32[] 1.5",
                           "s32[] true",
                           "f32[] 1e40",
                           "f16[] 65520",
                           "f8e4m3fn[] nan(0x1)",
                           "f32[] x",
                           "f32[2] {...}",
                           "c64[] 1",
                           "token[] 1",
                           "u64[] 18446744073709551616",
                           "f32[1073741825] {1}",
                           "f32[999999999999] 1"})
    EXPECT_FALSE(ParseLiteral(text).ok()) << text;
}

std::string Canonical(absl::string_view text) {
  const auto s = ParseSharding(text);
  if (!s.ok()) return "refused";
  std::string out = absl::StrCat(static_cast<int>(s->kind), ":");
  for (int64_t d : s->tile_dims) absl::StrAppend(&out, " ", d);
  for (int64_t d : s->reshape_dims) absl::StrAppend(&out, " r", d);
  for (int64_t d : s->transpose_perm) absl::StrAppend(&out, " t", d);
  for (int64_t d : s->devices) absl::StrAppend(&out, " d", d);
  for (const std::string& type : s->last_tile_dims) absl::StrAppend(&out, " ", type);
  if (s->last_tile_dim_replicate) absl::StrAppend(&out, " partial");
  return out;
}

// What XLA makes of each (jaxlib 0.10.2).
TEST(ParseShardingTest, BringsSubgroupsToOneForm) {
  const std::pair<const char*, const char*> cases[] = {
      {"{replicated}", "0:"},
      {"{manual}", "3:"},
      {"{maximal device=3}", "1:"},
      {"{devices=[2,2]<=[2,2]T(0,1)}", "2: 2 2 r4"},
      {"{devices=[4,2]<=[8,1]T(0,1)}", "2: 4 2 r8"},
      {"{devices=[4,2]<=[2,2,2]T(2,0,1)}", "2: 4 2 r4 r2 t1 t0"},
      {"{devices=[1,1,4]<=[4] last_tile_dim_replicate}", "0:"},
      {"{devices=[1,1,4]<=[4] last_tile_dims={manual}}", "3:"},
      {"{devices=[2,1,2]1,0,3,2 last_tile_dim_replicate}", "2: 2 1 2 d0 d1 d2 d3 partial"},
      {"{devices=[2,1,4]<=[2,2,2]T(1,2,0) last_tile_dims={replicated}}",
       "2: 2 1 4 r2 r2 r2 t1 t0 t2 partial"},
      {"{devices=[2,1,2,2]<=[8] last_tile_dims={replicated, manual}}",
       "2: 2 1 2 2 r2 r2 r2 t0 t2 t1 manual replicated"},
      {"{devices=[2,1,2,2]<=[8] last_tile_dims={manual, manual}}", "2: 2 1 4 r8 manual"},
      {"{devices=[2,1,2,2]0,2,1,3,7,5,6,4 last_tile_dims={manual, replicated}}",
       "2: 2 1 2 2 d0 d2 d1 d3 d5 d7 d4 d6 manual replicated"},
      {"{devices=[2,1,1]<=[2] last_tile_dims={manual}}", "2: 2 1 r2"},
      {"{{replicated}, {manual}}", "6:"},
      {"{devices=[2,2]}", "refused"},
      {"{maximal}", "refused"},
      {"{devices=[2,2]<=[2,2]}", "refused"},
      {"{foo}", "refused"},
      {"{devices=[2]<=[2]} x", "refused"}};
  for (const auto& [text, want] : cases) EXPECT_EQ(Canonical(text), want) << text;
  EXPECT_EQ(ParseSharding("{mesh['a, b'=2,'c'=2],[{'a, b'},{}]}")->text,
            "mesh['a, b'=2,'c'=2], [{'a, b'}, {}]");
}

TEST(ReplicaGroupsTest, ResolvesMeshAxes) {
  const std::pair<const char*, std::vector<std::vector<int64_t>>> cases[] = {
      {"mesh['x'=2,'y'=2] {'x'}", {{0, 2}, {1, 3}}},
      {"mesh['x'=2,'y'=2] {'y'}", {{0, 1}, {2, 3}}},
      {"mesh['x'=2,'y'=2] {'y','x'}", {{0, 2, 1, 3}}},
      {"mesh['x'=4] {'x':(2)2}", {{0, 1}, {2, 3}}},
      {"mesh['x'=4] {'x':(1)2}", {{0, 2}, {1, 3}}},
      {"mesh['x'=2,'y'=2], device_ids=(3,2,1,0) {'y'}", {{3, 2}, {1, 0}}},
      {"[2,2]<=[2,2]T(1,0)", {{0, 2}, {1, 3}}},
      {"{{0,1},{2}}", {{0, 1}, {2}}}};
  for (const auto& [text, want] : cases) {
    Diagnostics diagnostics;
    const std::string copy(text);
    Reader reader(copy, diagnostics);
    ReplicaGroups groups;
    ASSERT_TRUE(ReadValue(reader, groups)) << text;
    EXPECT_EQ(groups.Expand(), want) << text;
  }
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
