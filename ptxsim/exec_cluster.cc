// What blocks of a cluster do together: mapa, getctarank, isspacep of shared memory and
// barrier.cluster (ISA, "Cluster of Cooperative Thread Arrays"). An address of shared memory has
// rank + 1 of its block above its low 24 bits; 0 there is the block's own.
#include <bit>
#include <cstring>

#include "ptxsim/async_internal.h"
#include "ptxsim/block.h"
#include "ptxsim/races.h"

namespace hlokit::ptx {
namespace {

// The window of a generic address, or 0 of one that is an offset already.
uint64_t WindowOf(uint64_t address) {
  return address >= kSharedWindow && address < kLocalWindow ? kSharedWindow : 0;
}
uint64_t RankField(uint64_t address) { return (address - WindowOf(address)) >> kSharedRankShift; }

// The same place in the shared memory of block op.b.
void MapAddress(const Op& op, Warp& warp, LaneMask mask) {
  const uint64_t* a = In<uint64_t>(warp.frame(), op.a);
  const uint32_t* ranks = In<uint32_t>(warp.frame(), op.b);
  uint64_t* d = Out<uint64_t>(warp.frame(), op.d);
  for (int i = 0; i < kLanes; ++i) {
    if (!(mask >> i & 1)) continue;
    if (ranks[i] >= static_cast<uint32_t>(warp.block().cluster().size()))
      return warp.block().Fault(warp, op, i,
                                "mapa of block " + std::to_string(ranks[i]) + " of a cluster of " +
                                    std::to_string(warp.block().cluster().size()));
    const uint64_t window = WindowOf(a[i]);
    d[i] = window + SharedOfRank(a[i] - window, ranks[i]);
  }
}

void ReadRank(const Op& op, Warp& warp, LaneMask mask) {
  const uint64_t* a = In<uint64_t>(warp.frame(), op.a);
  uint32_t* d = Out<uint32_t>(warp.frame(), op.d);
  for (int i = 0; i < kLanes; ++i) {
    if (!(mask >> i & 1)) continue;
    const uint64_t field = RankField(a[i]);
    d[i] =
        static_cast<uint32_t>(field == 0 ? static_cast<uint64_t>(warp.block().rank()) : field - 1);
  }
}

// isspacep.shared::cta: whether the address is of the block's own shared memory.
void IsOwnShared(const Op& op, Warp& warp, LaneMask mask) {
  const uint64_t* a = In<uint64_t>(warp.frame(), op.a);
  const auto own = static_cast<uint64_t>(warp.block().rank()) + 1;
  LaneMask inside = 0;
  for (int i = 0; i < kLanes; ++i) {
    const uint64_t field = RankField(a[i]);
    inside |= LaneMask{WindowOf(a[i]) != 0 && (field == 0 || field == own)} << i;
  }
  LaneMask& d = *Out<LaneMask>(warp.frame(), op.d);
  d = (d & ~mask) | (inside & mask);
}

void ClusterArrive(const Op&, Warp& warp, LaneMask mask) {
  Block& block = warp.block();
  for (int i = 0; i < kLanes; ++i)
    if (mask >> i & 1) ++block.cluster_arrivals(warp.ThreadOf(i));
  if (RaceDetector* const races = block.races())
    races->Release({RaceDetector::SyncKind::kBarrier, block.index(), Block::kClusterBarrier}, warp,
                   mask);
  block.cluster().Arrive(std::popcount(mask));
}

void ClusterWait(const Op&, Warp& warp, LaneMask mask) {
  Block& block = warp.block();
  bool is_open = true;
  for (int i = 0; i < kLanes; ++i)
    if (mask >> i & 1)
      is_open &= block.cluster().openings() >= block.cluster_arrivals(warp.ThreadOf(i));
  if (!is_open) warp.WaitAtBarrier(Block::kClusterBarrier, false);
}

}  // namespace

void BindMapa(Binder& b) {
  const Type type = b.type();
  Op op = b.MakeExec(&MapAddress);
  op.a = b.Source(1, type == Type::kU32 ? Type::kU32 : Type::kU64);
  if (type == Type::kU32) op.a = b.Widened(op.a);
  op.b = b.Source(2, Type::kU32);
  op.d = b.Result(0, Type::kU64);
  if (!b.failed()) b.Emit(op);
}

void BindGetCtaRank(Binder& b) {
  const Type type = b.type();
  Op op = b.MakeExec(&ReadRank);
  op.a = b.Source(1, type);
  if (type == Type::kU32) op.a = b.Widened(op.a);
  op.d = b.Result(0, Type::kU32);
  if (!b.failed()) b.Emit(op);
}

void BindIsOwnShared(Binder& b) {
  Op op = b.MakeExec(&IsOwnShared);
  op.a = b.Source(1, Type::kU64);
  op.d = b.Result(0, Type::kPred);
  if (!b.failed()) b.Emit(op);
}

void BindClusterBarrier(Binder& b) {
  b.Emit(b.MakeExec(b.Has("arrive") ? Exec(&ClusterArrive) : Exec(&ClusterWait)));
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
