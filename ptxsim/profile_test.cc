// Counts of launches that can be told by hand.
#include "ptxsim/profile.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ptxsim/testing_internal.h"

namespace hlokit::ptx {
namespace {

// Runs `body` on a warp; `in` and `out` are buffers of 4 KiB, x the lane, mem shared memory.
LaunchCounts CountsOf(const std::string& body, uint32_t blocks = 1) {
  std::vector<uint32_t> in(1024), out(1024);
  LaunchOptions options;
  options.block[0] = 32;
  options.grid[0] = blocks;
  options.profile = true;
  LaunchStats stats;
  const absl::Status status = RunWords<uint32_t>(
      WithHeader(absl::StrCat(
          ".visible .entry k(.param .u64 pin, .param .u64 pout) {\n.reg .b64 in, out, q<4>;\n"
          ".reg .b32 x, w<8>; .reg .b16 h<2>; .reg .pred p<2>; .shared .align 16 .b8 mem[8192];\n"
          "ld.param.u64 in, [pin]; ld.param.u64 out, [pout]; mov.u32 x, %tid.x;\n",
          body, "\nret; }\n")),
      {&in, &out}, options, &stats);
  EXPECT_TRUE(status.ok()) << status.message();
  return *stats.counts;
}

TEST(Profile, SideBySideLanesNeedFourSectors) {
  const LaunchCounts c = CountsOf(
      "mad.wide.u32 q0, x, 4, in; ld.global.u32 w0, [q0]; mad.wide.u32 q1, x, 4, out;\n"
      "st.global.u32 [q1], w0;");
  EXPECT_EQ(c.global_requests, 2);
  EXPECT_EQ(c.uncoalesced, 0);
  EXPECT_EQ(c.sectors_read, 4);
  EXPECT_EQ(c.sectors_written, 4);
  EXPECT_EQ(c.dram_sectors(), 8);
  EXPECT_EQ(c.warp_instructions, 8);
  EXPECT_EQ(c.thread_instructions, 8 * 32);
  EXPECT_EQ(c.by_kind.at("ld.global"), 1);
  EXPECT_EQ(c.by_kind.at("mad"), 2);
}

TEST(Profile, StridesAreUncoalesced) {
  const LaunchCounts c = CountsOf("mad.wide.u32 q0, x, 32, in; ld.global.u32 w0, [q0];");
  EXPECT_EQ(c.sectors_read, 32);
  EXPECT_EQ(c.uncoalesced, 1);
  EXPECT_EQ(CountsOf("ld.global.u32 w0, [in];").sectors_read, 1);
  EXPECT_EQ(CountsOf("ld.global.u32 w0, [in];").uncoalesced, 0);
}

TEST(Profile, DramCountsASectorOnce) {
  const LaunchCounts c = CountsOf(
      "ld.global.u32 w0, [in]; ld.global.u32 w0, [in+4]; st.global.u32 [in+8], w0;\n"
      "st.global.u32 [out], w0; ld.global.u32 w1, [out];",
      3);
  EXPECT_EQ(c.sectors_read, 9);
  EXPECT_EQ(c.dram_read, 1);  // what was written before needs no reading
  EXPECT_EQ(c.dram_written, 2);
}

TEST(Profile, GuardedLanesDoNotCount) {
  const LaunchCounts c = CountsOf(
      "setp.lt.u32 p0, x, 8; mad.wide.u32 q0, x, 4, in; @p0 ld.global.u32 w0, [q0];\n"
      "setp.lt.u32 p1, x, 0; @p1 ld.global.u32 w0, [in];");
  EXPECT_EQ(c.sectors_read, 1);
  EXPECT_EQ(c.by_kind.at("ld.global"), 2);
  EXPECT_EQ(c.thread_instructions, 7 * 32 + 8);
}

TEST(Profile, BankConflicts) {
  const auto conflicts = [](int stride, const char* load = "ld.shared.u32 w2, [w1];") {
    return CountsOf(absl::StrCat("mov.u32 w0, mem; mad.lo.u32 w1, x, ", stride, ", w0; ", load))
        .bank_conflicts();
  };
  EXPECT_EQ(conflicts(4), 0);
  EXPECT_EQ(conflicts(8), 1);
  EXPECT_EQ(conflicts(128), 31);
  EXPECT_EQ(conflicts(132), 0);
  EXPECT_EQ(conflicts(0), 0);  // one word for all
  EXPECT_EQ(conflicts(16, "ld.shared.v4.u32 {w2,w3,w4,w5}, [w1];"), 0);
  EXPECT_EQ(conflicts(32, "ld.shared.v4.u32 {w2,w3,w4,w5}, [w1];"), 4);
}

TEST(Profile, ProductsOfMatrices) {
  const LaunchCounts c = CountsOf(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {w0,w1,w2,w3}, {w0,w1,w2,w3}, {w4,w5}, "
      "{w0,w1,w2,w3};");
  EXPECT_EQ(c.products[static_cast<int>(ProductKind::kHalf)], 16 * 8 * 16);
}

TEST(Profile, RooflineTakesTheSlowest) {
  const GpuModel& gpu = *FindGpuModel("h100");
  LaunchCounts c;
  c.blocks = gpu.processors;
  c.threads_a_block = 256;
  c.dram_read = 1000000;
  EXPECT_DOUBLE_EQ(RooflineOf(c, gpu), 32e6 / gpu.dram);
  c.products[0] = gpu.products[0];
  EXPECT_DOUBLE_EQ(RooflineOf(c, gpu), 1);
  c.blocks = gpu.processors + 1;  // one SM does twice the work of the others
  EXPECT_DOUBLE_EQ(RooflineOf(c, gpu), 2 / (133.0 / 132));
  EXPECT_EQ(OccupancyOf(c, gpu), 1);
  c.shared_bytes = 100 << 10;
  EXPECT_EQ(OccupancyOf(c, gpu), 0.25);
  EXPECT_EQ(FindGpuModel("voodoo2"), nullptr);
}

TEST(Profile, TextNamesWhatWasCounted) {
  const std::string text = CountsText(CountsOf("ld.global.u32 w0, [in];"), FindGpuModel("a100"));
  for (const char* part :
       {"5 warp instructions, 160 thread instructions", "1 ld.global",
        "1 requests (0 uncoalesced), sectors: 1 read, 0 written", "a100: occupancy"})
    EXPECT_THAT(text, testing::HasSubstr(part));
}

}  // namespace
}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
