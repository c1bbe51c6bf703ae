// Convolutions give what the interpreter gives: every attribute of the window, groups of features
// and of batches, layouts of images and kernels, types; on tensor cores where types have them.
#include "backends/cuda/convolution_kernels.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/substitute.h"
#include "backends/cuda/kernel_testing_internal.h"

namespace hlokit {
namespace {

std::string Convolution(const std::string& lhs, const std::string& rhs, const std::string& result,
                        const std::string& attributes) {
  return absl::Substitute(
      "HloModule m\nENTRY e {\n x = $0 parameter(0)\n w = $1 parameter(1)\n"
      " ROOT r = $2 convolution(x, w), $3\n}\n",
      lhs, rhs, result, attributes);
}

void Check(const std::string& text, double error = 1e-4) {
  EXPECT_TRUE(absl::StrContains(PtxForTest(text), ".entry kernel_0_")) << text;
  CheckOnSimulator(text, error);
}

constexpr char kNhwc[] = "dim_labels=b01f_01io->b01f";

TEST(ConvolutionKernelsTest, Windows) {
  for (const char* type : {"f32", "bf16"}) {
    const auto check = [&](const char* result, const char* window) {
      Check(Convolution(absl::Substitute("$0[2,9,10,16]", type),
                        absl::Substitute("$0[3,2,16,24]", type),
                        absl::Substitute("f32[2,$0,24]", result),
                        absl::Substitute("window={$0}, $1", window, kNhwc)));
    };
    check("7,9", "size=3x2");
    check("9,10", "size=3x2 pad=1_1x0_1");
    check("5,5", "size=3x2 pad=1_1x1_0 stride=2x2");
    check("17,19", "size=3x2 pad=1_1x0_1 lhs_dilate=2x2");
    check("5,9", "size=3x2 rhs_dilate=2x1");
    check("7,9", "size=3x2 rhs_reversal=1x1");
    check("5,9", "size=3x2 pad=-1_-1x0_0");
  }
}

TEST(ConvolutionKernelsTest, Layouts) {
  Check(Convolution("f32[2,16,9,10]", "f32[24,16,3,3]", "f32[2,24,7,8]",
                    "window={size=3x3}, dim_labels=bf01_oi01->bf01"));
  Check(Convolution("bf16[2,16,9,10]", "bf16[24,16,3,3]", "f32[2,24,7,8]",
                    "window={size=3x3}, dim_labels=bf01_oi01->bf01"));
  Check(Convolution("f32[2,30,8]", "f32[5,8,9]", "f32[2,26,9]",
                    "window={size=5}, dim_labels=b0f_0io->b0f"));
  Check(Convolution("f32[2,5,6,7,8]", "f32[2,2,2,8,9]", "f32[2,4,5,6,9]",
                    "window={size=2x2x2}, dim_labels=b012f_012io->b012f"));
  Check(Convolution("f32[12,8]", "f32[8,9]", "f32[12,9]", "dim_labels=bf_io->bf"));
}

// Spatial dimensions fastest in memory: windows of several places, of one (images and kernels are
// read in vectors), wide ones (gradients of kernels), turned ones, and layouts that say the same.
TEST(ConvolutionKernelsTest, PlacesFastest) {
  const struct {
    const char *input, *kernel, *result, *attributes;
  } forms[] = {
      {"2,16,9,16", "24,16,3,3", "2,24,9,16",
       "window={size=3x3 pad=1_1x1_1}, dim_labels=bf01_oi01->bf01"},
      {"2,16,9,16", "24,16,3,2", "2,24,4,8",
       "window={size=3x2 stride=2x2}, dim_labels=bf01_oi01->bf01"},
      {"2,24,8,16", "40,24,1,1", "2,40,8,16", "window={size=1x1}, dim_labels=bf01_oi01->bf01"},
      {"3,24,5,7", "40,24,1,1", "3,40,5,7", "window={size=1x1}, dim_labels=bf01_oi01->bf01"},
      {"2,24,8,16", "40,24,1,1", "2,40,4,8",
       "window={size=1x1 stride=2x2}, dim_labels=bf01_oi01->bf01"},
      {"2,24,8,16", "40,24,1,1", "2,40,10,16",
       "window={size=1x1 pad=1_1x0_0}, dim_labels=bf01_oi01->bf01"},
      {"12,20,9,10", "12,16,9,10", "20,16,3,3",
       "window={size=9x10 pad=1_1x1_1}, dim_labels=fb01_io01->bf01"},
      {"2,24,7,8", "24,16,3,3", "2,16,9,10",
       "window={size=3x3 pad=2_2x2_2 rhs_reversal=1x1}, dim_labels=bf01_io01->bf01"},
      {"2,16,5,6", "24,16,3,3", "2,24,9,11",
       "window={size=3x3 pad=1_1x1_1 lhs_dilate=2x2 rhs_dilate=1x1}, "
       "dim_labels=bf01_oi01->bf01"},
      {"2,32,9,9", "20,16,3,3", "2,20,7,7",
       "window={size=3x3}, dim_labels=bf01_oi01->bf01, feature_group_count=2"},
      {"6,8,9,9", "30,8,3,3", "2,30,7,7",
       "window={size=3x3}, dim_labels=bf01_oi01->bf01, batch_group_count=3"},
      {"2,16,30", "24,16,5", "2,24,26", "window={size=5}, dim_labels=bf0_oi0->bf0"}};
  for (const auto& f : forms)
    for (const char* type : {"f32", "bf16", "s8"})
      Check(Convolution(
          absl::Substitute("$0[$1]", type, f.input), absl::Substitute("$0[$1]", type, f.kernel),
          absl::Substitute("$0[$1]", type[0] == 's' ? "s32" : "f32", f.result), f.attributes));
  Check(Convolution("bf16[2,9,16,16]{2,1,3,0}", "bf16[3,3,16,24]{1,0,2,3}", "f32[2,7,14,24]",
                    absl::Substitute("window={size=3x3}, $0", kNhwc)));
}

TEST(ConvolutionKernelsTest, Groups) {
  Check(Convolution("f32[2,9,9,12]", "f32[3,3,1,12]", "f32[2,7,7,12]",
                    absl::Substitute("window={size=3x3}, $0, feature_group_count=12", kNhwc)));
  Check(Convolution("bf16[2,9,9,32]", "bf16[3,3,16,20]", "f32[2,7,7,20]",
                    absl::Substitute("window={size=3x3}, $0, feature_group_count=2", kNhwc)));
  Check(Convolution("f32[6,9,9,8]", "f32[3,3,8,30]", "f32[2,7,7,30]",
                    absl::Substitute("window={size=3x3}, $0, batch_group_count=3", kNhwc)));
}

TEST(ConvolutionKernelsTest, Types) {
  for (const char* type : {"s8", "s32", "u8", "f64", "f16"})
    Check(Convolution(absl::Substitute("$0[2,9,9,16]", type),
                      absl::Substitute("$0[3,3,16,8]", type), absl::Substitute("$0[2,7,7,8]", type),
                      absl::Substitute("window={size=3x3}, $0", kNhwc)),
          1e-2);
  Check(Convolution("f32[1,9,9,3]", "f32[3,3,3,5]", "f32[1,7,7,5]",
                    absl::Substitute("window={size=3x3}, $0", kNhwc)));
}

// 64 tiles of 128 x 128.
TEST(ConvolutionKernelsSimulationTest, Warpgroups) {
  const std::string text =
      Convolution("bf16[32,16,16,64]", "bf16[3,3,64,64]", "f32[32,16,16,64]",
                  absl::Substitute("window={size=3x3 pad=1_1x1_1}, $0", kNhwc));
  EXPECT_TRUE(absl::StrContains(PtxForTest(text), "wgmma.mma_async"));
  EXPECT_TRUE(absl::StrContains(PtxForTest(text, "sm_80"), "mma.sync"));
  CheckOnSimulator(text, 1e-3);
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
