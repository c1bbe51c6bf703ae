// Scatters by search give what the interpreter gives, updates of one place in their order.
#include "backends/cuda/scatter_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/substitute.h"
#include "backends/cuda/kernel_testing_internal.h"

namespace hlokit {
namespace {

// Rows of three of `updates` into `rows` rows; indices repeat, and some lie outside.
std::string Rows(int64_t rows, int64_t updates, const std::string& type,
                 const std::string& reducer) {
  return absl::Substitute(R"(HloModule m
f { a = $2[] parameter(0) b = $2[] parameter(1) ROOT r = $2[] $3(a, b) }
ENTRY e {
  x = $2[$0,3] parameter(0)
  raw = s32[$1,1] parameter(1)
  low = s32[] constant(-1)
  high = s32[] constant($0)
  lows = s32[$1,1] broadcast(low), dimensions={}
  highs = s32[$1,1] broadcast(high), dimensions={}
  i = s32[$1,1] clamp(lows, raw, highs)
  u = $2[$1,3] parameter(2)
  ROOT r = $2[$0,3] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0},
    scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f
})",
                          rows, updates, type, reducer);
}

// Small sizes are a warp's, then come searches by result, the last ones by update.
TEST(ScatterKernelsSimulationTest, BothWays) {
  // The interpreter's sums of floats are wider.
  const struct {
    const char* type;
    double error;
  } types[] = {{"f32", 1e-4}, {"bf16", 0.2}, {"s32", 0}, {"f64", 1e-12}};
  for (const auto& [type, error] : types)
    for (const int64_t rows : {1, 7, 1000}) {
      for (const int64_t updates : {1, 40, 300})
        CheckOnSimulator(Rows(rows, updates, type, "add"), error);
      CheckOnSimulator(Rows(rows, 40, type, "maximum"), 0);
    }
  CheckOnSimulator(Rows(100000, 50, "f32", "add"), 1e-4);
}

// Integers are combined in memory where a search would be long; sums of floats are not.
TEST(ScatterKernelsSimulationTest, IntegersAtomically) {
  for (const char* type : {"s32", "u32", "s64", "u64"})
    for (const char* reducer : {"add", "maximum", "minimum", "and", "or", "xor"}) {
      const std::string text = Rows(5000, 700, type, reducer);
      CheckOnSimulator(text, 0);
      EXPECT_THAT(PtxForTest(text), testing::ContainsRegex("(atom|red)[a-z.]*\\.global"))
          << reducer;
    }
  for (const char* reducer : {"multiply", "add"}) {
    const std::string text = Rows(5000, 700, reducer[0] == 'a' ? "f32" : "s32", reducer);
    CheckOnSimulator(text, 1e-4);
    EXPECT_THAT(PtxForTest(text),
                testing::Not(testing::ContainsRegex("(atom|red)[a-z.]*\\.global")));
  }
}

// Signs of zeros, infinities, subnormals, and NaNs of the base and of the updates, whatever comes
// before them.
TEST(ScatterKernelsSimulationTest, ExtremesOfFloatsAtomically) {
  for (const char* type : {"f32", "f64"})
    for (const char* reducer : {"maximum", "minimum"}) {
      CheckOnSimulator(Rows(5000, 700, type, reducer), 0);
      const std::string text = absl::Substitute(R"(HloModule m
f { a = $0[] parameter(0) b = $0[] parameter(1) ROOT r = $0[] $1(a, b) }
ENTRY e {
  kinds = $0[12] constant({0, -0.0, 1, -1, inf, -inf, nan, -nan, 1e-40, -1e-40, 3, -7})
  n = s32[6000] iota(), iota_dimension=0
  twelve = s32[6000] broadcast(s32[] constant(12)), dimensions={}
  at = s32[6000] remainder(n, twelve)
  x = $0[6000] gather(kinds, at), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0},
    index_vector_dim=1, slice_sizes={1}
  m = s32[1500] iota(), iota_dimension=0
  seven = s32[1500] broadcast(s32[] constant(7)), dimensions={}
  kind = s32[1500] remainder(m, seven)
  u = $0[1500] gather(kinds, kind), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0},
    index_vector_dim=1, slice_sizes={1}
  hundred = s32[1500] broadcast(s32[] constant(200)), dimensions={}
  i = s32[1500] remainder(m, hundred)
  r = $0[6000] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0},
    scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f
  one = $0[6000] broadcast($0[] constant(1)), dimensions={}
  inverse = $0[6000] divide(one, r)
  ROOT both = ($0[6000], $0[6000]) tuple(r, inverse)
})",
                                                type, reducer);
      CheckOnSimulator(text, 0);
      EXPECT_THAT(PtxForTest(text), testing::ContainsRegex("(atom|red)[a-z.]*\\.global"));
    }
}

