// What lanes of a warp do together: shfl, vote, match, redux, activemask, elect.
//
// A .sync form names its members. Where some of them have not come to the instruction, the op waits
// and the scheduler runs the other groups of the warp; a lane outside of its own mask is a fault
// with --check. Then every form is one pass over 32 columns.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "ptxsim/bind_internal.h"
#include "ptxsim/block.h"
#include "ptxsim/lanes.h"
#include "ptxsim/races.h"

namespace hlokit::ptx {
namespace {

constexpr uint32_t kNoMember = kNoSlot;  // no member mask: the active lanes

// False where the op has to wait for lanes of its member mask, op.e.
bool Gather(const Op& op, Warp& warp, LaneMask mask) {
  if (op.e == kNoMember) return true;
  const LaneMask* members = In<LaneMask>(warp.frame(), op.e);
  LaneMask needed = 0;
  for (int i = 0; i < kLanes; ++i)
    if (mask >> i & 1) needed |= members[i];
  return warp.Converge(needed);
}

// Of checks.lanes: each lane must be in its own member mask, and all of that mask be here.
bool CheckMembers(const Op& op, Warp& warp, LaneMask mask) {
  if (!warp.block().options().checks.lanes || op.e == kNoMember) return true;
  const LaneMask* members = In<LaneMask>(warp.frame(), op.e);
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!(mask >> lane & 1)) continue;
    if (!(members[lane] >> lane & 1)) {
      warp.block().Fault(
          warp, op, lane,
          absl::StrCat("member mask 0x", absl::Hex(members[lane]), " without its own lane"));
      return false;
    }
    if (const LaneMask missing = members[lane] & ~mask; missing != 0) {
      warp.block().Fault(warp, op, lane,
                         absl::StrCat("member mask 0x", absl::Hex(members[lane]), " with lane ",
                                      std::countr_zero(missing), ", which does not come"));
      return false;
    }
  }
  return true;
}

// Runs `core` for the lanes of each member mask: two halves of a warp may come to one instruction,
// each with its own.
template <Exec core>
void ByMembers(const Op& op, Warp& warp, LaneMask mask) {
  if (!Gather(op, warp, mask) || !CheckMembers(op, warp, mask)) return;
  if (op.e == kNoMember) return core(op, warp, mask);
  LaneMask members[kLanes];  // a copy: the result may be the same register
  std::memcpy(members, warp.frame() + op.e, sizeof(members));
  for (LaneMask left = mask; left != 0;) {
    LaneMask together = 0;
    for (int i = std::countr_zero(left); i < kLanes; ++i)
      if (left >> i & 1 && members[i] == members[std::countr_zero(left)])
        together |= LaneMask{1} << i;
    core(op, warp, together);
    left &= ~together;
  }
}

enum ShuffleMode : uint8_t { kUp, kDown, kBfly, kIdx };

// ISA, shfl: c holds a clamp in bits 0 to 4 and a segment mask in bits 8 to 12.
// Each lane reads a value of another: up, down, bfly (xor) or idx; its own value where that lies
// outside of its segment.
void Shuffle(const Op& op, Warp& warp, LaneMask mask) {
  if (!Gather(op, warp, mask)) return;
  if (!CheckMembers(op, warp, mask)) return;
  const bool checks = warp.block().options().checks.lanes;
  std::byte* frame = warp.frame();
  uint32_t a[kLanes];
  std::memcpy(a, frame + op.a, sizeof(a));
  const uint32_t* b = In<uint32_t>(frame, op.b);
  const uint32_t* c = In<uint32_t>(frame, op.c);
  uint32_t d[kLanes];
  LaneMask in_range = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    const auto self = static_cast<uint32_t>(lane);
    const uint32_t by = b[lane] & 31, clamp = c[lane] & 31, segment = c[lane] >> 8 & 31;
    const uint32_t max_lane = (self & segment) | (clamp & ~segment);
    const uint32_t min_lane = self & segment;
    int source = lane;
    bool valid = false;
    switch (op.mode) {
      case kUp:
        source = lane - static_cast<int>(by);
        valid = source >= static_cast<int>(max_lane);
        break;
      case kDown:
        source = static_cast<int>(self + by);
        valid = source <= static_cast<int>(max_lane);
        break;
      case kBfly:
        source = static_cast<int>(self ^ by);
        valid = source <= static_cast<int>(max_lane);
        break;
      default:
        source = static_cast<int>(min_lane | (by & ~segment));
        valid = source <= static_cast<int>(max_lane);
        break;
    }
    d[lane] = a[valid ? source : lane];
    if (checks && valid && mask >> lane & 1 && !(mask >> source & 1))
      return warp.block().Fault(warp, op, lane,
                                absl::StrCat("shuffle from lane ", source, ", which is inactive"));
    in_range |= LaneMask{valid} << lane;
  }
  uint32_t* result = Out<uint32_t>(frame, op.d);
  HLOKIT_LANES(i) result[i] = mask >> i & 1 ? d[i] : result[i];
  if (op.d2 == kNoSlot) return;
  LaneMask& p = *Out<LaneMask>(frame, op.d2);
  p = (p & ~mask) | (in_range & mask);
}

