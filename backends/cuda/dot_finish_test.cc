// Loops that finish the elements of a dot or convolution run in its kernel, whichever it is, and
// give what the interpreter gives; operands of the loop are read only where the result has
// elements.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/substitute.h"
#include "backends/cuda/kernel_testing_internal.h"

namespace hlokit {
namespace {

// maximum(dot * scale[column] + residual, 0), and where that is zero.
std::string Finished(const std::string& operand, const std::string& type, int64_t rows,
                     int64_t columns, int64_t terms, bool has_mask) {
  return absl::Substitute(R"(HloModule m
ENTRY e {
  a = $0[$2,$4] parameter(0)
  b = $0[$4,$3] parameter(1)
  scale = $1[$3] parameter(2)
  residual = $1[$2,$3] parameter(3)
  d = $1[$2,$3] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  scales = $1[$2,$3] broadcast(scale), dimensions={1}
  product = $1[$2,$3] multiply(d, scales)
  sum = $1[$2,$3] add(product, residual)
  zero = $1[] constant(0)
  zeros = $1[$2,$3] broadcast(zero), dimensions={}
  r = $1[$2,$3] maximum(sum, zeros)
  mask = pred[$2,$3] compare(r, zeros), direction=EQ
  ROOT t = $5
})",
                          operand, type, rows, columns, terms,
                          absl::Substitute(has_mask ? "($0[$1,$2], pred[$1,$2]) tuple(r, mask)"
                                                    : "($0[$1,$2]) tuple(r)",
                                           type, rows, columns));
}

int64_t Kernels(const std::string& ptx) {
  int64_t count = 0;
  for (size_t at = ptx.find(".entry"); at != std::string::npos; at = ptx.find(".entry", at + 1))
    ++count;
  return count;
}

TEST(DotFinishSimulationTest, OneKernelOfEachKind) {
  const struct {
    const char *operand, *type;
    int64_t rows, columns, terms;
    double error;
  } cases[] = {
      {"f32", "f32", 100, 72, 40, 1e-3},     // tiles
      {"s32", "s32", 20, 24, 16, 0},         //
      {"f16", "f16", 40, 50, 64, 5e-2},      // tensor cores
      {"s8", "s32", 33, 64, 64, 0},          //
      {"bf16", "f32", 1024, 1024, 64, 1e-3}  // warpgroups
  };
  for (const auto& c : cases)
    for (const bool has_mask : {false, true}) {
      const std::string text =
          Finished(c.operand, c.type, c.rows, c.columns, c.terms, has_mask && c.rows < 1024);
      CheckOnSimulator(text, c.error);
      EXPECT_EQ(Kernels(PtxForTest(text)), 1) << text;
    }
}

// Results of two bytes go through shared memory where no tile is cut; sums of segments are finished
// by the second kernel.
TEST(DotFinishSimulationTest, TilesOfWarpgroups) {
  const std::string whole = Finished("bf16", "bf16", 1024, 1024, 64, false);
  CheckOnSimulator(whole, 0.5);
  EXPECT_THAT(PtxForTest(whole), testing::HasSubstr("wgmma"));
  const std::string cut = Finished("bf16", "bf16", 1000, 1032, 64, false);
  CheckOnSimulator(cut, 0.5);
  EXPECT_THAT(PtxForTest(cut), testing::HasSubstr("wgmma"));
  const std::string split = Finished("f16", "f32", 512, 512, 4096, false);
  CheckOnSimulator(split, 1e-2);
  EXPECT_EQ(Kernels(PtxForTest(split)), 2);
}

// tanh(convolution + bias) + residual.
TEST(DotFinishSimulationTest, Convolutions) {
  const struct {
    const char *type, *groups, *features;
    int64_t out;
    double error;
  } cases[] = {{"f32", "1", "16", 24, 1e-4},   // tiles
               {"bf16", "1", "16", 32, 5e-2},  // tensor cores
               {"f32", "16", "1", 16, 1e-4}};  // depthwise
  for (const auto& c : cases) {
    const std::string text = absl::Substitute(R"(HloModule m
ENTRY e {
  x = $0[2,9,9,16] parameter(0)
  k = $0[3,3,$2,$3] parameter(1)
  bias = $0[$3] parameter(2)
  residual = $0[2,9,9,$3] parameter(3)
  c = $0[2,9,9,$3] convolution(x, k), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f,
    feature_group_count=$1
  biases = $0[2,9,9,$3] broadcast(bias), dimensions={3}
  sum = $0[2,9,9,$3] add(c, biases)
  t = $0[2,9,9,$3] tanh(sum)
  ROOT r = $0[2,9,9,$3] add(t, residual)
})",
                                              c.type, c.groups, c.features, c.out);
    CheckOnSimulator(text, c.error);
    EXPECT_EQ(Kernels(PtxForTest(text)), 1) << text;
  }
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
