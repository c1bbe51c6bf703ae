// clusterlaunchcontrol: a running block takes the work of a cluster that has not begun (ISA,
// "clusterlaunchcontrol"). The response's form is open: word 0 is 1 where one was taken, words 1 to
// 3 are the number of its first block.
//
//   clusterlaunchcontrol.try_cancel.async.mbarrier::complete_tx::bytes.b128 [to], [mbarrier];
//   clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, response;
//   clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 x, response;
//
// Which cluster is the next one depends on the order of blocks: such kernels run on one thread.
#include <bit>
#include <cstring>

#include "ptxsim/async_internal.h"
#include "ptxsim/block.h"

namespace hlokit::ptx {
namespace {

struct Response {
  uint32_t words[4] = {};
};

Response TakeCluster(Warp& warp) {
  const int64_t index = warp.block().launch().cancel_next();
  if (index < 0) return {};
  const LaunchOptions& o = warp.block().options();
  const int64_t x = o.grid[0] / o.cluster[0], y = o.grid[1] / o.cluster[1];
  return {{1, static_cast<uint32_t>(index % x) * o.cluster[0],
           static_cast<uint32_t>(index / x % y) * o.cluster[1],
           static_cast<uint32_t>(index / x / y) * o.cluster[2]}};
}

// op.a + op.offset: where the response goes; op.b + op.target's: the mbarrier. op.mode 1: to all
// blocks of the cluster.
void TryCancel(const Op& op, Warp& warp, LaneMask mask) {
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!(mask >> lane & 1)) continue;
    const Response response = TakeCluster(warp);
    const uint64_t to = In<uint64_t>(warp.frame(), op.a)[lane] + static_cast<uint64_t>(op.offset);
    const uint64_t barrier_at = In<uint64_t>(warp.frame(), op.b)[lane];
    const int blocks = op.mode == 1 ? warp.block().cluster().size() : 1;
    for (int rank = 0; rank < blocks; ++rank) {
      const auto place = [&](uint64_t address) {
        return op.mode == 1 ? SharedOfRank(address, static_cast<uint32_t>(rank)) : address;
      };
      std::byte* const at =
          LaneMemory(op, warp, lane, place(to), 16, Space::kShared, "asynchronous store");
      if (at == nullptr) return;
      std::memcpy(at, response.words, 16);
      Mbarrier* const barrier = MbarrierAt(op, warp, lane, place(barrier_at), Space::kShared);
      if (barrier == nullptr) return;
      barrier->Complete(16);
    }
  }
}

// Word op.mode of the response in op.a.
void ReadResponse(const Op& op, std::byte* frame, void* result) {
  const Response* a = In<Response>(frame, op.a);
  uint32_t* d = static_cast<uint32_t*>(result);
  for (int i = 0; i < kLanes; ++i) d[i] = a[i].words[op.mode];
}
void IsCanceled(const Op& op, std::byte* frame, void* result) {
  const Response* a = In<Response>(frame, op.a);
  LaneMask canceled = 0;
  for (int i = 0; i < kLanes; ++i) canceled |= LaneMask{a[i].words[0] != 0} << i;
  *static_cast<LaneMask*>(result) = canceled;
}

void EmitWord(Binder& b, uint32_t response, const Operand& to, uint8_t word) {
  if (to.kind == Operand::kSink) return;
  Op op = b.MakeEval(&ReadResponse, Type::kB32, 0);
  op.mode = word;
  op.a = response;
  op.d = b.Result(to, Type::kB32);
  if (!b.failed()) b.Emit(op);
}

void BindTryCancel(Binder& b) {
  Op op = b.MakeExec(&TryCancel);
  op.space = Space::kShared;
  b.Address(b.operand(0), op);
  const AddressColumn barrier = AddressColumnOf(b, b.operand(1), Space::kShared);
  if (b.failed()) return;
  if (barrier.offset != 0) return b.Unsupported();
  op.b = barrier.at;
  op.mode = b.Has("multicast::cluster::all") ? 1 : 0;
  b.OrderMatters();
  b.Emit(op);
}

}  // namespace

void BindLaunchControl(Binder& b) {
  if (b.Has("try_cancel")) return BindTryCancel(b);
  const uint32_t response = b.Source(1, Type::kB128);
  if (b.failed()) return;
  if (b.Has("is_canceled")) {
    Op op = b.MakeEval(&IsCanceled, Type::kPred, b.Result(0, Type::kPred));
    op.a = response;
    if (!b.failed()) b.Emit(op);
    return;
  }
  if (b.Has("v4")) {
    if (b.operand(0).parts.size() != 4) return b.Unsupported();
    for (uint8_t i = 0; i < 3; ++i)
      EmitWord(b, response, b.operand(0).parts[i], static_cast<uint8_t>(i + 1));
    // The fourth has no meaning; here it is the cancellation's word.
    return EmitWord(b, response, b.operand(0).parts[3], 0);
  }
  const uint8_t word = b.Has("get_first_ctaid::x")   ? 1
                       : b.Has("get_first_ctaid::y") ? 2
                       : b.Has("get_first_ctaid::z") ? 3
                                                     : 0;
  if (word == 0) return b.Unsupported();
  EmitWord(b, response, b.operand(0), word);
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
