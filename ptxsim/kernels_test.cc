// Whole kernels: memory, control flow, what threads do together, and the faults that are found.
#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ptxsim/testing_internal.h"

namespace hlokit::ptx {
namespace {

using testing::HasSubstr;
using Words = std::vector<uint32_t>;

// A kernel of one buffer: %tid.x in t, the thread's word's address in p, the buffer's in base.
std::string Kernel(const std::string& body, const std::string& before = "") {
  return WithHeader(before +
                    "\n.visible .entry k(.param .u64 a) {\n"
                    ".reg .b64 base, p; .reg .b32 t, x, y, z, w; .reg .pred q, r;\n"
                    "ld.param.u64 base, [a]; mov.u32 t, %tid.x; mad.wide.u32 p, t, 4, base;\n" +
                    body + "\nret;\n}\n");
}

absl::Status RunKernel(const std::string& text, Words& words, uint32_t threads = 32,
                       uint32_t blocks = 1, LaunchStats* stats = nullptr) {
  LaunchOptions options;
  options.block[0] = threads;
  options.grid[0] = blocks;
  options.max_steps = 1000000;
  return RunWords<uint32_t>(text, {&words}, options, stats);
}
Words Expect(const std::string& body, uint32_t threads = 32, const std::string& before = "") {
  Words words(threads);
  std::iota(words.begin(), words.end(), 0);
  const absl::Status status = RunKernel(Kernel(body, before), words, threads);
  EXPECT_TRUE(status.ok()) << status.message();
  return words;
}
std::string FaultOf(const std::string& body, uint32_t threads = 32,
                    const std::string& before = "") {
  Words words(threads);
  return std::string(RunKernel(Kernel(body, before), words, threads).message());
}
template <typename F>
Words Each(uint32_t threads, F f) {
  Words words;
  for (uint32_t i = 0; i < threads; ++i) words.push_back(f(i));
  return words;
}

TEST(Kernels, DivergeAndMeetAgain) {
  // Odd lanes loop t times; then all lanes count themselves.
  EXPECT_EQ(
      Expect("mov.u32 x, 0; and.b32 y, t, 1; setp.eq.u32 q, y, 0; @q bra even; mov.u32 z, t;\n"
             "loop: add.u32 x, x, 2; sub.u32 z, z, 1; setp.ne.u32 q, z, 0; @q bra loop;\n"
             "even: activemask.b32 y; popc.b32 y, y; add.u32 x, x, y; st.global.u32 [p], x;"),
      Each(32, [](uint32_t t) { return (t & 1 ? 2 * t : 0) + 32; }));
}

TEST(Kernels, TeamsOfAWarpReduceByTheirOwnMasks) {
  // Two halves of a warp come to one instruction together.
  EXPECT_EQ(Expect("setp.lt.u32 q, t, 16; selp.b32 y, 0xffff, 0xffff0000, q;\n"
                   "redux.sync.add.u32 x, t, y; vote.sync.ballot.b32 z, q, y;\n"
                   "add.u32 x, x, z; st.global.u32 [p], x;"),
            Each(32, [](uint32_t t) { return t < 16 ? 120 + 0xffffu : 376; }));
}

TEST(Kernels, LanesThatSpinLetOthersGoOn) {
  // Lane 0 sets the flag that the others wait for, though their loop comes first in the code.
  EXPECT_EQ(Expect("setp.eq.u32 q, t, 0; @q bra set;\n"
                   "spin: nanosleep.u32 10; ld.relaxed.gpu.global.u32 x, [base];"
                   " setp.ne.u32 r, x, 77; @r bra spin; bra done;\n"
                   "set: mov.u32 y, 77; nanosleep.u32 10; st.relaxed.gpu.global.u32 [base], y;\n"
                   "done: st.global.u32 [p], 77;"),
            Each(32, [](uint32_t) { return 77; }));
}

TEST(Kernels, ClocksGoOn) {
  EXPECT_EQ(Expect("mov.u32 x, %clock; add.u32 y, t, 1; mov.u32 z, %clock; setp.gt.u32 q, z, x;\n"
                   "selp.u32 x, 1, 0, q; st.global.u32 [p], x;"),
            Each(32, [](uint32_t) { return 1; }));
}

TEST(Kernels, MemoryOfAlloca) {
  EXPECT_EQ(Expect("{ .reg .b64 s, q0, n; stacksave.u64 s; cvt.u64.u32 n, t; shl.b64 n, n, 2;"
                   " add.u64 n, n, 4; alloca.u64 q0, n, 16; mad.wide.u32 n, t, 4, q0;"
                   " st.local.u32 [n], t; ld.local.u32 x, [n]; stackrestore.u64 s;"
                   " alloca.u64 n, 4, 16; sub.u64 n, n, q0; cvt.u32.u64 y, n;"
                   " add.u32 x, x, y; st.global.u32 [p], x; }"),
            Each(32, [](uint32_t t) { return t; }));
}

constexpr char kHeap[] = R"(
.extern .func (.param .b64 r) malloc(.param .b64 n);
.extern .func free(.param .b64 p);
)";
constexpr char kAllocate[] =
    "{ .reg .b64 m, f; { .param .b64 n; .param .b64 r; st.param.b64 [n], 8; call.uni (r), malloc,"
    " (n); ld.param.b64 m, [r]; } st.u32 [m+4], t; ld.u32 x, [m+4]; add.s64 f, m, ";
constexpr char kRelease[] =
    "; { .param .b64 n; st.param.b64 [n], f; call.uni free, (n); } st.global.u32 [p], x; }";

TEST(Kernels, MemoryOfMalloc) {
  EXPECT_EQ(Expect(absl::StrCat(kAllocate, "0", kRelease), 32, kHeap),
            Each(32, [](uint32_t t) { return t; }));
  EXPECT_THAT(FaultOf(absl::StrCat(kAllocate, "4", kRelease), 32, kHeap),
              HasSubstr("which malloc did not give"));
  EXPECT_THAT(FaultOf("{ .reg .b64 m; { .param .b64 n; .param .b64 r; st.param.b64 [n], 8;"
                      " call.uni (r), malloc, (n); ld.param.b64 m, [r]; } ld.u32 x, [m+8]; }",
                      32, kHeap),
              HasSubstr("out-of-bounds load of 4 bytes"));
}

TEST(Kernels, LanesThatExitAreGone) {
  EXPECT_EQ(Expect("setp.lt.u32 q, t, 8; @q exit; activemask.b32 x; st.global.u32 [p], x;"),
            Each(32, [](uint32_t t) { return t < 8 ? t : 0xffffff00u; }));
}

TEST(Kernels, BranchesByIndex) {
  EXPECT_EQ(Expect("and.b32 x, t, 3;\nts: .branchtargets A, B, C, C;\nbrx.idx x, ts;\n"
                   "A: mov.u32 y, 10; bra D; B: mov.u32 y, 20; bra D; C: add.u32 y, t, 100;\n"
                   "D: st.global.u32 [p], y;"),
            Each(32, [](uint32_t t) { return t % 4 == 0   ? 10
                                             : t % 4 == 1 ? 20
                                                          : t + 100; }));
}

constexpr char kFactorial[] = R"(
.func (.param .b32 r) fact(.param .b32 n) {
  .reg .b32 v, w; .reg .pred p;
  ld.param.b32 v, [n];
  setp.le.u32 p, v, 1;
  @p bra one;
  sub.u32 w, v, 1;
  { .param .b32 a; .param .b32 b; st.param.b32 [a], w; call (b), fact, (a); ld.param.b32 w, [b]; }
  mul.lo.u32 v, v, w;
  st.param.b32 [r], v;
  ret;
one: st.param.b32 [r], 1;
  ret;
})";

