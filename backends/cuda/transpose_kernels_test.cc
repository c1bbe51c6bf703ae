// Transposes in tiles give what the interpreter gives: every width, permutation and order of
// memory, sides that tiles do not divide, work before and after; and only those that pay have
// tiles.
#include "backends/cuda/transpose_kernels.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/substitute.h"
#include "backends/cuda/kernel_testing_internal.h"

namespace hlokit {
namespace {

bool HasTiles(const std::string& text) { return absl::StrContains(PtxForTest(text), "st.shared"); }

void Check(const std::string& text) {
  EXPECT_TRUE(HasTiles(text)) << text;
  CheckOnSimulator(text, 1e-6);
}

std::string Transpose(const std::string& type, const std::string& from, const std::string& to,
                      const std::string& dims) {
  return absl::Substitute(
      "HloModule m\nENTRY e {\n x = $0[$1] parameter(0)\n ROOT r = $0[$2] transpose(x), "
      "dimensions={$3}\n}\n",
      type, from, to, dims);
}

TEST(TransposeKernelsTest, TypesAndSizes) {
  for (const char* type : {"f32", "bf16", "s8", "f64", "pred", "u16"})
    Check(Transpose(type, "96,130", "130,96", "1,0"));
  Check(Transpose("f32", "64,64", "64,64", "1,0"));
  Check(Transpose("f16", "9,1000", "1000,9", "1,0"));
}

TEST(TransposeKernelsTest, Permutations) {
  Check(Transpose("f32", "5,40,36", "5,36,40", "0,2,1"));
  Check(Transpose("f32", "40,5,36", "36,5,40", "2,1,0"));
  Check(Transpose("f32", "12,10,6,8", "6,8,12,10", "2,3,0,1"));
  Check(Transpose("bf16", "3,17,33,1,9", "3,33,9,17,1", "0,2,4,1,3"));
  Check(Transpose("f32", "20,30,12", "30,12,20", "1,2,0"));
}

// Elements of one and two bytes move as words, where sides are whole words.
TEST(TransposeKernelsTest, NarrowElementsInWords) {
  for (const char* type : {"bf16", "s8"}) {
    const std::string text = Transpose(type, "200,132", "132,200", "1,0"), ptx = PtxForTest(text);
    EXPECT_TRUE(absl::StrContains(ptx, type[0] == 'b' ? "ld.global.nc.u32" : "ld.global.nc.v4.u8") ||
                absl::StrContains(ptx, "ld.global.nc.u32"))
        << ptx;
    EXPECT_TRUE(absl::StrContains(ptx, "st.shared.u32")) << ptx;
    Check(text);
  }
  Check(Transpose("pred", "3,68,72", "3,72,68", "0,2,1"));
  Check(Transpose("u16", "66,2,64", "64,2,66", "2,1,0"));
  EXPECT_FALSE(absl::StrContains(PtxForTest(Transpose("bf16", "200,133", "133,200", "1,0")),
                                 "st.shared.u32"));
}

TEST(TransposeKernelsTest, WorkBeforeAndAfter) {
  Check(R"(HloModule m
body {
  x = f32[90,70] parameter(0)
  y = f32[70,90] parameter(1)
  n = f32[90,70] negate(x)
  t = f32[70,90] transpose(n), dimensions={1,0}
  s = f32[70,90] add(t, y)
  h = bf16[70,90] convert(t)
  ROOT r = (f32[70,90], bf16[70,90]) tuple(s, h)
}
ENTRY e {
  x = f32[90,70] parameter(0)
  y = f32[70,90] parameter(1)
  ROOT r = (f32[70,90], bf16[70,90]) fusion(x, y), kind=kLoop, calls=body
})");
}

TEST(TransposeKernelsTest, OthersHaveNoTiles) {
  EXPECT_FALSE(HasTiles(Transpose("f32", "40,50,64", "50,40,64", "1,0,2")));  // rows stay
  EXPECT_FALSE(HasTiles(Transpose("f32", "4000,3", "3,4000", "1,0")));        // narrow
  EXPECT_FALSE(HasTiles(Transpose("f32", "20,20", "20,20", "1,0")));          // small
  EXPECT_FALSE(HasTiles(Transpose("c64", "96,96", "96,96", "1,0")));
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
