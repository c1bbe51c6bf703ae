// cp.async and mbarrier: ISA, "Asynchronous copy" and "mbarrier". Copies are made at once: what
// waits for them finds them done. Bulk copies are exec_bulk.cc's, tensors exec_tensor.cc's.
#include <algorithm>
#include <bit>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "ptxsim/async_internal.h"
#include "ptxsim/block.h"
#include "ptxsim/lanes.h"
#include "ptxsim/profile.h"
#include "ptxsim/races.h"

namespace hlokit::ptx {
namespace {

Mbarrier* MbarrierAt(const Op& op, Warp& warp, int lane, uint32_t column, int64_t offset,
                     bool is_new = false) {
  const uint64_t address = In<uint64_t>(warp.frame(), column)[lane] + static_cast<uint64_t>(offset);
  return hlokit::ptx::MbarrierAt(op, warp, lane, address, op.space, is_new);
}

RaceDetector::SyncKey KeyAt(Warp& warp, int lane, uint32_t column, int64_t offset) {
  const uint64_t address = In<uint64_t>(warp.frame(), column)[lane] + static_cast<uint64_t>(offset);
  return RaceDetector::KeyOf(warp, Space::kShared, address);
}

enum MbarrierKind : uint8_t {
  kInit,
  kInvalidate,
  kArrive,
  kArriveDrop,
  kExpect,
  kComplete,
  kTest,
  kTry,
  kPendingCount
};
constexpr uint32_t kExpectTx = 1, kParity = 2, kNoComplete = 4;

// The arrivals that an mbarrier may be made for.
constexpr uint32_t kMaxArrivals = (1 << 20) - 1;

// What is wrong with an operation on an mbarrier; empty where nothing is. More arrivals than the
// phase still waits for are undefined, and so is an mbarrier that nobody has initialized.
std::string MbarrierFault(const Op& op, const Mbarrier& barrier, uint32_t count) {
  if (op.mode == kInit && (count == 0 || count > kMaxArrivals))
    return absl::StrCat("mbarrier.init for ", count, " arrivals: 1 to ", kMaxArrivals);
  if (op.mode != kArrive && op.mode != kArriveDrop) return "";
  if (barrier.expected == 0 && barrier.pending == 0) return "mbarrier that expects no arrivals";
  const uint32_t arrivals = op.flags & kExpectTx ? 1 : count;
  if (arrivals > barrier.pending)
    return absl::StrCat("mbarrier: ", arrivals, " arrivals, of ", barrier.expected, " a phase ",
                        static_cast<uint32_t>(barrier.pending), " are missing");
  return "";
}

void Arrive(Mbarrier& barrier, uint32_t count, uint64_t bytes, bool drops) {
  barrier.bytes += static_cast<int64_t>(bytes);
  if (drops) barrier.expected -= count;
  barrier.pending -= count;
  barrier.CompleteIfDone();
}

// op.b: a count, bytes, a state or a parity; op.d: the state or predicate that results.
void RunMbarrier(const Op& op, Warp& warp, LaneMask mask) {
  std::byte* frame = warp.frame();
  LaneMask done = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!(mask >> lane & 1)) continue;
    Mbarrier* barrier = MbarrierAt(op, warp, lane, op.a, op.offset, op.mode == kInit);
    if (barrier == nullptr) return;
    const uint64_t before = std::bit_cast<uint64_t>(*barrier);
    const auto count = [&] { return op.b == kNoSlot ? 1u : In<uint32_t>(frame, op.b)[lane]; };
    if (const std::string fault = MbarrierFault(op, *barrier, count()); !fault.empty())
      return warp.block().Fault(warp, op, lane, fault);
    switch (op.mode) {
      case kInit:
        *barrier = Mbarrier{count(), count(), 0, 0};
        break;
      case kArrive:
      case kArriveDrop:
        if (op.flags & kExpectTx) {
          Arrive(*barrier, 1, count(), op.mode == kArriveDrop);
        } else {
          Arrive(*barrier, count(), 0, op.mode == kArriveDrop);
        }
        if (op.d != kNoSlot) Out<uint64_t>(frame, op.d)[lane] = before;
        if (RaceDetector* const races = warp.block().races())
          races->Release(KeyAt(warp, lane, op.a, op.offset), warp, LaneMask{1} << lane);
        break;
      case kExpect:
        barrier->bytes += count();
        break;
      case kComplete:
        barrier->bytes -= count();
        barrier->CompleteIfDone();
        break;
      case kTest:
      case kTry: {
        const unsigned phase = op.flags & kParity
                                   ? In<uint32_t>(frame, op.b)[lane] & 1
                                   : std::bit_cast<Mbarrier>(In<uint64_t>(frame, op.b)[lane]).phase;
        done |= LaneMask{barrier->phase != phase} << lane;
        if (barrier->phase == phase)
          warp.last_wait = {In<uint64_t>(frame, op.a)[lane] + static_cast<uint64_t>(op.offset),
                            static_cast<int64_t>(barrier->pending), barrier->bytes, op.instruction};
        if (RaceDetector* const races = warp.block().races();
            races != nullptr && barrier->phase != phase)
          races->Acquire(KeyAt(warp, lane, op.a, op.offset), warp, LaneMask{1} << lane);
        break;
      }
      default:
        break;
    }
  }
  if (op.mode != kTest && op.mode != kTry) return;
  LaneMask& result = *Out<LaneMask>(frame, op.d);
  result = (result & ~mask) | done;
  if (done != mask) warp.YieldNow();
}

