// Reductions of few rows and of columns, split among threads, give what the interpreter gives, and
// the same bits on every run.
#include "backends/cuda/split_row_kernels.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/substitute.h"
#include "backends/cuda/kernel_testing_internal.h"

namespace hlokit {
namespace {

std::string Reduction(const std::string& type, const std::string& op, const std::string& dims,
                      const std::string& result, const std::string& reduced,
                      const std::string& initial) {
  return absl::Substitute(R"(HloModule m
f { a = $0[] parameter(0) b = $0[] parameter(1) ROOT s = $0[] $1(a, b) }
ENTRY e {
  x = $0[$2] parameter(0)
  c = $0[] constant($5)
  ROOT r = $0[$3] reduce(x, c), dimensions={$4}, to_apply=f
})",
                          type, op, dims, result, reduced, initial);
}

void Check(const std::string& text, double error) {
  EXPECT_TRUE(absl::StrContains(PtxForTest(text), "kernel_1")) << text;
  CheckOnSimulator(text, error);
}

TEST(SplitRowKernelsTest, Columns) {
  for (const char* type : {"f32", "s32", "f64", "u8", "s64"})
    Check(Reduction(type, "add", "300,70", "70", "0", "3"), 1e-4);
  Check(Reduction("f32", "maximum", "129,5", "5", "0", "-inf"), 0);
  Check(Reduction("pred", "or", "400,9", "9", "0", "false"), 0);
  Check(Reduction("f32", "add", "20,10,7,3", "10,3", "0,2", "0.5"), 1e-4);
}

TEST(SplitRowKernelsTest, LongRows) {
  for (const int64_t length : {65536, 70001, 131076})
    Check(Reduction("f32", "add", absl::Substitute("$0", length), "", "0", "1.5"), 1e-3);
  Check(Reduction("s8", "minimum", "3,140000", "3", "1", "100"), 0);
  Check(Reduction("f32", "multiply", "2,66000", "2", "1", "1"), 1e-4);
}

// Work before and after, several reductions and results.
TEST(SplitRowKernelsTest, Fusions) {
  Check(R"(HloModule m
f { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
g { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] maximum(a, b) }
body {
  x = f32[500,33] parameter(0)
  y = f32[33] parameter(1)
  zero = f32[] constant(0)
  low = f32[] constant(-inf)
  square = f32[500,33] multiply(x, x)
  sum = f32[33] reduce(square, zero), dimensions={0}, to_apply=f
  most = f32[33] reduce(x, low), dimensions={0}, to_apply=g
  scaled = f32[33] multiply(sum, y)
  ROOT t = (f32[33], f32[33]) tuple(scaled, most)
}
ENTRY e {
  x = f32[500,33] parameter(0)
  y = f32[33] parameter(1)
  ROOT r = (f32[33], f32[33]) fusion(x, y), kind=kLoop, calls=body
})",
        1e-3);
}

TEST(SplitRowKernelsTest, OtherReductions) {
  const auto is_split = [](const std::string& text) {
    return absl::StrContains(PtxForTest(text), "kernel_1");
  };
  EXPECT_FALSE(is_split(Reduction("f32", "add", "100,70", "70", "0", "0")));          // short
  EXPECT_FALSE(is_split(Reduction("f32", "add", "300,200000", "200000", "0", "0")));  // many rows
  EXPECT_TRUE(is_split(Reduction("f32", "add", "300,20000", "20000", "0", "0")));
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