enum VoteMode : uint8_t { kAll, kAny, kUni, kBallot };

// all, any, uni of a predicate over the members, or ballot, its bits.
void Vote(const Op& op, Warp& warp, LaneMask mask) {
  std::byte* frame = warp.frame();
  const LaneMask votes = PredicateAt(frame, op.a) & mask;
  if (op.mode == kBallot) {
    uint32_t* d = Out<uint32_t>(frame, op.d);
    HLOKIT_LANES(i) d[i] = mask >> i & 1 ? votes : d[i];
    return;
  }
  const bool holds = op.mode == kAll   ? votes == mask
                     : op.mode == kAny ? votes != 0
                                       : votes == 0 || votes == mask;
  LaneMask& d = *Out<LaneMask>(frame, op.d);
  d = holds ? d | mask : d & ~mask;
}

// Which members have the same value (any), or whether all have (all).
template <typename T>
void Match(const Op& op, Warp& warp, LaneMask mask) {
  std::byte* frame = warp.frame();
  const T* a = In<T>(frame, op.a);
  LaneMask equal[kLanes] = {};
  for (int i = 0; i < kLanes; ++i)
    for (int j = 0; j < kLanes; ++j)
      if (mask >> i & mask >> j & 1 && a[i] == a[j]) equal[i] |= LaneMask{1} << j;
  const bool all = equal[std::countr_zero(mask)] == mask;
  uint32_t* d = Out<uint32_t>(frame, op.d);
  for (int i = 0; i < kLanes; ++i)
    if (mask >> i & 1) d[i] = op.mode == kAny ? equal[i] : all ? mask : 0;
  if (op.d2 == kNoSlot) return;
  LaneMask& p = *Out<LaneMask>(frame, op.d2);
  p = all ? p | mask : p & ~mask;
}

enum ReduceMode : uint8_t { kAdd, kMin, kMax, kAnd, kOr, kXor };

// redux.sync of integers: the members' values combined, the same result in each.
template <typename T>
void Reduce(const Op& op, Warp& warp, LaneMask mask) {
  std::byte* frame = warp.frame();
  const T* a = In<T>(frame, op.a);
  T value = a[std::countr_zero(mask)];
  for (int i = std::countr_zero(mask) + 1; i < kLanes; ++i) {
    if (!(mask >> i & 1)) continue;
    switch (op.mode) {
      case kAdd:
        value = T(uint32_t(value) + uint32_t(a[i]));
        break;
      case kMin:
        value = std::min(value, a[i]);
        break;
      case kMax:
        value = std::max(value, a[i]);
        break;
      case kAnd:
        value = T(uint32_t(value) & uint32_t(a[i]));
        break;
      case kOr:
        value = T(uint32_t(value) | uint32_t(a[i]));
        break;
      default:
        value = T(uint32_t(value) ^ uint32_t(a[i]));
        break;
    }
  }
  T* d = Out<T>(frame, op.d);
  HLOKIT_LANES(i) d[i] = mask >> i & 1 ? value : d[i];
}

// redux of f32: op.flags 1: absolute values, 2: NaN wins.
void ReduceFloat(const Op& op, Warp& warp, LaneMask mask) {
  std::byte* frame = warp.frame();
  const float* a = In<float>(frame, op.a);
  float value = NAN;
  bool nan = false;
  for (int i = 0; i < kLanes; ++i) {
    if (!(mask >> i & 1)) continue;
    const float x = op.flags & 1 ? std::fabs(a[i]) : a[i];
    nan |= x != x;
    value = op.mode == kMin ? std::fmin(value, x) : std::fmax(value, x);
  }
  if ((op.flags & 2 && nan) || value != value) value = std::bit_cast<float>(0x7fffffffu);
  float* d = Out<float>(frame, op.d);
  HLOKIT_LANES(i) d[i] = mask >> i & 1 ? value : d[i];
}

// The lanes that run this instruction together.
void ActiveMask(const Op& op, Warp& warp, LaneMask mask) {
  uint32_t* d = Out<uint32_t>(warp.frame(), op.d);
  HLOKIT_LANES(i) d[i] = mask >> i & 1 ? mask : d[i];
}