void PendingCount(const Op& op, std::byte* frame, void* result) {
  const uint64_t* a = In<uint64_t>(frame, op.a);
  uint32_t* d = static_cast<uint32_t*>(result);
  for (int i = 0; i < kLanes; ++i)
    d[i] = static_cast<uint32_t>(std::bit_cast<Mbarrier>(a[i]).pending);
}

// Added to the addresses of the source.
int64_t SourceOffset(const Op& op) { return static_cast<int32_t>(op.target); }

// Where no lane needs a closer look, and each copies all of its bytes or none.
bool CopyTogether(const Op& op, Warp& warp, LaneMask mask, LaneMask ignored) {
  const std::byte* const frame = warp.frame();
  const auto size = static_cast<int64_t>(op.flags);
  LaneMask loads = mask & ~ignored;
  for (int lane = 0; lane < kLanes && op.e != kNoSlot; ++lane) {
    const uint32_t have = In<uint32_t>(frame, op.e)[lane];
    if (have == 0) loads &= ~(LaneMask{1} << lane);
    if (have != 0 && have < size && (mask >> lane & 1)) return false;
  }
  std::byte *to[kLanes], *from[kLanes];
  if (!ResolveLanes(warp, Space::kShared, In<uint64_t>(frame, op.a), op.offset, mask, size,
                    /*is_store=*/true, to) ||
      (loads != 0 && !ResolveLanes(warp, Space::kGlobal, In<uint64_t>(frame, op.b),
                                   SourceOffset(op), loads, size, /*is_store=*/false, from)))
    return false;
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!(mask >> lane & 1)) continue;
    if (!(loads >> lane & 1)) {
      std::memset(to[lane], 0, static_cast<size_t>(size));
    } else if (size == 16) {
      std::memcpy(to[lane], from[lane], 16);
    } else {
      std::memcpy(to[lane], from[lane], static_cast<size_t>(size));
    }
  }
  return true;
}

// cp.async [to], [from], size {, source size}: bytes past the source's are zero. op.c: the
// predicate that ignores the source.
void CopyAsync(const Op& op, Warp& warp, LaneMask mask) {
  std::byte* frame = warp.frame();
  const auto size = static_cast<int64_t>(op.flags);
  const LaneMask ignored = op.c == kNoSlot ? 0 : PredicateAt(frame, op.c);
  if (Profile* const profile = warp.block().profile()) {
    LaneMask loads = mask & ~ignored;
    for (int lane = 0; lane < kLanes && op.e != kNoSlot; ++lane)
      if (In<uint32_t>(frame, op.e)[lane] == 0) loads &= ~(LaneMask{1} << lane);
    profile->Access(Space::kGlobal, In<uint64_t>(frame, op.b), SourceOffset(op), loads, size, true,
                    false);
    profile->Access(Space::kShared, In<uint64_t>(frame, op.a), op.offset, mask, size, false, true);
  }
  if (CopyTogether(op, warp, mask, ignored)) return;
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!(mask >> lane & 1)) continue;
    std::byte* to = LaneMemory(op, warp, lane,
                               In<uint64_t>(frame, op.a)[lane] + static_cast<uint64_t>(op.offset),
                               size, Space::kShared, "asynchronous store");
    if (to == nullptr) return;
    int64_t have =
        op.e == kNoSlot ? size : std::min<int64_t>(size, In<uint32_t>(frame, op.e)[lane]);
    if (ignored >> lane & 1) have = 0;
    std::memset(to, 0, static_cast<size_t>(size));
    if (have == 0) continue;
    const uint64_t address =
        In<uint64_t>(frame, op.b)[lane] + static_cast<uint64_t>(SourceOffset(op));
    const std::byte* from = warp.block().Resolve(Space::kGlobal, address, have, 0);
    if (from == nullptr || address % static_cast<uint64_t>(size) != 0)
      return warp.block().Fault(
          warp, op, lane,
          absl::StrCat(from == nullptr ? "out-of-bounds" : "misaligned", " asynchronous load of ",
                       have, " bytes at global address 0x", absl::Hex(address)));
    if (RaceDetector* const races = warp.block().races())
      races->Access(op, warp, lane, Space::kGlobal, address, have, AccessKind::kAsyncLoad, true);
    std::memcpy(to, from, static_cast<size_t>(have));
  }
}