TEST(Kernels, CallRecursively) {
  EXPECT_EQ(Expect("{ .param .b32 u; .param .b32 v; and.b32 x, t, 7; st.param.b32 [u], x;\n"
                   "call (v), fact, (u); ld.param.b32 y, [v]; }\nst.global.u32 [p], y;",
                   32, kFactorial),
            Each(32, [](uint32_t t) {
              uint32_t f = 1;
              for (uint32_t i = 2; i <= t % 8; ++i) f *= i;
              return f;
            }));
}

TEST(Kernels, CallByAddress) {
  const char* functions =
      ".func (.param .b32 r) one(.param .b32 n) { st.param.b32 [r], 1; ret; }\n"
      ".func (.param .b32 r) two(.param .b32 n) { st.param.b32 [r], 2; ret; }\n";
  EXPECT_EQ(Expect(".reg .b64 f, g; mov.u64 f, one; mov.u64 g, two; setp.gt.u32 q, t, 5;\n"
                   "selp.b64 f, f, g, q; proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
                   "{ .param .b32 u, v; st.param.b32 [u], t; call (v), f, (u), proto;\n"
                   "ld.param.b32 y, [v]; }\nst.global.u32 [p], y;",
                   32, functions),
            Each(32, [](uint32_t t) { return t > 5 ? 1 : 2; }));
}

