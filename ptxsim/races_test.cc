// Races: planted ones are all found and named, and what barriers, fences, atomics and asynchronous
// copies put in order is none.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ptxsim/testing_internal.h"

namespace hlokit::ptx {
namespace {

// A kernel of two buffers, of 1024 words each. t: thread, bid: block, sp: the thread's word of
// shared memory s, so: that of the next thread of the block, p: the thread's word of global memory.
struct Case {
  const char* name;
  const char* body;
  const char* race;  // part of the message; null: there is none
  uint32_t threads = 64, blocks = 1;
};

std::string Text(const Case& test) {
  return WithHeader(absl::StrCat(
      ".shared .align 16 .b8 s[4096];\n.shared .align 8 .b8 bar[8];\n"
      ".visible .entry k(.param .u64 a, .param .u64 b) {\n"
      ".reg .b64 base, other, p, st, g; .reg .b32 t, bid, sb, sp, so, x, y, z, w, n, mb;\n"
      ".reg .pred q, r;\n"
      "ld.param.u64 base, [a]; ld.param.u64 other, [b]; mov.u32 t, %tid.x; mov.u32 bid, %ctaid.x;\n"
      "mov.u32 n, %ntid.x; mov.u32 sb, s; mov.u32 mb, bar; shl.b32 x, t, 2; add.u32 sp, sb, x;\n"
      "add.u32 x, t, 1; rem.u32 x, x, n; shl.b32 x, x, 2; add.u32 so, sb, x;\n"
      "mad.lo.u32 x, bid, n, t; mad.wide.u32 p, x, 4, base; mad.wide.u32 g, t, 4, other;\n",
      test.body, "\nret;\n}\n"));
}

const Case kCases[] = {
    // Planted.
    {"StoreThenLoadOfTheNext", "st.shared.u32 [sp], t; ld.shared.u32 x, [so];",
     "nothing orders this load and the store"},
    {"LoadThenStore", "ld.shared.u32 x, [so]; add.u32 y, t, 5; st.shared.u32 [sp], y;",
     "nothing orders this store and the load"},
    {"AllStoreOneWord", "add.u32 x, t, 1; st.shared.u32 [sb], x;",
     "nothing orders this store and the store"},
    {"NoSecondBarrier",
     "add.u32 y, t, 7; st.shared.u32 [sp], y; bar.sync 0; ld.shared.u32 x, [so];"
     " st.shared.u32 [sp], t;",
     "nothing orders this store and the load"},
    {"BarrierOfOneWarpOnly",
     "add.u32 y, t, 7; st.shared.u32 [sp], y; bar.warp.sync 0xffffffff; ld.shared.u32 x, [so];",
     "race at shared address"},
    {"NoWarpBarrier", "add.u32 y, t, 7; st.shared.u32 [sp], y; ld.shared.u32 x, [so];",
     "thread (1,0,0)", 32},
    {"WarpBarrierOfHalf",
     "setp.lt.u32 q, t, 16; selp.b32 y, 0xffff, 0xffff0000, q; st.shared.u32 [sp], 9;"
     " bar.warp.sync y; ld.shared.u32 x, [so];",
     "race at shared address", 32},
    {"BarrierThatOthersUse",
     "setp.lt.u32 q, t, 32; add.u32 y, t, 7; st.shared.u32 [sp], y; @q bar.sync 1, 32;"
     " @!q bar.sync 2, 32; ld.shared.u32 x, [so];",
     "race at shared address"},
    {"ArriveWithoutWait",
     "setp.lt.u32 q, t, 32; add.u32 y, t, 7; st.shared.u32 [sp], y; @q bar.arrive 1, 64;"
     " @!q bar.sync 1, 64; xor.b32 x, t, 32; shl.b32 x, x, 2; add.u32 x, x, sb;"
     " ld.shared.u32 z, [x];",
     "race at shared address"},
    {"BytesOfOneWord", "shr.u32 x, t, 1; add.u32 x, x, sb; add.u32 y, t, 1; st.shared.u8 [x], y;",
     "nothing orders this store and the store"},
    {"VectorOverNeighbours",
     "shl.b32 x, t, 2; add.u32 x, x, sb; and.b32 x, x, 0xfffffff0; add.u32 y, t, 1;"
     " st.shared.u32 [sp], y; ld.shared.v4.u32 {y, z, w, n}, [x];",
     "nothing orders this load and the store"},
    {"PlainBesideAtomic", "atom.shared.add.u32 x, [sb], 1; ld.shared.u32 y, [sb];",
     "nothing orders this load and the atomic"},
    {"AtomicBesidePlain", "st.shared.u32 [sb], 5; red.shared.add.u32 [sb], 1;",
     "nothing orders this atomic and the store"},
    {"GlobalOfOneBlock", "st.global.u32 [p], 3; ld.global.u32 x, [base];",
     "race at global address"},
    {"GlobalOfTwoBlocks", "add.u32 x, bid, 1; st.global.u32 [g], x;", "of block 0", 32, 2},
    {"BarrierDoesNotOrderBlocks",
     "add.u32 x, t, 1; st.global.u32 [p], x; bar.sync 0; sub.u32 y, 1, bid; mad.lo.u32 y, y, n, t;"
     " mad.wide.u32 g, y, 4, base; ld.global.u32 x, [g];",
     "of block 0", 32, 2},
    {"RelaxedFlagWithoutFence",
     "add.u32 x, t, 1; st.global.u32 [p], x; setp.eq.u32 q, bid, 0;"
     " @q atom.relaxed.gpu.global.add.u32 y, [other], 1; @q bra done;\n"
     "spin: ld.relaxed.gpu.global.u32 y, [other]; setp.lt.u32 r, y, 32; @r bra spin;"
     " mad.wide.u32 g, t, 4, base; ld.global.u32 z, [g]; done:",
     "of block 0", 32, 2},
    {"CopyWithoutWait",
     "cp.async.ca.shared.global [sp], [g], 4; cp.async.commit_group; ld.shared.u32 x, [sp];",
     "the asynchronous store", 32},
    {"CopyOfALaterGroup",
     "cp.async.ca.shared.global [sp], [g], 4; cp.async.commit_group; add.u32 x, sp, 512;"
     " cp.async.ca.shared.global [x], [g], 4; cp.async.commit_group; cp.async.wait_group 1;"
     " ld.shared.u32 y, [sp]; ld.shared.u32 z, [x];",
     "the asynchronous store", 32},
    {"CopyWithoutBarrier",
     "cp.async.ca.shared.global [sp], [g], 4; cp.async.wait_all; ld.shared.u32 x, [so];",
     "the asynchronous store"},
    {"CopyOverWhatIsRead",
     "st.shared.u32 [sp], 4; bar.sync 0; ld.shared.u32 x, [so];"
     " cp.async.ca.shared.global [sp], [g], 4; cp.async.wait_all;",
     "and the load"},
    {"MbarrierThatNobodyWaitsFor",
     "setp.eq.u32 q, t, 0; @q mbarrier.init.shared.b64 [mb], 64; bar.sync 0;"
     " add.u32 y, t, 7; st.shared.u32 [sp], y; mbarrier.arrive.shared.b64 st, [mb];"
     " ld.shared.u32 x, [so];",
     "race at shared address"},
    // In order.
    {"Barriers",
     "add.u32 y, t, 7; st.shared.u32 [sp], y; bar.sync 0; ld.shared.u32 x, [so]; bar.sync 0;"
     " st.shared.u32 [sp], t;",
     nullptr},
    {"WarpBarriers",
     "add.u32 y, t, 7; st.shared.u32 [sp], y; bar.warp.sync 0xffffffff; ld.shared.u32 x, [so];",
     nullptr, 32},
    {"NamedBarriers",
     "setp.lt.u32 q, t, 32; add.u32 y, t, 7; st.shared.u32 [sp], y; @q bar.sync 1, 32;"
     " @!q bar.sync 2, 32; xor.b32 x, t, 1; shl.b32 x, x, 2; add.u32 x, x, sb;"
     " ld.shared.u32 z, [x];",
     nullptr},
    {"ProducersAndConsumers",
     "setp.lt.u32 q, t, 32; @!q bra consume; add.u32 y, t, 7; st.shared.u32 [sp], y;"
     " bar.arrive 1, 64; bra done;\n"
     "consume: bar.sync 1, 64; sub.u32 x, sp, 128; ld.shared.u32 z, [x]; done:",
     nullptr},
    {"Atomics", "atom.shared.add.u32 x, [sb], 1; red.global.add.u32 [base], 1;", nullptr, 64, 2},
    {"DistinctBytes", "add.u32 x, sb, t; add.u32 y, t, 1; st.shared.u8 [x], y;", nullptr},
    {"StoresOfWhatIsThere", "mov.u32 x, 0; st.shared.u32 [sb], x; st.global.u32 [base], x;",
     nullptr, 64, 2},
    {"LastBlockReadsAll",
     "add.u32 x, t, 1; st.global.u32 [p], x; membar.gl; bar.sync 0; setp.eq.u32 q, t, 0;"
     " @q atom.global.add.u32 y, [other], 1; @q st.shared.u32 [sb], y; bar.sync 0;"
     " ld.shared.u32 y, [sb]; setp.ne.u32 q, y, 1; @q bra done; membar.gl;"
     " mad.wide.u32 g, t, 4, base; ld.global.u32 z, [g]; done:",
     nullptr, 32, 2},
    {"ReleaseAndAcquire",
     "setp.eq.u32 q, bid, 0; @!q bra read; add.u32 x, t, 1; st.global.u32 [p], x; bar.sync 0;"
     " setp.eq.u32 q, t, 0; @q st.release.gpu.global.u32 [other], 1; bra done;\n"
     "read: ld.acquire.gpu.global.u32 y, [other]; setp.eq.u32 r, y, 0; @r bra read;"
     " mad.wide.u32 g, t, 4, base; ld.global.u32 z, [g]; done:",
     nullptr, 32, 2},
    {"CopiesWaitedFor",
     "cp.async.ca.shared.global [sp], [g], 4; cp.async.commit_group; add.u32 x, sp, 512;"
     " cp.async.ca.shared.global [x], [g], 4; cp.async.commit_group; cp.async.wait_group 1;"
     " bar.sync 0; ld.shared.u32 y, [so]; cp.async.wait_group 0; ld.shared.u32 z, [x];",
     nullptr},
    {"Mbarriers",
     "setp.eq.u32 q, t, 0; @q mbarrier.init.shared.b64 [mb], 64; bar.sync 0;"
     " add.u32 y, t, 7; st.shared.u32 [sp], y; mbarrier.arrive.shared.b64 st, [mb];\n"
     "wait: mbarrier.try_wait.shared.b64 q, [mb], st; @!q bra wait; ld.shared.u32 x, [so];",
     nullptr},
};

class Races : public testing::TestWithParam<Case> {};

TEST_P(Races, AreFoundWhereTheyAre) {
  const Case& test = GetParam();
  std::vector<uint32_t> a(1024), b(1024);
  LaunchOptions options;
  options.block[0] = test.threads;
  options.grid[0] = test.blocks;
  options.max_steps = 1000000;
  options.threads = 4;
  options.checks.races = true;
  const absl::Status status = RunWords<uint32_t>(Text(test), {&a, &b}, options);
  if (test.race == nullptr) {
    EXPECT_TRUE(status.ok()) << status.message();
  } else {
    EXPECT_EQ(status.code(), absl::StatusCode::kAborted) << "no race found";
    EXPECT_THAT(std::string(status.message()), testing::HasSubstr(test.race));
  }
  // Without the check nothing is wrong.
  options.checks.races = false;
  EXPECT_TRUE(RunWords<uint32_t>(Text(test), {&a, &b}, options).ok());
}

INSTANTIATE_TEST_SUITE_P(All, Races, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(RaceMessage, NamesBothThreadsAndPlaces) {
  std::vector<uint32_t> a(1024), b(1024);
  LaunchOptions options;
  options.block[0] = 64;
  options.checks.races = true;
  const absl::Status status = RunWords<uint32_t>(Text(kCases[0]), {&a, &b}, options);
  EXPECT_THAT(std::string(status.message()),
              testing::MatchesRegex("race at shared address 0x4: nothing orders this load and the "
                                    "store at line [0-9]+ by thread \\(1,0,0\\) \\(kernel k, "
                                    "block \\(0,0,0\\), thread \\(0,0,0\\)\\)"));
}

}  // namespace
}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
