// Two products and the work on rows between them run in one kernel, whatever that work is, and give
// what the interpreter gives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/substitute.h"
#include "backends/cuda/kernel_testing_internal.h"

namespace hlokit {
namespace {

int64_t CountOf(const std::string& text, const std::string& what) {
  int64_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

constexpr char kReducers[] = R"(HloModule m
max { x = $T[] parameter(0) y = $T[] parameter(1) ROOT m = $T[] maximum(x, y) }
add { x = f32[] parameter(0) y = f32[] parameter(1) ROOT m = f32[] add(x, y) }
)";

// softmax of $X rows `x` in f32 (`sums`: converted where it is narrow), as weights of type $T.
std::string Softmax(const std::string& type, const std::string& rows, const std::string& scores) {
  const bool narrow = type != "f32";
  return absl::StrReplaceAll(
      absl::StrCat(R"(
  ninf = $T[] constant(-inf)
  zero = f32[] constant(0)
  most = $T[$R] reduce(x, ninf), dimensions={2}, to_apply=max
  mosts = $T[$S] broadcast(most), dimensions={0,1}
  d = $T[$S] subtract(x, mosts)
  e = $T[$S] exponential(d)
)",
                   narrow ? R"(  wide = f32[$S] convert(e)
  total = f32[$R] reduce(wide, zero), dimensions={2}, to_apply=add
  narrowed = $T[$R] convert(total)
  totals = $T[$S] broadcast(narrowed), dimensions={0,1}
)"
                          : R"(  total = f32[$R] reduce(e, zero), dimensions={2}, to_apply=add
  totals = $T[$S] broadcast(total), dimensions={0,1}
)",
                   "  p = $T[$S] divide(e, totals)\n"),
      {{"$T", type}, {"$R", rows}, {"$S", scores}});
}

// One head of `rows` queries and `keys` keys each of two batches; `scores` makes x of s.
std::string Attention(const std::string& type, int64_t rows, int64_t keys, int64_t depth,
                      int64_t columns, const std::string& scores, bool turned = false) {
  const std::string r = absl::StrCat("2,", rows), s = absl::StrCat(r, ",", keys);
  const std::string text = absl::StrCat(
      kReducers, R"(ENTRY e {
  q = $T[$R,$D] parameter(0)
  k = $T[2,$K,$D] parameter(1)
  v = $T[2,$K,$C] parameter(2)
  s = $T[$S] dot(q, k), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2},
    rhs_contracting_dims={2}
)",
      scores, Softmax(type, r, s),
      turned ? R"(  ROOT r = $T[2,$C,$Q] dot(v, p), lhs_batch_dims={0}, rhs_batch_dims={0},
    lhs_contracting_dims={1}, rhs_contracting_dims={2}
})"
             : R"(  ROOT r = $T[$R,$C] dot(p, v), lhs_batch_dims={0}, rhs_batch_dims={0},
    lhs_contracting_dims={2}, rhs_contracting_dims={1}
})");
  return absl::StrReplaceAll(text, {{"$T", type},
                                    {"$R", r},
                                    {"$S", s},
                                    {"$Q", absl::StrCat(rows)},
                                    {"$K", absl::StrCat(keys)},
                                    {"$D", absl::StrCat(depth)},
                                    {"$C", absl::StrCat(columns)}});
}

constexpr char kScaled[] = R"(  scale = $T[] constant(0.3)
  scales = $T[$S] broadcast(scale), dimensions={}
  x = $T[$S] multiply(s, scales)
)";
constexpr char kCausal[] = R"(  i = s32[$S] iota(), iota_dimension=1
  j = s32[$S] iota(), iota_dimension=2
  seen = pred[$S] compare(i, j), direction=GE
  none = $T[] constant(-10000)
  nones = $T[$S] broadcast(none), dimensions={}
  x = $T[$S] select(seen, s, nones)
)";
constexpr char kBias[] = R"(  bias = $T[$S] parameter(3)
  x = $T[$S] add(s, bias)
)";

double ErrorOf(const std::string& type) {
  if (type == "f32") return 1e-5;
  return type == "f16" ? 5e-3 : 4e-2;
}