TEST(Kernels, ReverseThroughSharedMemory) {
  EXPECT_EQ(
      Expect(".shared .align 4 .b32 s[100]; .reg .b32 o; mov.u32 o, s; mad.lo.u32 x, t, 4, o;\n"
             "st.shared.u32 [x], t; bar.sync 0; sub.u32 y, 99, t; mad.lo.u32 y, y, 4, o;\n"
             "ld.shared.u32 z, [y]; st.global.u32 [p], z;",
             100),
      Each(100, [](uint32_t t) { return 99 - t; }));
}

TEST(Kernels, ShuffleDown) {
  EXPECT_EQ(
      Expect("shfl.sync.down.b32 x|q, t, 4, 0x1f, -1; @!q mov.u32 x, 77; st.global.u32 [p], x;"),
      Each(32, [](uint32_t t) { return t < 28 ? t + 4 : 77; }));
  // Segments of 8 lanes.
  EXPECT_EQ(Expect("shfl.sync.up.b32 x|q, t, 1, 0x1800, -1; st.global.u32 [p], x;"),
            Each(32, [](uint32_t t) { return t % 8 == 0 ? t : t - 1; }));
}

TEST(Kernels, VoteMatchReduce) {
  EXPECT_EQ(Expect("setp.lt.u32 q, t, 3; vote.sync.ballot.b32 x, q, -1; st.global.u32 [p], x;")[9],
            7u);
  EXPECT_EQ(Expect("shr.u32 x, t, 3; match.any.sync.b32 y, x, -1; st.global.u32 [p], y;")[9],
            0xff00u);
  EXPECT_EQ(Expect("match.all.sync.b32 y|q, t, -1; selp.u32 x, 1, 2, q; st.global.u32 [p], x;")[0],
            2u);
  EXPECT_EQ(Expect("redux.sync.add.u32 x, t, -1; st.global.u32 [p], x;")[31], 496u);
  EXPECT_EQ(Expect("elect.sync x|q, -1; selp.u32 y, 5, x, q; st.global.u32 [p], y;"),
            Each(32, [](uint32_t t) { return t == 0 ? 5 : 0; }));
}

TEST(Kernels, AtomicsOfEveryKind) {
  const auto last = [](const std::string& instruction, uint32_t start) {
    Words words(32, start);
    const absl::Status status = RunKernel(Kernel(instruction), words);
    EXPECT_TRUE(status.ok()) << status.message();
    return words[0];
  };
  EXPECT_EQ(last("atom.global.add.u32 x, [base], t;", 1), 497u);
  EXPECT_EQ(last("red.global.max.s32 [base], t;", 0xffffffff), 31u);
  EXPECT_EQ(last("red.global.min.u32 [base], t;", 9), 0u);
  EXPECT_EQ(last("red.global.and.b32 [base], 12;", 10), 8u);
  EXPECT_EQ(last("red.global.or.b32 [base], t;", 0), 31u);
  EXPECT_EQ(last("red.global.xor.b32 [base], t;", 0), 0u);
  EXPECT_EQ(last("atom.global.inc.u32 x, [base], 4;", 0), 2u);
  EXPECT_EQ(last("atom.global.dec.u32 x, [base], 4;", 0), 3u);
  EXPECT_EQ(last("atom.global.exch.b32 x, [base], t;", 0), 31u);
  EXPECT_EQ(last("atom.global.cas.b32 x, [base], t, 7;", 3), 7u);
  EXPECT_EQ(last("red.global.add.f32 [base], 0f3f800000;", 0), 0x42000000u);
  EXPECT_EQ(last("red.global.add.noftz.f16x2 [base], 0x3c003c00;", 0), 0x50005000u);
}

