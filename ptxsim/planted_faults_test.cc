// One fault of each kind, planted in a kernel that is right without it: each is found, and named
// with its kind, its line and its thread.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ptxsim/testing_internal.h"

namespace hlokit::ptx {
namespace {

// A kernel of two buffers, of 1024 words each. t: thread, bid: block, p: the thread's word of the
// first buffer, s: 4 KiB of shared memory, sp: the thread's word of it, v: 16 bytes of local
// memory, bar: an mbarrier.
struct Planted {
  const char* name;
  const char* right;  // the body without the fault: runs with every check on
  const char* body;   // the fault is on the line that ends with //!
  const char* message;
  LaunchChecks checks = {};
  uint32_t threads = 64, blocks = 1;
  int64_t dynamic_shared = 0;
};

constexpr LaunchChecks kRaces = {.races = true};
constexpr LaunchChecks kUnwritten = {.unwritten = true};
constexpr LaunchChecks kRegisters = {.registers = true};
constexpr LaunchChecks kLanes = {.lanes = true};

std::string KernelWith(absl::string_view body) {
  return WithHeader(absl::StrCat(
      ".shared .align 16 .b8 s[4096];\n.shared .align 8 .b8 bar[8];\n"
      ".const .align 4 .u32 table[4] = {1, 2, 3, 4};\n"
      ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d,"
      " .param .b64 e);\n"
      ".global .align 1 .b8 text[4] = {111, 110, 101, 0};\n"
      ".func deep(.param .b32 n) { .reg .b32 m; ld.param.b32 m, [n]; add.u32 m, m, 1;\n"
      "{ .param .b32 a; st.param.b32 [a], m; call deep, (a);\n} ret; }\n"
      ".visible .entry k(.param .u64 a, .param .u64 b) {\n"
      ".local .align 16 .b8 v[16];\n"
      ".reg .b64 base, other, p, f, st; .reg .b32 t, bid, sb, sp, so, x, y, z, w, n, mb;\n"
      ".reg .f32 d<4>; .reg .pred q, r;\n"
      "ld.param.u64 base, [a]; ld.param.u64 other, [b]; mov.u32 t, %tid.x; mov.u32 bid, %ctaid.x;\n"
      "mov.u32 n, %ntid.x; mov.u32 sb, s; mov.u32 mb, bar; shl.b32 x, t, 2; add.u32 sp, sb, x;\n"
      "add.u32 x, t, 1; rem.u32 x, x, n; shl.b32 x, x, 2; add.u32 so, sb, x;\n"
      "mad.lo.u32 x, bid, n, t; mad.wide.u32 p, x, 4, base;\n",
      body, "\nret;\n}\n"));
}

constexpr char kInit[] =
    "setp.eq.u32 q, t, 0;\n@q mbarrier.init.shared.b64 [mb], 64;\nbar.sync 0;\n";

const Planted kPlanted[] = {
    {"GlobalOutOfBounds", "ld.global.u32 x, [p+4];", "ld.global.u32 x, [p+3968]; //!",
     "out-of-bounds load of 4 bytes at global address"},
    {"GlobalStoreOutOfBounds", "st.global.u32 [p], t;", "st.global.u32 [p+-4], t; //!",
     "out-of-bounds store of 4 bytes at global address"},
    {"SharedOutOfBounds", "st.shared.u32 [sp], t;", "st.shared.u32 [sp+4000], t; //!",
     "out-of-bounds store of 4 bytes at shared address"},
    {"LocalOutOfBounds", "st.local.u32 [v], t;", "st.local.u32 [v+16], t; //!",
     "out-of-bounds store of 4 bytes at local address"},
    {"GenericNull", "ld.u32 x, [p];", "mov.u64 f, 0;\nld.u32 x, [f]; //!",
     "out-of-bounds load of 4 bytes at"},
    {"ParameterOutOfBounds", "ld.param.u64 f, [b];", "ld.param.u64 f, [b+8]; //!",
     "out-of-bounds load of 8 bytes at param address"},
    {"Misaligned", "ld.global.v2.u32 {x, y}, [base+8];", "ld.global.v2.u32 {x, y}, [base+4]; //!",
     "misaligned load of 8 bytes"},
    {"MisalignedShared", "st.shared.u16 [sp+2], 1;", "st.shared.u32 [sp+2], t; //!",
     "misaligned store of 4 bytes at shared address"},
    {"MisalignedAtomic", "red.global.add.u32 [p], 1;", "red.global.add.u32 [p+2], 1; //!",
     "misaligned atomic access of 4 bytes"},
    {"UnwrittenShared", "st.shared.u32 [sp], t;\nbar.sync 0;\nld.shared.u32 x, [so];",
     "st.shared.u32 [sp], t;\nbar.sync 0;\nld.shared.u32 x, [so+4]; //!",
     "load of 4 bytes that nothing has written at shared address", kUnwritten},
    {"UnwrittenLocal", "st.local.u32 [v], t;\nld.local.u32 x, [v];",
     "st.local.u32 [v], t;\nld.local.u32 x, [v+4]; //!",
     "load of 4 bytes that nothing has written at local address", kUnwritten},
    {"UnwrittenHalf", "st.shared.u16 [sp], 1;\nst.shared.u16 [sp+2], 1;\nld.shared.u32 x, [sp];",
     "st.shared.u16 [sp], 1;\nld.shared.u32 x, [sp]; //!",
     "load of 4 bytes that nothing has written at shared address", kUnwritten},
    {"UnwrittenAtomic", "st.shared.u32 [sp], t;\natom.shared.add.u32 x, [sp], 1;",
     "atom.shared.add.u32 x, [sp], 1; //!",
     "atomic access of 4 bytes that nothing has written at shared address", kUnwritten},
    {"UnwrittenMatrix",
     "st.shared.v4.u32 [s], {0, 0, 0, 0};\nbar.warp.sync -1;\nmov.u32 x, s;\n"
     "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {y}, [x];",
     "mov.u32 x, s;\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {y}, [x]; //!",
     "matrix load of 16 bytes that nothing has written", kUnwritten, 32},
    {"UnwrittenRegister", "add.u32 y, t, 1;\nst.global.u32 [p], y;", "st.global.u32 [p], y; //!",
     "read of a register that nothing has written", kRegisters},
    {"UnwrittenOnOneWay", "setp.lt.u32 q, t, 9;\nmov.u32 y, 7;\n@q mov.u32 y, 5;\nadd.u32 x, y, 1;",
     "setp.lt.u32 q, t, 9;\n@q mov.u32 y, 5;\nadd.u32 x, y, 1; //!",
     "read of a register that nothing has written", kRegisters},
    {"UnwrittenGuard", "setp.lt.u32 r, t, 9;\n@r mov.u32 y, 5;", "@r mov.u32 y, 5; //!",
     "read of a register that nothing has written", kRegisters},
    {"RaceInShared", "st.shared.u32 [sp], t;\nbar.sync 0;\nld.shared.u32 x, [so];",
     "st.shared.u32 [sp], t;\nld.shared.u32 x, [so]; //!", "race at shared address", kRaces},
    {"RaceBetweenWarps",
     "st.shared.u32 [sp], 7;\nbar.sync 0;\nxor.b32 x, sp, 128;\nld.shared.u32 y, [x];",
     "st.shared.u32 [sp], 7; //!\nbar.warp.sync -1;\nxor.b32 x, sp, 128;\nld.shared.u32 y, [x];",
     "race at shared address", kRaces},
    {"RaceInGlobal", "st.global.u32 [p], 3;", "add.u32 x, t, 1;\nst.global.u32 [base], x; //!",
     "race at global address", kRaces},
    {"RaceBetweenBlocks", "atom.global.add.u32 x, [base], 1;",
     "add.u32 x, bid, 1;\nst.global.u32 [base], x; //!", "of block 0", kRaces, 1, 2},
    {"DivergentBarrier", "bar.sync 0;",
     "setp.lt.u32 q, t, 16;\n@q bra join;\nbar.sync 0; //!\njoin: bar.sync 0;",
     "divergent barrier"},
    {"BarrierWithoutArrival", "setp.lt.u32 q, t, 32;\n@q bar.arrive 1, 64;\n@!q bar.sync 1, 64;",
     "setp.lt.u32 q, t, 32;\n@!q bar.sync 1, 64; //!", "barrier 1 never opens"},
    {"BarrierNumber", "bar.sync 15;", "mov.u32 x, 16;\nbarrier.sync x; //!",
     "barrier 16: there are 0 to 15"},
    {"EndlessLoop", "mov.u32 x, 3;\nloop: sub.u32 x, x, 1;\nsetp.ne.u32 q, x, 0;\n@q bra loop;",
     "loop: bra loop; //!", "endless loop"},
    {"FlagThatNobodySets",
     "wait: ld.acquire.gpu.global.u32 x, [base];\nsetp.ne.u32 q, x, 0;\n@q bra wait;",
     "wait: ld.acquire.gpu.global.u32 x, [base]; setp.eq.u32 q, x, 0; @q bra wait; //!",
     "endless loop: all threads that are left repeat what they do",
     {},
     64,
     3},
    {"LockThatNobodyReleases",
     "again: atom.global.cas.b32 x, [base], 0, 1;\nsetp.ne.u32 q, x, 0;\n@q bra again;\n"
     "atom.global.exch.b32 x, [base], 0;",
     "again: atom.global.cas.b32 x, [base], 0, 1; setp.ne.u32 q, x, 0; @q bra again; //!",
     "endless loop",
     {},
     8},
    {"MbarrierOfTooMany",
     "setp.eq.u32 q, t, 0;\n@q mbarrier.init.shared.b64 [mb], 64;\nbar.sync 0;\n"
     "mbarrier.arrive.shared.b64 st, [mb];\nw0: mbarrier.try_wait.shared.b64 q, [mb], st;\n@!q bra "
     "w0;",
     "setp.eq.u32 q, t, 0;\n@q mbarrier.init.shared.b64 [mb], 65;\nbar.sync 0;\n"
     "mbarrier.arrive.shared.b64 st, [mb];\nw0: mbarrier.try_wait.shared.b64 q, [mb], st; //!\n@!q "
     "bra w0;",
     "never completes: 1 arrivals and 0 bytes are missing"},
    {"MbarrierOfTooFew",
     "setp.eq.u32 q, t, 0;\n@q mbarrier.init.shared.b64 [mb], 64;\nbar.sync 0;\n"
     "@q mbarrier.arrive.shared.b64 st, [mb], 64;",
     "setp.eq.u32 q, t, 0;\n@q mbarrier.init.shared.b64 [mb], 63;\nbar.sync 0;\n"
     "@q mbarrier.arrive.shared.b64 st, [mb], 64; //!",
     "mbarrier: 64 arrivals, of 63 a phase 63 are missing"},
    {"MbarrierWithoutInit", kInit, "mbarrier.arrive.shared.b64 st, [mb]; //!",
     "mbarrier that expects no arrivals"},
    {"MbarrierOfNone", kInit, "mov.u32 x, 0;\nmbarrier.init.shared.b64 [mb], x; //!",
     "mbarrier.init for 0 arrivals"},
    {"BytesThatNeverCome", kInit,
     "setp.eq.u32 q, t, 0;\n@q mbarrier.init.shared.b64 [mb], 1;\nbar.sync 0;\n"
     "@q mbarrier.arrive.expect_tx.shared.b64 _, [mb], 64;\n"
     "w1: mbarrier.try_wait.parity.shared.b64 r, [mb], 0; //!\n@!r bra w1;",
     "never completes: 0 arrivals and 64 bytes are missing"},
    {"BadDescriptor",
     "mov.u64 f, 0;",
     "mov.u64 f, 0x3fff;\nmov.f32 d0, 0f00000000;\n"
     "mov.f32 d1, d0;\nmov.f32 d2, d0;\nmov.f32 d3, d0;\n"
     "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {d0, d1, d2, d3}, f, f, 1, 1, 1, 0, 0; //!",
     "out-of-bounds matrix load of 16 bytes at shared address",
     {},
     128},
    {"BadTensorMap",
     "mov.u64 f, base;",
     "cp.async.bulk.tensor.1d.shared::cta.global.mbarrier::complete_tx::bytes [sb], [base, {x}], "
     "[mb]; //!",
     "no tensor map lies at address",
     {},
     1},
    {"ShuffleFromInactiveLane", "shfl.sync.down.b32 x, t, 1, 31, -1;",
     "setp.lt.u32 q, t, 8;\n@!q bra skip;\nshfl.sync.down.b32 x, t, 1, 31, 0xff; //!\nskip:",
     "shuffle from lane 8, which is inactive", kLanes, 32},
    {"MaskWithLanesThatEnded", "shfl.sync.down.b32 x, t, 1, 31, -1;",
     "setp.lt.u32 q, t, 8;\n@q exit;\nvote.sync.ballot.b32 x, q, -1; //!",
     "member mask 0xffffffff with lane 0, which does not come", kLanes, 32},
    {"MaskWithoutItself", "redux.sync.add.u32 x, t, -1;", "redux.sync.add.u32 x, t, 1; //!",
     "member mask 0x1 without its own lane", kLanes, 32},
    {"BadCallTarget", "mov.u64 f, deep;",
     "mov.u64 f, 64;\nproto: .callprototype _ (.param .b32 _);\n"
     "{ .param .b32 u; st.param.b32 [u], t;\ncall f, (u), proto; //!\n}",
     "call of address 0x40, which is no function"},
    {"StackOverflow", "mov.u64 f, deep;", "{ .param .b32 u; st.param.b32 [u], t; call deep, (u); }",
     "calls deeper than 1024"},
    {"AllocaOfTooMuch", "mov.u64 st, 64;\nalloca.u64 f, st, 16;",
     "mov.u64 st, 0x100000;\nalloca.u64 f, st, 16; //!", "a thread has at most"},
    {"StoreToConstant", "ld.const.u32 x, [table+4];",
     "mov.u64 f, table;\ncvta.const.u64 f, f;\nst.u32 [f], t; //!",
     "store of 4 bytes to read-only memory"},
    {"StoreToParameter", "ld.param.u64 f, [a];",
     "mov.u64 f, a;\ncvta.param.u64 f, f;\nst.u32 [f], t; //!",
     "store of 4 bytes to read-only memory"},
    {"ReadOnlyPathAfterStore",
     "ld.global.nc.u32 x, [p];\nadd.u64 f, p, 1024;\nst.global.u32 [f], t;",
     "add.u32 y, t, 1;\nst.global.u32 [p], y;\nld.global.nc.u32 x, [p]; //!",
     "load by the read-only path", kRaces},
    {"Trap", "mov.u32 x, 1;", "trap; //!", "trap"},
    {"Assertion", "mov.u64 f, text;",
     "mov.u64 f, text;\ncvta.global.u64 f, f;\n"
     "{ .param .b64 u0, u1, u3, u4; .param .b32 u2; st.param.b64 [u0], f; st.param.b64 [u1], f;"
     " st.param.b32 [u2], 7; st.param.b64 [u3], f; st.param.b64 [u4], 1;\n"
     "call __assertfail, (u0, u1, u2, u3, u4); //!\n}",
     "assertion `one` failed, one:7, in one"},
    {"BranchTarget", "mov.u32 x, 1;",
     "mov.u32 x, 2;\nts: .branchtargets A, B;\nbrx.idx x, ts; //!\nA: mov.u32 y, 1;\nB: mov.u32 y, "
     "2;",
     "index 2 of 2 branch targets"},
    {"BulkCopyOfOddSize", "mov.u32 x, 16;",
     "mov.u32 x, 24;\n"
     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sb], [base], x, [mb]; //!",
     "a bulk copy whose addresses or size are not multiples of 16"},
    {"TooManyThreads", "mov.u32 x, 1;", "mov.u32 x, 1;", "a block of 1025x1x1 threads", {}, 1025},
    {"TooMuchShared",
     "mov.u32 x, 1;",
     "mov.u32 x, 1;",
     "a GPU has at most 232448",
     {},
     32,
     1,
     230000},
    {"NoBlocks", "mov.u32 x, 1;", "mov.u32 x, 1;", "a grid of 0x1x1 blocks", {}, 32, 0},
};

absl::Status RunPlanted(const Planted& test, absl::string_view body, const LaunchChecks& checks,
                        int threads) {
  std::vector<uint32_t> a(1024), b(1024);
  LaunchOptions options;
  options.block[0] = test.threads;
  options.grid[0] = test.blocks;
  options.dynamic_shared = test.dynamic_shared;
  options.threads = threads;
  options.checks = checks;
  return RunWords<uint32_t>(KernelWith(body), {&a, &b}, options);
}

class PlantedFaults : public testing::TestWithParam<Planted> {};

TEST_P(PlantedFaults, AreFoundAndNamed) {
  const Planted& test = GetParam();
  for (const int threads : {1, 2}) {
    const absl::Status status = RunPlanted(test, test.body, test.checks, threads);
    EXPECT_THAT(std::string(status.message()), testing::HasSubstr(test.message));
    const std::vector<std::string> lines = absl::StrSplit(KernelWith(test.body), '\n');
    const auto line = std::find_if(lines.begin(), lines.end(), [](const std::string& text) {
      return text.find("//!") != std::string::npos;
    });
    if (line == lines.end()) continue;
    EXPECT_THAT(std::string(status.message()), testing::HasSubstr("(kernel k"));
    EXPECT_THAT(std::string(status.message()), testing::HasSubstr("thread ("));
    const SourceFile source("test.ptx", KernelWith(test.body));
    const SourcePlace place = PlaceOf(status);
    ASSERT_TRUE(place.valid());
    EXPECT_EQ(source.Locate(place.offset).line, line - lines.begin() + 1) << status.message();
  }
}

TEST_P(PlantedFaults, RightKernelsPassEveryCheck) {
  Planted test = GetParam();
  test.threads = std::min(test.threads, 64u);
  test.blocks = std::max(test.blocks, 1u);
  test.dynamic_shared = 0;
  const absl::Status status = RunPlanted(
      test, test.right, {.races = true, .unwritten = true, .registers = true, .lanes = true}, 1);
  EXPECT_TRUE(status.ok()) << status.message();
}

INSTANTIATE_TEST_SUITE_P(All, PlantedFaults, testing::ValuesIn(kPlanted),
                         [](const auto& info) { return std::string(info.param.name); });

// Blocks that wait for a later one are no stall, on any number of threads of the host.
TEST(Stalls, BlocksThatWaitForLaterOnesGoOn) {
  for (const int threads : {1, 3}) {
    std::vector<uint32_t> a(1024), b(1024);
    LaunchOptions options;
    options.block[0] = 32;
    options.grid[0] = 8;
    options.threads = threads;
    const absl::Status status = RunWords<uint32_t>(
        KernelWith("setp.eq.u32 q, bid, 7;\n@!q bra wait;\nmov.u32 y, 100000;\n"
                   "busy: sub.u32 y, y, 1;\nsetp.ne.u32 r, y, 0;\n@r bra busy;\n"
                   "st.release.gpu.global.u32 [base], 1;\nbra done;\n"
                   "wait: ld.acquire.gpu.global.u32 x, [base];\nsetp.eq.u32 r, x, 0;\n"
                   "@r bra wait;\ndone: st.global.u32 [p+4], 5;"),
        {&a, &b}, options);
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(a[256], 5u);
  }
}

}  // namespace
}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
