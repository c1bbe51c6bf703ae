// Dots by warpgroups give what the interpreter gives: every type, both tile widths, operands in
// every order of memory, sides and terms that tiles do not divide; smaller dots and other
// architectures get other kernels.
#include "backends/cuda/warpgroup_dot_kernels.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/substitute.h"
#include "backends/cuda/kernel_testing_internal.h"

namespace hlokit {
namespace {

struct Case {
  const char* type = "bf16";
  const char* result = "f32";
  int64_t batch = 64, m = 64, n = 128, k = 64;
  bool lhs_k_last = true, rhs_k_last = false;  // whether k is the fastest dimension
};

std::string Text(const Case& c) {
  const auto shape = [&](bool k_last, int64_t free) {
    return absl::Substitute("$0[$1,$2,$3]", c.type, c.batch, k_last ? free : c.k,
                            k_last ? c.k : free);
  };
  return absl::Substitute(
      "HloModule m\nENTRY e {\n x = $0 parameter(0)\n y = $1 parameter(1)\n"
      " ROOT r = $2[$3,$4,$5] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0}, "
      "lhs_contracting_dims={$6}, rhs_contracting_dims={$7}\n}\n",
      shape(c.lhs_k_last, c.m), shape(c.rhs_k_last, c.n), c.result, c.batch, c.m, c.n,
      c.lhs_k_last ? 2 : 1, c.rhs_k_last ? 2 : 1);
}

void Check(const Case& c, const char* instruction, double error) {
  const std::string text = Text(c);
  EXPECT_TRUE(absl::StrContains(PtxForTest(text), instruction)) << text << instruction;
  CheckOnSimulator(text, error);
}

TEST(WarpgroupDotTest, OrdersOfMemory) {
  for (const bool lhs : {false, true})
    for (const bool rhs : {false, true})
      Check({.batch = 32, .m = 136, .n = 64, .lhs_k_last = lhs, .rhs_k_last = rhs},
            "m64n128k16.f32.bf16", 1e-4);
}

TEST(WarpgroupDotSimulationTest, TypesAndWideTiles) {
  Check({.type = "f16", .batch = 64, .m = 70, .n = 256, .k = 520}, "m64n256k16.f32.f16.f16", 1e-3);
  Check({.type = "bf16", .result = "bf16", .n = 96}, "m64n128k16.f32.bf16.bf16", 1e-2);
  for (const char* type : {"s8", "u8"})
    Check({.type = type, .result = "s32", .n = 96, .k = 144, .rhs_k_last = true},
          absl::Substitute("m64n128k32.s32.$0.$0", type).c_str(), 0);
}

// Lines along k that end within a tile, and lines along rows that do.
TEST(WarpgroupDotSimulationTest, TermsThatTilesDoNotDivide) {
  for (const bool k_last : {false, true})
    for (const int64_t k : {72, 200})
      Check({.m = 72, .n = 72, .k = k, .lhs_k_last = k_last, .rhs_k_last = k_last}, "m64n128k16",
            1e-4);
}

// Results of two bytes go through shared memory, also where rows and columns end within a tile.
TEST(WarpgroupDotSimulationTest, NarrowResults) {
  for (const int64_t k : {64, 192})
    Check({.result = "bf16", .batch = 16, .m = 136, .n = 136, .k = k}, "m64n128k16", 1e-1);
  Check({.type = "f16", .result = "f16", .batch = 32, .m = 72, .n = 264, .k = 520}, "m64n256k16",
        1e-1);
}

// Few tiles with many terms: segments of unequal length, by sums of f32 and of integers.
TEST(WarpgroupDotSimulationTest, SplitAlongTerms) {
  for (const char* result : {"f32", "bf16"})
    Check({.result = result, .batch = 16, .n = 72, .k = 1096}, "m64n128k16",
          result[0] == 'f' ? 1e-2 : 1e-1);
  Check({.type = "s8", .result = "s32", .batch = 16, .n = 96, .k = 2064, .rhs_k_last = true},
        "m64n128k32", 0);
}

TEST(WarpgroupDotTest, OtherDots) {
  const auto uses = [](const Case& c, const char* arch) {
    return absl::StrContains(PtxForTest(Text(c), arch), "wgmma");
  };
  EXPECT_TRUE(uses({}, "sm_90a"));
  EXPECT_FALSE(uses({}, "sm_90"));
  EXPECT_FALSE(uses({}, "sm_80"));
  EXPECT_FALSE(uses({.batch = 3}, "sm_90a"));                     // little work
  EXPECT_FALSE(uses({.m = 32}, "sm_90a"));                        // narrow
  EXPECT_FALSE(uses({.n = 132}, "sm_90a"));                       // rows at addresses of 8 bytes
  EXPECT_FALSE(uses({.type = "s8", .result = "s32"}, "sm_90a"));  // n is the fastest
  EXPECT_FALSE(uses({.type = "f32"}, "sm_90a"));
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