TEST(Kernels, SpinLocksLetTheHolderGoOn) {
  Words words(2, 0);
  const std::string body =
      "again: atom.global.cas.b32 x, [base], 0, 1; setp.ne.u32 q, x, 0; @q bra again;\n"
      "ld.global.u32 y, [base+4]; add.u32 y, y, 1; st.global.u32 [base+4], y;\n"
      "atom.global.exch.b32 x, [base], 0;";
  LaunchOptions options;
  options.block[0] = 64;
  options.grid[0] = 2;
  const absl::Status status = RunWords<uint32_t>(Kernel(body), {&words}, options);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(words[1], 128u);
}

TEST(Kernels, SameResultsOnAnyNumberOfThreads) {
  const std::string text = Kernel(
      "mov.u32 x, %ctaid.x; cvt.rn.f32.u32 x, x; mul.f32 x, x, 0f3dcccccd;\n"
      "atom.global.add.f32 y, [base], x;");
  Words one(1, 0), eight(1, 0);
  LaunchOptions options;
  options.grid[0] = 100;
  ASSERT_TRUE(RunWords<uint32_t>(text, {&one}, options).ok());
  options.threads = 8;
  ASSERT_TRUE(RunWords<uint32_t>(text, {&eight}, options).ok());
  EXPECT_EQ(one, eight);
}

TEST(Kernels, MbarriersAndAsynchronousCopies) {
  EXPECT_EQ(Expect(".shared .align 16 .b8 s[512]; .shared .align 8 .b64 m; .reg .b64 st;\n"
                   "setp.eq.u32 q, t, 0; @q mbarrier.init.shared::cta.b64 [m], 33; bar.sync 0;\n"
                   "mad.lo.u32 x, t, 4, 0; .reg .b32 o; mov.u32 o, s; add.u32 x, x, o;\n"
                   "cp.async.ca.shared.global [x], [p], 4; cp.async.commit_group;\n"
                   "cp.async.wait_group 0;\n"
                   "mbarrier.arrive.shared::cta.b64 st, [m];\n"
                   "@q cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s+256], "
                   "[base], 64, [m];\n"
                   "@q mbarrier.arrive.expect_tx.shared::cta.b64 _, [m], 64;\n"
                   "wait: mbarrier.try_wait.parity.shared::cta.b64 r, [m], 0; @!r bra wait;\n"
                   "and.b32 y, t, 15; mad.lo.u32 y, y, 4, o; ld.shared.u32 z, [y+256];\n"
                   "ld.shared.u32 w, [x]; add.u32 z, z, w; st.global.u32 [p], z;"),
            Each(32, [](uint32_t t) { return t % 16 + t; }));
}

TEST(Kernels, BarrierReductions) {
  EXPECT_EQ(Expect("setp.lt.u32 q, t, 40; barrier.cta.red.popc.aligned.u32 x, 0, q;\n"
                   "barrier.cta.red.and.aligned.pred r, 0, q; selp.u32 y, 1000, 0, r;\n"
                   "add.u32 x, x, y; st.global.u32 [p], x;",
                   64),
            Words(64, 40));
}

TEST(Kernels, ModuleVariables) {
  EXPECT_EQ(Expect("ld.const.u32 x, [c+4]; ld.global.u64 p, [q64]; ld.global.u32 y, [p+4];\n"
                   "add.u32 x, x, y; mad.wide.u32 p, t, 4, base; st.global.u32 [p], x;",
                   32,
                   ".const .align 4 .u32 c[2] = {5, 7};\n.global .align 4 .u32 g[2] = {1, 30};\n"
                   ".global .align 8 .u64 q64 = g;\n"),
            Words(32, 37));
}