void CommitGroup(const Op&, Warp& warp, LaneMask mask) {
  if (RaceDetector* const races = warp.block().races()) races->CommitGroup(warp, mask);
}
// Copies are done already; only the detector of races counts groups. op.mode 1: wait_all.
void WaitGroup(const Op& op, Warp& warp, LaneMask mask) {
  RaceDetector* const races = warp.block().races();
  if (races == nullptr) return;
  if (op.mode == 1) races->CommitGroup(warp, mask);
  races->WaitGroup(warp, mask, op.flags);
}

// cp.async.mbarrier.arrive: the copies are done, so the thread arrives. With .noinc it was counted.
void CopyArrive(const Op& op, Warp& warp, LaneMask mask) {
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!(mask >> lane & 1)) continue;
    Mbarrier* barrier = MbarrierAt(op, warp, lane, op.a, op.offset);
    if (barrier == nullptr) return;
    if (op.mode == 1) Arrive(*barrier, 1, 0, false);
    if (RaceDetector* const races = warp.block().races())
      races->AsyncArrive(KeyAt(warp, lane, op.a, op.offset), warp, LaneMask{1} << lane);
  }
}

}  // namespace

Mbarrier* MbarrierAt(const Op& op, Warp& warp, int lane, uint64_t address, Space space,
                     bool is_new) {
  return reinterpret_cast<Mbarrier*>(
      LaneMemory(op, warp, lane, address, 8, space,
                 is_new ? "initialization of an mbarrier" : "access of an mbarrier"));
}

void BindCp(Binder& b) {
  if (!b.Has("async")) return b.Unsupported();
  if (b.Has("tensor")) return BindCopyTensor(b);
  if (b.Has("bulk")) return BindCopyBulk(b);
  if (b.Has("commit_group")) {
    b.Emit(b.MakeExec(&CommitGroup));
    return;
  }
  if (b.Has("wait_group") || b.Has("wait_all")) {
    Op op = b.MakeExec(&WaitGroup);
    op.mode = b.Has("wait_all") ? 1 : 0;
    op.flags = b.size() > 0 ? static_cast<uint32_t>(b.Immediate(0)) : 0;
    if (!b.failed()) b.Emit(op);
    return;
  }
  if (b.Has("mbarrier")) {
    Op op = b.MakeExec(&CopyArrive);
    op.mode = b.Has("noinc") ? 1 : 0;
    op.space = b.space();
    b.Address(b.operand(0), op);
    if (!b.failed()) b.Emit(op);
    return;
  }
  Op op = b.MakeExec(&CopyAsync);
  if (b.size() < 3) return b.Unsupported();
  op.space = Space::kShared;
  b.Address(b.operand(0), op);
  Op from;
  from.space = Space::kGlobal;
  b.Address(b.operand(1), from);
  op.b = from.a;
  op.target = static_cast<uint32_t>(from.offset);
  op.flags = static_cast<uint32_t>(b.Immediate(2));
  if (op.flags != 4 && op.flags != 8 && op.flags != 16) return b.Unsupported();
  op.c = op.e = kNoSlot;
  if (b.size() > 3 && !(b.size() == 4 && b.Has("L2::cache_hint"))) {
    const Operand& fourth = b.operand(3);
    const Slot slot = b.SourceSlot(fourth, Type::kU32);
    if (slot.bytes == 0) {
      op.c = b.Source(fourth, Type::kPred);
    } else {
      op.e = b.Source(fourth, Type::kU32);
    }
  }
  if (!b.failed()) b.Emit(op);
}

void BindMbarrier(Binder& b) {
  if (b.Has("pending_count")) return b.Map(&PendingCount, Type::kU32, {Type::kB64});
  Op op = b.MakeExec(&RunMbarrier);
  op.b = kNoSlot;
  op.flags = When(b.Has("expect_tx"), kExpectTx) | When(b.Has("parity"), kParity) |
             When(b.Has("noComplete"), kNoComplete);
  int at = 0;
  if (b.Has("init"))
    op.mode = kInit;
  else if (b.Has("inval"))
    op.mode = kInvalidate;
  else if (b.Has("arrive"))
    op.mode = kArrive;
  else if (b.Has("arrive_drop"))
    op.mode = kArriveDrop;
  else if (b.Has("complete_tx"))
    op.mode = kComplete;
  else if (b.Has("expect_tx"))
    op.mode = kExpect;
  else if (b.Has("test_wait"))
    op.mode = kTest;
  else if (b.Has("try_wait"))
    op.mode = kTry;
  else
    return b.Unsupported();
  const bool arrives = op.mode == kArrive || op.mode == kArriveDrop;
  const bool waits = op.mode == kTest || op.mode == kTry;
  if (waits) op.d = b.Result(at++, Type::kPred);
  if (arrives && b.operand(0).kind != Operand::kAddress) {
    if (b.operand(0).kind != Operand::kSink) op.d = b.Result(0, Type::kB64);
    ++at;
  }
  op.space = b.space();
  if (at >= b.size()) return b.Unsupported();
  b.Address(b.operand(at++), op);
  if (at < b.size()) op.b = b.Source(at, waits && !(op.flags & kParity) ? Type::kB64 : Type::kU32);
  if (!b.failed()) b.Emit(op);
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