// Keys that fill lanes, vectors and tiles, or do not; rows of one block and of several.
TEST(AttentionSimulationTest, Lengths) {
  const struct {
    int64_t rows, keys, depth, columns;
  } sizes[] = {{8, 8, 8, 8},      {12, 12, 8, 8},     {64, 64, 32, 64},   {33, 100, 40, 72},
               {100, 128, 64, 9}, {257, 257, 16, 16}, {16, 1024, 32, 32}, {9, 1001, 8, 130}};
  for (const char* type : {"f32", "bf16", "f16"})
    for (const auto& size : sizes) {
      const std::string text =
          Attention(type, size.rows, size.keys, size.depth, size.columns, kScaled);
      CheckOnSimulator(text, ErrorOf(type));
      const std::string ptx = PtxForTest(text);
      EXPECT_EQ(CountOf(ptx, ".entry"), 1) << text;
      EXPECT_EQ(CountOf(ptx, "mma.sync") > 0, std::string(type) != "f32") << text;
    }
}

TEST(AttentionSimulationTest, MasksAndBiases) {
  for (const char* type : {"f32", "bf16"})
    for (const char* scores : {kCausal, kBias})
      for (const bool turned : {false, true}) {
        const std::string text = Attention(type, 50, 70, 16, 24, scores, turned);
        CheckOnSimulator(text, ErrorOf(type));
        EXPECT_EQ(CountOf(PtxForTest(text), ".entry"), 1) << text;
      }
}

// Groups of four queries share a key; the softmax is that of f32, of products in bf16.
TEST(AttentionSimulationTest, GroupedQueriesAndWideRows) {
  const std::string text = R"(HloModule m
max { x = f32[] parameter(0) y = f32[] parameter(1) ROOT m = f32[] maximum(x, y) }
add { x = f32[] parameter(0) y = f32[] parameter(1) ROOT m = f32[] add(x, y) }
ENTRY e {
  q = bf16[2,11,4,32] parameter(0)
  k = bf16[2,40,32] parameter(1)
  v = bf16[2,40,64] parameter(2)
  mask = pred[2,11,40] parameter(3)
  s = bf16[2,11,4,40] dot(q, k), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={3},
    rhs_contracting_dims={2}
  wide = f32[2,11,4,40] convert(s)
  seen = pred[2,11,4,40] broadcast(mask), dimensions={0,1,3}
  none = f32[] constant(-1e9)
  nones = f32[2,11,4,40] broadcast(none), dimensions={}
  x = f32[2,11,4,40] select(seen, wide, nones)
  ninf = f32[] constant(-inf)
  zero = f32[] constant(0)
  most = f32[2,11,4] reduce(x, ninf), dimensions={3}, to_apply=max
  mosts = f32[2,11,4,40] broadcast(most), dimensions={0,1,2}
  d = f32[2,11,4,40] subtract(x, mosts)
  e = f32[2,11,4,40] exponential(d)
  total = f32[2,11,4] reduce(e, zero), dimensions={3}, to_apply=add
  totals = f32[2,11,4,40] broadcast(total), dimensions={0,1,2}
  quotient = f32[2,11,4,40] divide(e, totals)
  p = bf16[2,11,4,40] convert(quotient)
  ROOT r = f32[2,11,4,64] dot(p, v), lhs_batch_dims={0}, rhs_batch_dims={0},
    lhs_contracting_dims={3}, rhs_contracting_dims={1}
})";
  CheckOnSimulator(text, 4e-2);
  EXPECT_EQ(CountOf(PtxForTest(text), ".entry"), 1);
  // A block of an older device has no room for the lines.
  EXPECT_GT(CountOf(PtxForTest(text, "sm_75"), ".entry"), 1);
}

// More keys than there is room for: whole blocks of them, parts, a single key in the last one.
TEST(AttentionSimulationTest, ManyKeys) {
  const struct {
    int64_t rows, keys, depth, columns;
  } sizes[] = {{8, 1280, 8, 8}, {70, 1025, 16, 40}, {20, 1300, 24, 130}, {9, 2050, 8, 256}};
  for (const char* type : {"f32", "bf16", "f16"})
    for (const auto& size : sizes) {
      const std::string text =
          Attention(type, size.rows, size.keys, size.depth, size.columns, kScaled);
      CheckOnSimulator(text, ErrorOf(type));
      EXPECT_EQ(CountOf(PtxForTest(text), ".entry"), 1) << text;
    }
  for (const bool turned : {false, true})
    CheckOnSimulator(Attention("f32", 40, 1111, 16, 24, kBias, turned), 1e-5);
  EXPECT_GT(CountOf(PtxForTest(Attention("bf16", 16, 1280, 16, 16, kScaled), "sm_75"), ".entry"),
            1);
}