// a and b hold small integers: each product is exact whatever the rounding.
TEST(Kernels, MatrixProductOfHalves) {
  // Each lane's fragments hold ones: every element of d is 16 + 3.
  EXPECT_EQ(
      Expect("mov.b32 x, 0x3c003c00; mov.b32 y, 0x40400000; .reg .b32 d<4>;\n"
             "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {d0,d1,d2,d3}, {x,x,x,x}, {x,x}, "
             "{y,y,y,y};\nst.global.b32 [p], d3;"),
      Words(32, 0x41980000));
}

TEST(Kernels, MatrixProductsOfIntegersAndDoubles) {
  // a is 1 everywhere, b 2, c 5: k products of 2.
  EXPECT_EQ(
      Expect("mov.b32 x, 0x01010101; mov.b32 y, 0x02020202; mov.b32 z, 5; .reg .b32 d<4>;\n"
             "mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {d0,d1,d2,d3}, {x,x,x,x}, {y,y}, "
             "{z,z,z,z};\nst.global.b32 [p], d1;"),
      Words(32, 69));
  EXPECT_EQ(
      Expect(".reg .f64 e<5>; mov.f64 e0, 0d3ff0000000000000; mov.f64 e1, 0d4000000000000000;\n"
             "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {e3,e4}, {e0}, {e1}, {e1,e1};\n"
             "cvt.rzi.u32.f64 x, e4; st.global.b32 [p], x;"),
      Words(32, 10));
}

// Row r of a is r, and b the identity: d is a, wherever lanes keep it.
TEST(Kernels, MatrixFragmentsLieAsTheIsaSays) {
  EXPECT_EQ(
      Expect(
          ".reg .f32 f<8>; .reg .b32 g<8>; shr.u32 x, t, 2; cvt.rn.f32.u32 f0, x;\n"
          "add.u32 y, x, 8; cvt.rn.f32.u32 f1, y; and.b32 z, t, 3;\n"
          "setp.eq.u32 q, x, z; selp.f32 f2, 0f3f800000, 0f00000000, q; add.u32 z, z, 4;\n"
          "setp.eq.u32 q, x, z; selp.f32 f3, 0f3f800000, 0f00000000, q; mov.f32 f4, 0f00000000;\n"
          "mov.b32 g0, f0; mov.b32 g1, f1; mov.b32 g2, f2; mov.b32 g3, f3;\n"
          "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {f5,f6,f7,f4}, {g0,g1,g0,g1}, "
          "{g2,g3}, {f4,f4,f4,f4};\n"
          "cvt.rzi.u32.f32 w, f4; cvt.rzi.u32.f32 x, f6; mad.lo.u32 w, w, 100, x;\n"
          "st.global.u32 [p], w;"),
      Each(32, [](uint32_t t) { return (t / 4 + 8) * 100 + t / 4; }));
}

TEST(Kernels, WmmaLoadsMultipliesStores) {
  // Buffer: 256 words, read as 16 x 16 tf32 of which a and b take 16 x 8 and 8 x 16.
  Words words(256, 0x3f800000);
  const absl::Status status = RunKernel(
      Kernel(".reg .b32 a<4>, b<4>, c<8>;\n"
             "wmma.load.a.sync.aligned.row.m16n16k8.global.tf32 {a0,a1,a2,a3}, [base], 8;\n"
             "wmma.load.b.sync.aligned.col.m16n16k8.global.tf32 {b0,b1,b2,b3}, [base], 8;\n"
             "wmma.load.c.sync.aligned.row.m16n16k8.global.f32 {c0,c1,c2,c3,c4,c5,c6,c7}, [base], "
             "16;\n"
             "wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32 {c0,c1,c2,c3,c4,c5,c6,c7}, "
             "{a0,a1,a2,a3}, {b0,b1,b2,b3}, {c0,c1,c2,c3,c4,c5,c6,c7};\n"
             "wmma.store.d.sync.aligned.row.m16n16k8.global.f32 [base], {c0,c1,c2,c3,c4,c5,c6,c7}, "
             "16;"),
      words);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(words, Words(256, 0x41100000));
}

