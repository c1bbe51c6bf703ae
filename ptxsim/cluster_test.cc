// Clusters and asynchronous stores: blocks that use each other's shared memory.
#include <cstdint>
#include <numeric>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ptxsim/testing_internal.h"

namespace hlokit::ptx {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A kernel of one thread with `body` between; out: the place of block x's 8 words.
std::string OneThread(const std::string& cluster, const std::string& body) {
  return WithHeader(
      ".visible .entry k(.param .u64 pout) " + cluster +
      " {\n"
      ".reg .b64 out, q<8>; .reg .b32 r<16>, x; .reg .b16 h<4>; .reg .pred p<4>;\n"
      ".shared .align 128 .b32 mem[64]; .shared .align 8 .b64 bar;\n"
      "ld.param.u64 out, [pout]; mov.u32 x, %ctaid.x; mad.wide.u32 out, x, 32, out;\n" +
      body + "\nret;\n}\n");
}

absl::Status RunBlocks(const std::string& text, std::vector<uint32_t>& out, uint32_t blocks,
                       uint32_t cluster = 1, uint32_t threads = 1) {
  LaunchOptions options;
  options.grid[0] = blocks;
  options.block[0] = threads;
  options.cluster[0] = cluster;
  return RunWords<uint32_t>(text, {&out}, options);
}

TEST(Cluster, SpecialRegisters) {
  std::vector<uint32_t> out(4 * 8);
  ASSERT_TRUE(RunBlocks(OneThread(".reqnctapercluster 2",
                                  "mov.u32 r0, %clusterid.x; st.global.u32 [out], r0;\n"
                                  "mov.u32 r0, %cluster_ctaid.x; st.global.u32 [out+4], r0;\n"
                                  "mov.u32 r0, %cluster_ctarank; st.global.u32 [out+8], r0;\n"
                                  "mov.u32 r0, %cluster_nctaid.x; st.global.u32 [out+12], r0;\n"
                                  "mov.u32 r0, %nclusterid.x; st.global.u32 [out+16], r0;\n"
                                  "mov.pred p0, %is_explicit_cluster; selp.u32 r0, 1, 0, p0;\n"
                                  "st.global.u32 [out+20], r0;"),
                        out, 4)
                  .ok());
  EXPECT_THAT(std::vector<uint32_t>(out.begin() + 24, out.begin() + 30),
              ElementsAre(1, 1, 1, 2, 2, 1));
}

// Each block writes into the shared memory of the next one.
constexpr char kRing[] = R"(
mov.u32 r0, %cluster_ctarank; mov.u32 r1, %cluster_nctarank;
add.u32 r2, r0, 1; rem.u32 r2, r2, r1;
mov.u32 r3, mem; mapa.shared::cluster.u32 r4, r3, r2;
add.u32 r5, r0, 100; st.shared::cluster.u32 [r4+8], r5;
red.shared::cluster.add.u32 [r4+8], 1000;
barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
ld.shared.u32 r6, [mem+8]; st.global.u32 [out], r6;
ld.shared::cluster.u32 r7, [r4+8]; st.global.u32 [out+4], r7;
getctarank.shared::cluster.u32 r8, r4; st.global.u32 [out+8], r8;
cvta.shared.u64 q0, mem; mapa.u64 q1, q0, r2; ld.u32 r9, [q1+8]; st.global.u32 [out+12], r9;
isspacep.shared::cta p0, q1; isspacep.shared::cluster p1, q1;
selp.u32 r10, 1, 0, p0; selp.u32 r11, 2, 0, p1; add.u32 r10, r10, r11; st.global.u32 [out+16], r10;
barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;)";

TEST(Cluster, BlocksReadAndWriteEachOther) {
  std::vector<uint32_t> out(8 * 8);
  ASSERT_TRUE(RunBlocks(OneThread("", kRing), out, 8, 4).ok());
  for (uint32_t b = 0; b < 8; ++b) {
    const uint32_t rank = b % 4, before = (rank + 3) % 4;
    EXPECT_EQ(out[8 * b], 1100 + before);
    EXPECT_EQ(out[8 * b + 1], 1100 + rank);
    EXPECT_EQ(out[8 * b + 2], (rank + 1) % 4);
    EXPECT_EQ(out[8 * b + 3], 1100 + rank);
    EXPECT_EQ(out[8 * b + 4], 2u);
  }
}