// One member, the lowest, is chosen.
void Elect(const Op& op, Warp& warp, LaneMask mask) {
  const int leader = std::countr_zero(mask);
  if (op.d != kNoSlot) {
    uint32_t* d = Out<uint32_t>(warp.frame(), op.d);
    HLOKIT_LANES(i) d[i] = mask >> i & 1 ? static_cast<uint32_t>(leader) : d[i];
  }
  LaneMask& p = *Out<LaneMask>(warp.frame(), op.d2);
  p = (p & ~mask) | LaneMask{1} << leader;
}

void WarpBarrier(const Op&, Warp& warp, LaneMask mask) {
  if (RaceDetector* const races = warp.block().races()) races->WarpSync(warp, mask);
}

// The operands of `d|p` or `d`.
void Results(Binder& b, Type type, Op& op) {
  const Operand& result = b.operand(0);
  if (result.kind != Operand::kPair) {
    op.d = b.Result(result, type);
    return;
  }
  op.d = b.Result(result.parts[0], type);
  if (result.parts[1].kind != Operand::kSink) op.d2 = b.Result(result.parts[1], Type::kPred);
}

// The member mask of .sync forms, operand `i`.
uint32_t Members(Binder& b, int i) {
  return b.Has("sync") && b.size() > i ? b.Source(i, Type::kB32) : kNoMember;
}

ReduceMode ReduceModeOf(const Binder& b) {
  constexpr absl::string_view kNames[] = {"add", "min", "max", "and", "or", "xor"};
  for (int i = 0; i < 6; ++i)
    if (b.Has(kNames[i])) return static_cast<ReduceMode>(i);
  return kAdd;
}

}  // namespace

void BindShfl(Binder& b) {
  Op op = b.MakeExec(&Shuffle);
  op.mode = b.Has("up") ? kUp : b.Has("down") ? kDown : b.Has("bfly") ? kBfly : kIdx;
  op.a = b.Source(1, Type::kB32);
  op.b = b.Source(2, Type::kB32);
  op.c = b.Source(3, Type::kB32);
  op.e = Members(b, 4);
  Results(b, Type::kB32, op);
  if (!b.failed()) b.Emit(op);
}
void BindVote(Binder& b) {
  Op op = b.MakeExec(&ByMembers<&Vote>);
  op.mode = b.Has("ballot") ? kBallot : b.Has("all") ? kAll : b.Has("any") ? kAny : kUni;
  op.a = b.Source(1, Type::kPred);
  op.e = Members(b, 2);
  op.d = b.Result(0, op.mode == kBallot ? Type::kB32 : Type::kPred);
  if (!b.failed()) b.Emit(op);
}
void BindMatch(Binder& b) {
  const bool wide = b.type() == Type::kB64;
  Op op =
      b.MakeExec(wide ? Exec(&ByMembers<&Match<uint64_t>>) : Exec(&ByMembers<&Match<uint32_t>>));
  op.mode = b.Has("any") ? kAny : kAll;
  op.a = b.Source(1, b.type());
  op.e = Members(b, 2);
  Results(b, Type::kB32, op);
  if (!b.failed()) b.Emit(op);
}
void BindRedux(Binder& b) {
  const Type type = b.type();
  Op op = b.MakeExec(type == Type::kF32   ? Exec(&ByMembers<&ReduceFloat>)
                     : type == Type::kS32 ? Exec(&ByMembers<&Reduce<int32_t>>)
                                          : Exec(&ByMembers<&Reduce<uint32_t>>));
  op.mode = ReduceModeOf(b);
  op.flags = (b.Has("abs") ? 1 : 0) | (b.Has("NaN") ? 2 : 0);
  op.a = b.Source(1, type);
  op.e = Members(b, 2);
  op.d = b.Result(0, type);
  if (!b.failed()) b.Emit(op);
}
void BindActivemask(Binder& b) {
  Op op = b.MakeExec(&ActiveMask);
  op.d = b.Result(0, Type::kB32);
  if (!b.failed()) b.Emit(op);
}
void BindElect(Binder& b) {
  Op op = b.MakeExec(&ByMembers<&Elect>);
  op.e = b.Source(1, Type::kB32);
  if (b.operand(0).kind != Operand::kPair) return b.Unsupported();
  if (b.operand(0).parts[0].kind != Operand::kSink)
    op.d = b.Result(b.operand(0).parts[0], Type::kB32);
  op.d2 = b.Result(b.operand(0).parts[1], Type::kPred);
  if (!b.failed()) b.Emit(op);
}
void BindWarpBarrier(Binder& b) {
  Op op = b.MakeExec(&ByMembers<&WarpBarrier>);
  op.e = b.Source(0, Type::kB32);
  if (!b.failed()) b.Emit(op);
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