TEST(Kernels, MatricesAreTransposed) {
  // The pair at (row, 2c) of the transposed matrix holds elements (2c, row) and (2c + 1, row).
  EXPECT_EQ(Expect("movmatrix.sync.aligned.m8n8.trans.b16 x, t; st.global.u32 [p], x;")[4],
            0u);  // row 1, pair 0: the upper halves of lanes 0 and 4 are zero
  EXPECT_EQ(Expect("movmatrix.sync.aligned.m8n8.trans.b16 x, t; st.global.u32 [p], x;")[1],
            0x000c0008u);
  EXPECT_EQ(
      Expect(".shared .align 16 .b8 s[128]; .reg .b32 o; mov.u32 o, s; and.b32 y, t, 7;\n"
             "mad.lo.u32 y, y, 16, o; stmatrix.sync.aligned.m8n8.x1.shared.b16 [y], {t};\n"
             "bar.sync 0; mad.lo.u32 x, t, 4, o; ld.shared.u32 z, [x]; st.global.u32 [p], z;"),
      Each(32, [](uint32_t t) { return t; }));
}

TEST(Kernels, LdmatrixDealsRows) {
  EXPECT_EQ(
      Expect(".shared .align 16 .b8 s[128]; .reg .b32 o; mov.u32 o, s; mad.lo.u32 x, t, 4, o;\n"
             "st.shared.u32 [x], t; bar.sync 0; and.b32 y, t, 7; mad.lo.u32 y, y, 16, o;\n"
             "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {z}, [y]; st.global.u32 [p], z;"),
      Each(32, [](uint32_t t) { return t; }));
}

TEST(Faults, AreNamedWithPlaceAndThread) {
  EXPECT_THAT(FaultOf("ld.global.u32 x, [p+120];"),
              HasSubstr("out-of-bounds load of 4 bytes at global address"));
  EXPECT_THAT(FaultOf("ld.global.u32 x, [p+120];"),
              HasSubstr("(kernel k, block (0,0,0), thread (2,0,0))"));
  EXPECT_THAT(FaultOf("st.global.u32 [p+2], x;"), HasSubstr("misaligned store of 4 bytes"));
  EXPECT_THAT(FaultOf(".shared .b32 s[4]; st.shared.u32 [s+16], t;"),
              HasSubstr("(the block has 16 bytes)"));
  EXPECT_THAT(FaultOf("trap;"), HasSubstr("trap"));
  EXPECT_THAT(FaultOf("brkpt;"), HasSubstr("brkpt"));
  EXPECT_THAT(FaultOf("loop: bra loop;"), HasSubstr("ran more than 1000000 instructions"));
  EXPECT_THAT(FaultOf("setp.lt.u32 q, t, 16; @q bra a; bar.sync 0; bra e; a: bar.sync 0; e:"),
              HasSubstr("divergent barrier: 16 of the warp's 32 threads"));
  EXPECT_THAT(
      FaultOf("setp.lt.u32 q, t, 32; @q bra a; bar.sync 1; bra e; a: bar.sync 2, 64; e:", 64),
      HasSubstr("never opens"));
}

TEST(Faults, ReadsOfWhatNothingWrote) {
  const auto run = [](const std::string& body) {
    const auto program = DecodeText(Kernel(body));
    EXPECT_TRUE(program.ok()) << program.status().message();
    Memory memory;
    const uint64_t address = *memory.Allocate(256, "parameter 0", /*is_written=*/false);
    LaunchOptions options;
    options.block[0] = 32;
    LaunchStats stats;
    const auto* bytes = reinterpret_cast<const std::byte*>(&address);
    return std::string(Launch(**program, memory, {bytes, 8}, options, stats).message());
  };
  EXPECT_EQ(run("st.global.u32 [p], t; ld.global.u32 x, [p];"), "");
  EXPECT_THAT(run("ld.global.u32 x, [p];"),
              HasSubstr("load of 4 bytes that nothing has written at global address 0x7f0000000000 "
                        "(byte 0 of parameter 0, which has 256)"));
  EXPECT_THAT(run("st.global.u16 [p], 1; ld.global.u32 x, [p];"), HasSubstr("nothing has written"));
}