TEST(Cluster, FaultsAndRefusalsAreTold) {
  std::vector<uint32_t> out(8 * 8);
  EXPECT_THAT(std::string(RunBlocks(OneThread("", kRing), out, 6, 4).message()),
              HasSubstr("no multiple of clusters of 4x1x1"));
  EXPECT_THAT(std::string(RunBlocks(OneThread("",
                                              "mov.u32 r3, mem; mov.u32 r2, 2;\n"
                                              "mapa.shared::cluster.u32 r4, r3, r2;"),
                                    out, 2, 2)
                              .message()),
              HasSubstr("mapa of block 2 of a cluster of 2"));
  EXPECT_THAT(std::string(RunBlocks(OneThread("",
                                              "setp.eq.u32 p0, x, 1; @p0 bar.sync 1, 64;\n"
                                              "barrier.cluster.arrive; barrier.cluster.wait;"),
                                    out, 2, 2)
                              .message()),
              HasSubstr("the cluster's barrier never opens: 1 threads wait at it, it waits for 2"));
}

TEST(Cluster, AsynchronousStoresCompleteTheBarrier) {
  std::vector<uint32_t> out(2 * 8);
  ASSERT_TRUE(RunBlocks(OneThread("", R"(
mov.u32 r0, %cluster_ctarank; xor.b32 r2, r0, 1;
mov.u32 r3, mem; mapa.shared::cluster.u32 r4, r3, r2;
mov.u32 r5, bar; mapa.shared::cluster.u32 r6, r5, r2;
mbarrier.init.shared.b64 [bar], 1; st.shared.u32 [mem+16], 5;
fence.mbarrier_init.release.cluster;
barrier.cluster.arrive; barrier.cluster.wait;
mbarrier.arrive.expect_tx.shared.b64 _, [bar], 20;
add.u32 r7, r0, 40;
st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [r4], {r7, 1, 2, 3}, [r6];
red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [r4+16], r7, [r6];
wait: mbarrier.try_wait.parity.shared.b64 p0, [bar], 0; @!p0 bra wait;
ld.shared.u32 r8, [mem]; st.global.u32 [out], r8;
ld.shared.u32 r8, [mem+12]; st.global.u32 [out+4], r8;
ld.shared.u32 r8, [mem+16]; st.global.u32 [out+8], r8;)"),
                        out, 2, 2)
                  .ok());
  EXPECT_THAT(std::vector<uint32_t>(out.begin(), out.begin() + 3), ElementsAre(41, 3, 46));
  EXPECT_THAT(std::vector<uint32_t>(out.begin() + 8, out.begin() + 11), ElementsAre(40, 3, 45));
}

TEST(Cluster, MulticastReachesEveryBlockOfTheMask) {
  std::vector<uint32_t> out(4 * 8);
  std::iota(out.begin(), out.begin() + 4, 70);  // block 0 reads its own place
  ASSERT_TRUE(RunBlocks(OneThread("", R"(
mbarrier.init.shared.b64 [bar], 1; st.shared.u32 [mem+4], 9;
barrier.cluster.arrive; barrier.cluster.wait;
mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;
setp.ne.u32 p1, x, 0; mov.u16 h0, 13;
mov.u32 r0, mem; mov.u32 r1, bar;
@!p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [r0], [out], 16, [r1], h0;
setp.eq.u32 p2, x, 1; @p2 bra done;
wait: mbarrier.try_wait.parity.shared.b64 p0, [bar], 0; @!p0 bra wait;
done: barrier.cluster.arrive; barrier.cluster.wait;
ld.shared.u32 r8, [mem+4]; st.global.u32 [out], r8;)"),
                        out, 4, 4)
                  .ok());
  EXPECT_THAT((std::vector<uint32_t>{out[0], out[8], out[16], out[24]}),
              ElementsAre(71, 9, 71, 71));
}

TEST(Bulk, CopiesReductionsAndStores) {
  std::vector<uint32_t> out = {1, 2, 3, 4, 5, 6, 7, 8};
  ASSERT_TRUE(RunBlocks(OneThread("", R"(
st.shared.v4.u32 [mem], {10, 20, 30, 40};
st.shared.v4.u32 [mem+16], {7, 7, 7, 7};
mov.u32 r0, mem; mov.u32 r1, bar; mov.u64 q0, 8; mov.u16 h0, 0x00f0;
cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [out], [r0], 16;
cp.reduce.async.bulk.global.shared::cta.bulk_group.max.s32 [out+16], [mem+16], 16;
cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
st.bulk.weak.shared::cta [r0], q0, 0;
cp.async.bulk.global.shared::cta.bulk_group.cp_mask [out], [r0], 16, h0;)"),
                        out, 1)
                  .ok());
  EXPECT_THAT(out, ElementsAre(11, 0, 33, 44, 7, 7, 7, 8));
}

}  // namespace
}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