// Queries that see a window of keys: the first blocks of keys are -inf for most of them.
TEST(AttentionSimulationTest, ManyKeysOfWhichFewAreSeen) {
  constexpr char kWindow[] = R"(  i = s32[$S] iota(), iota_dimension=1
  nineteen = s32[$S] broadcast(s32[] constant(19)), dimensions={}
  at = s32[$S] multiply(i, nineteen)
  j = s32[$S] iota(), iota_dimension=2
  before = pred[$S] compare(j, at), direction=GE
  width = s32[$S] broadcast(s32[] constant(300)), dimensions={}
  end = s32[$S] add(at, width)
  after = pred[$S] compare(j, end), direction=LT
  seen = pred[$S] and(before, after)
  none = $T[] constant(-inf)
  nones = $T[$S] broadcast(none), dimensions={}
  x = $T[$S] select(seen, s, nones)
)";
  for (const char* type : {"f32", "bf16"})
    for (const char* scores : {kWindow, kCausal})
      CheckOnSimulator(Attention(type, 60, 1200, 16, 24, scores), ErrorOf(type));
}

// Maxima that rise from part to part, of products in bf16 and rows in f32, and nothing but them.
TEST(AttentionSimulationTest, ManyKeysOfRisingScores) {
  const std::string text = R"(HloModule m
max { x = f32[] parameter(0) y = f32[] parameter(1) ROOT m = f32[] maximum(x, y) }
add { x = f32[] parameter(0) y = f32[] parameter(1) ROOT m = f32[] add(x, y) }
ENTRY e {
  q = bf16[30,16] parameter(0)
  k = bf16[1100,16] parameter(1)
  v = bf16[1100,20] parameter(2)
  s = f32[30,1100] dot(q, k), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  n = f32[30,1100] iota(), iota_dimension=1
  hundredth = f32[30,1100] broadcast(f32[] constant(0.01)), dimensions={}
  slope = f32[30,1100] multiply(n, hundredth)
  x = f32[30,1100] add(s, slope)
  ninf = f32[] constant(-inf)
  zero = f32[] constant(0)
  most = f32[30] reduce(x, ninf), dimensions={1}, to_apply=max
  mosts = f32[30,1100] broadcast(most), dimensions={0}
  d = f32[30,1100] subtract(x, mosts)
  e = f32[30,1100] exponential(d)
  total = f32[30] reduce(e, zero), dimensions={1}, to_apply=add
  totals = f32[30,1100] broadcast(total), dimensions={0}
  p = f32[30,1100] divide(e, totals)
  w = bf16[30,1100] convert(p)
  ROOT r = f32[30,20] dot(w, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})";
  CheckOnSimulator(text, 2e-2);
  const std::string ptx = PtxForTest(text);
  EXPECT_EQ(CountOf(ptx, ".entry"), 1);
  EXPECT_GT(CountOf(ptx, "mma.sync"), 0);
  const std::string other = absl::StrReplaceAll(text, {{"divide(e, totals)", "add(e, totals)"}});
  CheckOnSimulator(other, 0.1);
  EXPECT_GT(CountOf(PtxForTest(other), ".entry"), 1);
}

// Scores that something else reads stay in memory; so do those of many keys whose results would
// not stay in registers.
TEST(AttentionSimulationTest, LeftAlone) {
  std::string used = Attention("f32", 16, 32, 16, 16, kScaled);
  used = absl::StrReplaceAll(used, {{"ROOT r =", "r ="}, {"\n})", ""}});
  used =
      used.substr(0, used.rfind('}')) + "  ROOT both = (f32[2,16,16], f32[2,16,32]) tuple(r, p)\n}";
  CheckOnSimulator(used, 1e-5);
  EXPECT_GT(CountOf(PtxForTest(used), ".entry"), 1);
  EXPECT_GT(CountOf(PtxForTest(Attention("f32", 8, 1030, 8, 257, kScaled)), ".entry"), 1);
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