// The last update of a place is what stays.
TEST(ScatterKernelsTest, ReplacesInOrder) {
  for (const int64_t size : {90, 90000})
    CheckOnSimulator(absl::Substitute(R"(HloModule m
f { a = f32[] parameter(0) ROOT b = f32[] parameter(1) }
ENTRY e {
  x = f32[$0] parameter(0)
  n = s32[200] iota(), iota_dimension=0
  three = s32[] constant(3)
  threes = s32[200] broadcast(three), dimensions={}
  i = s32[200] divide(n, threes)
  u = f32[200] parameter(1)
  ROOT r = f32[$0] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0},
    scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f
})",
                                      size),
                     0);
}

// Windows of two elements that overlap each other, in two dimensions, and several arrays.
TEST(ScatterKernelsTest, WindowsThatOverlap) {
  for (const int64_t size : {9, 400})
    CheckOnSimulator(absl::Substitute(R"(HloModule m
f {
  a = f32[] parameter(0) c = s32[] parameter(1) b = f32[] parameter(2) d = s32[] parameter(3)
  s = f32[] add(a, b) t = s32[] subtract(c, d)
  ROOT r = (f32[], s32[]) tuple(s, t)
}
ENTRY e {
  x = f32[$0,$0] parameter(0)
  y = s32[$0,$0] parameter(1)
  n = s32[30,2] iota(), iota_dimension=0
  four = s32[] constant(4)
  fours = s32[30,2] broadcast(four), dimensions={}
  i = s32[30,2] divide(n, fours)
  u = f32[30,2,2] parameter(2)
  v = s32[30,2,2] parameter(3)
  ROOT r = (f32[$0,$0], s32[$0,$0]) scatter(x, y, i, u, v), update_window_dims={1,2},
    inserted_window_dims={}, scatter_dims_to_operand_dims={1,0}, index_vector_dim=1, to_apply=f
})",
                                      size),
                     0);
}

TEST(ScatterKernelsTest, BatchesAndUniquePlaces) {
  CheckOnSimulator(R"(HloModule m
f { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
ENTRY e {
  x = f32[4,5000] parameter(0)
  i = s32[4,20] iota(), iota_dimension=1
  u = f32[4,20] parameter(1)
  ROOT r = f32[4,5000] scatter(x, i, u), update_window_dims={}, inserted_window_dims={1},
    scatter_dims_to_operand_dims={1}, input_batching_dims={0}, scatter_indices_batching_dims={0},
    index_vector_dim=2, unique_indices=true, to_apply=f
})",
                   0);
}

// What makes the base and the updates goes into the kernel.
TEST(ScatterKernelsTest, OneLaunch) {
  const std::string text = R"(HloModule m
f { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
ENTRY e {
  zero = f32[] constant(0)
  x = f32[50] broadcast(zero), dimensions={}
  i = s32[200] parameter(0)
  a = f32[200] parameter(1)
  u = f32[200] negate(a)
  ROOT r = f32[50] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0},
    scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f
})";
  CheckOnSimulator(text, 1e-4);
  const std::string ptx = PtxForTest(text);
  EXPECT_EQ(ptx.find(".entry"), ptx.rfind(".entry"));
  EXPECT_THAT(ptx, testing::HasSubstr("match.any.sync.b32"));  // by one warp
}

// Batches of places: a thread looks through the updates of its own alone.
TEST(ScatterKernelsTest, BatchesOfPlaces) {
  for (const int64_t size : {5, 900})
    CheckOnSimulator(absl::Substitute(R"(HloModule m
f { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
ENTRY e {
  x = f32[$0,6,3] parameter(0)
  n = s32[70,6,1] iota(), iota_dimension=0
  m = s32[70,6,1] iota(), iota_dimension=1
  nm = s32[70,6,1] multiply(n, m)
  nine = s32[70,6,1] broadcast(s32[] constant(9)), dimensions={}
  i = s32[70,6,1] remainder(nm, nine)
  u = f32[70,6,3] parameter(1)
  ROOT r = f32[$0,6,3] scatter(x, i, u), update_window_dims={2}, inserted_window_dims={0},
    scatter_dims_to_operand_dims={0}, input_batching_dims={1}, scatter_indices_batching_dims={1},
    index_vector_dim=2, to_apply=f
})",
                                      size),
                     1e-5);
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