TEST(Kernels, LanesOfAMemberMaskMeetInLoops) {
  // Lanes come to the shuffle after different numbers of rounds.
  EXPECT_EQ(
      Expect("and.b32 x, t, 3;\nloop: setp.eq.u32 q, x, 0; @q bra out; sub.u32 x, x, 1; bra loop;\n"
             "out: shfl.sync.bfly.b32 y, t, 1, 31, -1; st.global.u32 [p], y;"),
      Each(32, [](uint32_t t) { return t ^ 1; }));
}

TEST(Faults, AreThoseOfTheFirstBlock) {
  Words words(32);
  const absl::Status status =
      RunKernel(Kernel("mov.u32 x, %ctaid.x; setp.eq.u32 q, x, 3; @q trap;"), words, 32, 8);
  EXPECT_THAT(std::string(status.message()), HasSubstr("block (3,0,0)"));
}

TEST(Output, ComesInTheOrderOfBlocks) {
  Words words(32);
  LaunchStats stats;
  const absl::Status status = RunKernel(
      Kernel("mov.u32 x, %ctaid.x; .local .align 8 .b8 v[8]; .reg .b64 f, g; st.local.u32 [v], x;\n"
             "mov.u64 g, v; cvta.local.u64 g, g; mov.u64 f, fmt; cvta.global.u64 f, f;\n"
             "{ .param .b64 u, w0; .param .b32 v0; st.param.b64 [u], f; st.param.b64 [w0], g;\n"
             "call (v0), vprintf, (u, w0); }",
             ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
             ".global .align 1 .b8 fmt[7] = {98, 61, 37, 50, 100, 10, 0};\n"),
      words, 1, 3, &stats);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(stats.output, "b= 0\nb= 1\nb= 2\n");
}

// An offset of the source may be negative; bytes that it does not have are zero, for whole lanes
// and for parts.
TEST(Kernels, CopiesAsynchronouslyFromBelow) {
  std::vector<uint32_t> in(64), out(128, 7);
  for (uint32_t i = 0; i < 64; ++i) in[i] = i + 1;
  LaunchOptions options;
  options.block[0] = 32;
  const absl::Status status = RunWords<uint32_t>(
      WithHeader(".visible .entry k(.param .u64 pin, .param .u64 pout) {\n.reg .b64 q<4>; "
                 ".reg .b32 w<9>, s, x;\n.shared .align 16 .b8 mem[512];\n"
                 "ld.param.u64 q0, [pin]; ld.param.u64 q1, [pout]; mov.u32 x, %tid.x;\n"
                 "mad.wide.u32 q0, x, 4, q0; mad.wide.u32 q1, x, 16, q1; mov.u32 s, mem;\n"
                 "mad.lo.u32 s, x, 16, s; and.b32 w0, x, 3; shl.b32 w0, w0, 2;\n"
                 "and.b64 q0, q0, -16;\n"
                 "cp.async.cg.shared.global [s], [q0+32], 16; cp.async.wait_all;\n"
                 "add.u64 q0, q0, 64; add.u32 w1, x, 1;\n"
                 "cp.async.ca.shared.global [s], [q0+-64], 16, w0; cp.async.wait_all;\n"
                 "ld.shared.v4.u32 {w1, w2, w3, w4}, [s]; st.global.v4.u32 [q1], {w1, w2, w3, w4};"
                 "\nret; }\n"),
      {&in, &out}, options);
  ASSERT_TRUE(status.ok()) << status.message();
  for (uint32_t lane = 0; lane < 32; ++lane)
    for (uint32_t i = 0; i < 4; ++i)
      EXPECT_EQ(out[4 * lane + i], i < lane % 4 ? lane / 4 * 4 + i + 1 : 0u) << lane << " " << i;
}

}  // namespace
}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
