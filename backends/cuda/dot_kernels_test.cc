// Dots in tiles give what the interpreter gives: every type, sides that tiles divide and sides that
// they do not, operands in every order of dimensions and memory, batches; and the PTX has tiles in
// shared memory and fused products.
#include "backends/cuda/dot_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "backends/cuda/kernel_testing_internal.h"

namespace hlokit {
namespace {

std::string Dot(const std::string& lhs, const std::string& rhs, const std::string& result,
                const std::string& dims) {
  return absl::Substitute(
      "HloModule m\nENTRY e {\n x = $0 parameter(0)\n y = $1 parameter(1)\n"
      " ROOT r = $2 dot(x, y), $3\n}\n",
      lhs, rhs, result, dims);
}

void Check(const std::string& text, double error) {
  EXPECT_TRUE(absl::StrContains(PtxForTest(text), ".shared")) << text;
  CheckOnSimulator(text, error);
}

constexpr char kPlain[] = "lhs_contracting_dims={1}, rhs_contracting_dims={0}";

TEST(TiledDotSimulationTest, Sizes) {
  for (const int64_t m : {8, 16, 33, 64, 130})
    for (const int64_t n : {9, 32, 50, 128})
      for (const int64_t k : {8, 16, 37, 64})
        Check(Dot(absl::Substitute("f32[$0,$1]", m, k), absl::Substitute("f32[$0,$1]", k, n),
                  absl::Substitute("f32[$0,$1]", m, n), kPlain),
              1e-4);
}

// Two to seven rows or columns: sums that read the matrix once, a warp or a block a row of it, or
// segments of its columns.
TEST(FewRowsDotSimulationTest, ReadTheMatrixOnce) {
  const struct {
    const char *type, *lhs, *rhs, *result, *dims;
    double error;
  } cases[] = {
      {"f32", "[3,2048]", "[4100,2048]", "[3,4100]",
       "lhs_contracting_dims={1}, rhs_contracting_dims={1}", 1e-3},
      {"f32", "[7,100]", "[700,100]", "[7,700]",
       "lhs_contracting_dims={1}, rhs_contracting_dims={1}", 1e-4},
      {"bf16", "[2,600]", "[600,300]", "[2,300]", kPlain, 2e-2},
      {"s8", "[300,512]", "[512,5]", "[300,5]", kPlain, 0},
      {"f64", "[3,2,90]", "[3,400,90]", "[3,2,400]",
       "lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, "
       "rhs_contracting_dims={2}",
       1e-11},
  };
  for (const auto& c : cases) {
    const auto array = [&](const char* dims) { return absl::StrCat(c.type, dims); };
    const std::string text = Dot(array(c.lhs), array(c.rhs), array(c.result), c.dims);
    CheckOnSimulator(text, c.error);
    EXPECT_TRUE(absl::StrContains(PtxForTest(text), "reduce_fusion")) << text;
  }
}

TEST(TiledDotTest, LargeTiles) {
  Check(Dot("f32[32,140,20]", "f32[32,20,600]", "f32[32,140,600]",
            "lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, "
            "rhs_contracting_dims={1}"),
        1e-4);
}

TEST(TiledDotTest, Types) {
  for (const char* type : {"s8", "u8", "s16", "s32", "u32", "s64", "u64"})
    Check(Dot(absl::Substitute("$0[20,24]", type), absl::Substitute("$0[24,30]", type),
              absl::Substitute("$0[20,30]", type), kPlain),
          0);
  Check(Dot("s8[20,24]", "s8[24,30]", "s32[20,30]", kPlain), 0);
  for (const char* type : {"f16", "bf16"}) {
    const std::string lhs = absl::Substitute("$0[20,24]", type),
                      rhs = absl::Substitute("$0[24,30]", type);
    Check(Dot(lhs, rhs, absl::Substitute("$0[20,30]", type), kPlain), 1e-2);
    Check(Dot(lhs, rhs, "f32[20,30]", kPlain), 1e-4);
  }
  Check(Dot("f8e4m3fn[20,24]", "f8e5m2[24,30]", "f32[20,30]", kPlain), 1e-4);
  Check(Dot("f64[20,24]", "f64[24,30]", "f64[20,30]", kPlain), 1e-10);
}

TEST(TiledDotTest, OrdersOfDimensions) {
  for (const char* lhs : {"f32[36,40]{1,0}", "f32[36,40]{0,1}"})
    for (const char* rhs : {"f32[40,28]{1,0}", "f32[40,28]{0,1}"})
      for (const char* result : {"f32[36,28]{1,0}", "f32[36,28]{0,1}"})
        Check(Dot(lhs, rhs, result, kPlain), 1e-4);
  Check(Dot("f32[40,36]", "f32[28,40]", "f32[36,28]",
            "lhs_contracting_dims={0}, rhs_contracting_dims={1}"),
        1e-4);
  Check(Dot("f32[4,3,6,5,7]", "f32[7,2,3,4,9]", "f32[3,6,5,2,9]",
            "lhs_batch_dims={1}, lhs_contracting_dims={4,0}, rhs_batch_dims={2}, "
            "rhs_contracting_dims={0,3}"),
        1e-4);
}

TEST(TiledDotTest, InfinitiesPastTheEndMakeNoNan) {
  Check(R"(HloModule m
ENTRY e {
  c = f32[] constant(inf)
  x = f32[17,19] broadcast(c), dimensions={}
  y = f32[19,21] parameter(0)
  z = f32[19,21] abs(y)
  ROOT r = f32[17,21] dot(x, z), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})",
        0);
}

TEST(TiledDotTest, ProductsAreFused) {
  const std::string ptx =
      PtxForTest(Dot("f32[64,32]", "f32[32,64]", "f32[64,64]", kPlain), "sm_80");
  EXPECT_THAT(ptx, testing::HasSubstr("fma.rn.f32"));
  EXPECT_THAT(ptx, testing::HasSubstr("bar.sync"));
  EXPECT_THAT(ptx, testing::HasSubstr("ld.shared.v4.f32"));
  EXPECT_THAT(ptx, testing::HasSubstr("ld.global.nc.v4.f32"));
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
