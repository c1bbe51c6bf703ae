// Groups of lanes: divergence, reconvergence, calls. A warp's 32 lanes begin as one group with one
// program counter. At a branch that lanes take differently the group splits; the groups run one at
// a time, the one that is earlier in the code first, and groups that reach one place merge again:
//   if (c) A else B; C:  {c: A} and {not c: B} run one after the other, C runs for both together
// Work: an op is decoded once for all lanes of a group.

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ptxsim/block.h"
#include "ptxsim/lanes.h"
#include "ptxsim/profile.h"

namespace hlokit::ptx {
namespace {

// After so many ops a group of several lets another one go: it may wait for what that one does.
constexpr int64_t kTurn = 55440;  // StallWatch::kTurn
constexpr int kMaxDepth = 1024;   // of calls

// The lanes of `mask` from one column into another; others keep their values.
template <typename T>
void BlendLanes(void* to, const void* from, LaneMask mask) {
  T* d = static_cast<T*>(to);
  const T* s = static_cast<const T*>(from);
  HLOKIT_LANES(i) d[i] = mask >> i & 1 ? s[i] : d[i];
}

struct Wide {
  uint64_t part[2];
};

void Blend(void* to, const void* from, int bytes, LaneMask mask) {
  switch (bytes) {
    case 0: {
      LaneMask& d = *static_cast<LaneMask*>(to);
      d = (d & ~mask) | (*static_cast<const LaneMask*>(from) & mask);
      return;
    }
    case 1:
      return BlendLanes<uint8_t>(to, from, mask);
    case 2:
      return BlendLanes<uint16_t>(to, from, mask);
    case 4:
      return BlendLanes<uint32_t>(to, from, mask);
    case 8:
      return BlendLanes<uint64_t>(to, from, mask);
    default:
      return BlendLanes<Wide>(to, from, mask);
  }
}

template <typename T>
void FillLanes(std::byte* to, T value) {
  T* d = reinterpret_cast<T*>(to);
  HLOKIT_LANES(i) d[i] = value;
}

// A constant in all lanes. By type: kernels of a few instructions spend most of their time here.
void FillColumn(std::byte* to, const ConstantColumn& constant, uint64_t bits) {
  switch (constant.bytes) {
    case 0:
      std::memcpy(to, &bits, sizeof(LaneMask));
      return;
    case 1:
      return FillLanes(to, static_cast<uint8_t>(bits));
    case 2:
      return FillLanes(to, static_cast<uint16_t>(bits));
    case 4:
      return FillLanes(to, static_cast<uint32_t>(bits));
    case 8:
      return FillLanes(to, bits);
    default:
      return FillLanes(to, Wide{{bits, constant.high}});
  }
}

// Frames that are no longer used, for the next ones of their size: a kernel's blocks have as many
// of one size as warps, and fresh pages cost more than zeros.
class FramePool {
 public:
  std::unique_ptr<std::byte[]> Take(size_t bytes) {
    const auto found = std::find_if(free_.begin(), free_.end(),
                                    [&](const auto& entry) { return entry.first == bytes; });
    if (found != free_.end()) {
      std::unique_ptr<std::byte[]> taken = std::move(found->second);
      *found = std::move(free_.back());
      free_.pop_back();
      std::memset(taken.get(), 0, bytes);
      return taken;
    }
    return std::unique_ptr<std::byte[]>(new std::byte[bytes]());
  }
  void Give(size_t bytes, std::unique_ptr<std::byte[]> storage) {
    constexpr size_t kMaxFrames = 64, kMaxBytes = 1 << 20;
    if (free_.size() < kMaxFrames && bytes <= kMaxBytes)
      free_.emplace_back(bytes, std::move(storage));
  }

 private:
  std::vector<std::pair<size_t, std::unique_ptr<std::byte[]>>> free_;
};

FramePool& FramePoolOfThread() {
  static thread_local FramePool pool;
  return pool;
}

std::byte* Aligned(std::byte* at) { return at + (64 - reinterpret_cast<uintptr_t>(at) % 64) % 64; }

}  // namespace

Frame::~Frame() { FramePoolOfThread().Give(storage_bytes, std::move(storage)); }

// The registers of one call: a column of 32 lanes for each register.
std::shared_ptr<Frame> Warp::MakeFrame(uint32_t function, std::shared_ptr<Frame> caller) {
  auto frame = std::make_shared<Frame>();
  frame->code = block_.program().functions[function].get();
  // Beyond the last column: a call may read one as wide as its widest type.
  frame->storage_bytes = frame->code->frame_bytes + 64 + kLanes * 16;
  frame->storage = FramePoolOfThread().Take(frame->storage_bytes);
  frame->data = Aligned(frame->storage.get());
  if (caller != nullptr) {
    frame->local_base = caller->local_base + caller->code->local_bytes + caller->stack_bytes;
    frame->depth = caller->depth + 1;
  }
  frame->caller = std::move(caller);
  block_.ReserveLocal(frame->local_base + frame->code->local_bytes);
  const auto dynamic = static_cast<uint64_t>(block_.program().shared_bytes);
  for (const ConstantColumn& constant : frame->code->constants)
    FillColumn(frame->data + constant.at, constant,
               constant.bits + (constant.is_dynamic ? dynamic : 0));
  return frame;
}

uint64_t Warp::ReserveStack(int64_t bytes, int64_t align) {
  Frame& frame = *frame_;
  const int64_t at = (frame.stack_bytes + align - 1) / align * align;
  frame.stack_bytes = (at + bytes + 15) / 16 * 16;
  const int64_t base = frame.local_base + frame.code->local_bytes;
  block_.ReserveLocal(base + frame.stack_bytes);
  return static_cast<uint64_t>(base + at);
}

void Warp::Start(LaneMask live) {
  live_ = live;
  groups_.clear();
  Group group;
  group.mask = live;
  group.frame = MakeFrame(0, nullptr);
  groups_.push_back(std::move(group));
}

// Whether `a` runs first: deeper in calls, or earlier in the function's order.
bool Warp::IsBefore(const Group& a, const Group& b) const {
  if (a.frame->depth != b.frame->depth) return a.frame->depth > b.frame->depth;
  const uint32_t x = a.frame->code->order[a.pc], y = b.frame->code->order[b.pc];
  return x != y ? x < y : a.pc < b.pc;
}

// The group that runs next; -1 where all wait.
int Warp::Pick() {
  int best = -1;
  for (size_t i = 0; i < groups_.size(); ++i) {
    if (groups_[i].state != Group::kReady) continue;
    if (best < 0 || IsBefore(groups_[i], groups_[best])) best = static_cast<int>(i);
  }
  if (last_turn_ >= 0 && best >= 0) {  // another one's turn
    const auto count = static_cast<int>(groups_.size());
    for (int i = 1; i <= count; ++i) {
      const int other = (last_turn_ + i) % count;
      if (groups_[other].state == Group::kReady) return other;
    }
  }
  return best;
}

// Where all wait, groups at one place meet; else one that waits for lanes goes on without those
// that cannot come.
int Warp::PickBlocked() {
  for (size_t i = 0; i < groups_.size(); ++i) {
    if (groups_[i].state != Group::kConverging) continue;
    const size_t before = groups_.size();
    Merge(static_cast<int>(i));
    if (groups_.size() < before) {
      groups_[running_].state = Group::kReady;
      groups_[running_].forced = false;
      return running_;
    }
    groups_[i].state = Group::kReady;
    groups_[i].forced = true;
    return static_cast<int>(i);
  }
  return -1;
}

// Takes the lanes of other groups that stand at the same place.
void Warp::Merge(int group) {
  for (size_t i = 0; i < groups_.size();) {
    Group& own = groups_[group];
    Group& other = groups_[i];
    if (static_cast<int>(i) == group || other.pc != own.pc || other.frame != own.frame ||
        other.state == Group::kBarrier || other.released != own.released) {
      ++i;
      continue;
    }
    own.mask |= other.mask;
    own.forced &= other.forced;
    groups_.erase(groups_.begin() + static_cast<int64_t>(i));
    if (static_cast<int>(i) < group) --group;
  }
  running_ = group;
}

// Runs groups until all have ended or wait, or the budget of ops is spent.
bool Warp::Run(int64_t budget) {
  bool ran = false;
  yielded_ = false;
  while (budget > 0 && !groups_.empty() && !yielded_ && !block_.launch().stopped) {
    int group = Pick();
    if (group < 0) {
      group = PickBlocked();
      if (group < 0) break;
    }
    if (groups_.size() > 1)
      Merge(group);
    else
      running_ = group;
    int64_t turn = groups_.size() > 1 ? std::min(budget, kTurn) : budget;
    const int64_t before = turn;
    Execute(running_, turn);
    budget -= before - turn;
    // A group that used up its turn, or has nothing to do for now, waits for all others to have
    // one.
    last_turn_ = groups_.size() > 1 && (turn <= 0 || yielded_) ? running_ : -1;
    ran = true;
  }
  return ran;
}

void Warp::RunEval(const Op& op, LaneMask mask) {
  std::byte* data = frame_->data;
  if ((live_ & ~mask) == 0) {
    op.eval(op, data, data + op.d);
    return;
  }
  op.eval(op, data, scratch_);
  Blend(data + op.d, scratch_, op.result_bytes, mask);
}

// The lanes of `mask` leave `group` and stand at `pc`.
void Warp::Split(Group& group, LaneMask mask, uint32_t pc) {
  Group other;
  other.mask = mask;
  other.pc = pc;
  other.frame = group.frame;
  group.mask &= ~mask;
  groups_.push_back(std::move(other));  // `group` is no longer valid
}

// Runs until the group ends, waits, diverges or comes to where another group stands.
void Warp::Execute(int index, int64_t& budget) {
  frame_ = groups_[index].frame.get();
  active_ = groups_[index].mask;
  stop_ = false;
  uint32_t pc = groups_[index].pc;
  const bool is_alone = groups_.size() == 1;
  const std::vector<uint32_t>& order = frame_->code->order;
  uint32_t limit = ~uint32_t{0};
  if (!is_alone) {
    for (size_t i = 0; i < groups_.size(); ++i)
      if (static_cast<int>(i) != index && groups_[i].frame.get() == frame_ &&
          (groups_[i].state == Group::kReady || groups_[i].state == Group::kConverging) &&
          order[groups_[i].pc] > order[pc])
        limit = std::min(limit, order[groups_[i].pc]);
  }
  const Op* const ops = frame_->code->ops.data();
  Profile* const profile = block_.profile();
  Profile::Counter* const counters = profile == nullptr ? nullptr : profile->CountersOf(code());
  const bool checks_registers = block_.options().checks.registers;
  int64_t count = 0, lanes = 0;
  bool is_placed = false;  // the last op has set the group's place
  while (!is_placed) {
    const Op& op = ops[pc];
    if (count >= budget || (!is_alone && order[pc] >= limit && count > 0)) break;
    ++count;
    LaneMask mask = active_;
    if (checks_registers && !CheckRegisters(op, pc, mask)) break;
    if (op.guard != kNoSlot) {
      const LaneMask guard = PredicateAt(frame_->data, op.guard);
      mask &= op.guard_negated ? ~guard : guard;
      if (mask == 0) {
        if (counters != nullptr) ++counters[pc].warps;
        ++pc;
        continue;
      }
    }
    lanes += std::popcount(mask);
    if (counters != nullptr) {
      ++counters[pc].warps;
      counters[pc].threads += std::popcount(mask);
    }
    if (op.kind == Op::kEval) {
      RunEval(op, mask);
      ++pc;
    } else if (op.kind == Op::kBranch && mask == active_) {
      pc = op.target;
    } else if (op.kind == Op::kExec) {
      groups_[running_].pc = pc;
      now_ = steps + count;
      op.exec(op, *this, mask);
      is_placed = stop_;
      ++pc;
    } else {
      groups_[running_].pc = pc + 1;
      Transfer(op, mask, groups_[running_]);
      is_placed = true;
    }
  }
  if (!is_placed) groups_[running_].pc = pc;
  steps += count;
  thread_steps += lanes;
  budget -= count;
}

// Before op `pc` runs: whether something has written the registers that its instruction reads, its
// guard first; then marks those that it writes.
bool Warp::CheckRegisters(const Op& op, uint32_t pc, LaneMask mask) {
  const std::vector<RegisterUses>& all = frame_->code->uses;
  const auto is_written = [&](uint32_t column) {
    const LaneMask missing = mask & ~frame_->written[column];
    if (missing == 0) return true;
    block_.Fault(*this, op, std::countr_zero(missing),
                 "read of a register that nothing has written");
    return false;
  };
  if (op.guard != kNoSlot) {
    if (!is_written(op.guard)) return false;
    const LaneMask guard = PredicateAt(frame_->data, op.guard);
    mask &= op.guard_negated ? ~guard : guard;
  }
  if (op.instruction >= all.size() || mask == 0) return true;
  const RegisterUses& uses = all[op.instruction];
  if (pc == uses.first_op)
    for (const uint32_t column : uses.reads)
      if (!is_written(column)) return false;
  if (pc == uses.last_op)
    for (const uint32_t column : uses.writes) frame_->written[column] |= mask;
  return true;
}

// Ops after which lanes of the group go on at different places, or end.
void Warp::Transfer(const Op& op, LaneMask mask, Group& group) {
  switch (op.kind) {
    case Op::kBranch:
      return Split(group, mask, op.target);
    case Op::kBranchIndexed:
      return BranchIndexed(op, mask, group);
    case Op::kCall:
      return Call(op, mask, group);
    case Op::kReturn:
      return Return(mask, group);
    default:
      return Kill(mask);
  }
}

// brx.idx: one branch for each target that a lane chooses.
void Warp::BranchIndexed(const Op& op, LaneMask mask, Group& group) {
  const uint32_t* indices = In<uint32_t>(frame_->data, op.a);
  const uint32_t* targets = &frame_->code->targets[op.list];
  const size_t own = static_cast<size_t>(&group - groups_.data());
  while (mask != 0) {
    const int lane = std::countr_zero(mask);
    LaneMask same = 0;
    for (int i = lane; i < kLanes; ++i)
      if (mask >> i & 1 && indices[i] == indices[lane]) same |= LaneMask{1} << i;
    if (indices[lane] >= op.list_size) {
      block_.Fault(*this, op, lane,
                   absl::StrCat("index ", indices[lane], " of ", op.list_size, " branch targets"));
      return;
    }
    const uint32_t target = targets[indices[lane]];
    mask &= ~same;
    if (same == groups_[own].mask) {
      groups_[own].pc = target;
    } else {
      Split(groups_[own], same, target);
    }
  }
}

void Warp::CopyValue(const CallValue& from, Frame& from_frame, const CallValue& to, Frame& to_frame,
                     LaneMask mask) {
  if ((from.local < 0 && from.slot.at == kNoSlot) || (to.local < 0 && to.slot.at == kNoSlot))
    return;  // `_`
  if (from.local < 0 && to.local < 0) {
    Blend(to_frame.data + to.slot.at, from_frame.data + from.slot.at, to.slot.bytes, mask);
    if (block_.options().checks.registers) to_frame.written[to.slot.at] |= mask;
    return;
  }
  const int64_t bytes = std::min(from.local < 0 ? from.slot.bytes : from.bytes,
                                 to.local < 0 ? to.slot.bytes : to.bytes);
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!(mask >> lane & 1)) continue;
    const auto place = [&](const CallValue& value, Frame& frame) {
      if (value.local < 0) return frame.data + value.slot.at + lane * value.slot.bytes;
      return block_.Resolve(Space::kLocal, static_cast<uint64_t>(frame.local_base + value.local),
                            bytes, ThreadOf(lane));
    };
    std::byte* const target = place(to, to_frame);
    std::memcpy(target, place(from, from_frame), static_cast<size_t>(bytes));
    if (uint8_t* const marks = block_.WrittenMarks(target))
      std::memset(marks, 1, static_cast<size_t>(bytes));
  }
  if (to.local < 0 && block_.options().checks.registers) to_frame.written[to.slot.at] |= mask;
}

void Warp::Call(const Op& op, LaneMask mask, Group& group) {
  const CallSite& site = frame_->code->calls[op.list];
  const size_t own = static_cast<size_t>(&group - groups_.data());
  if (group.frame->depth >= kMaxDepth) {
    block_.Fault(*this, op, std::countr_zero(mask), absl::StrCat("calls deeper than ", kMaxDepth));
    return;
  }
  if (mask != group.mask) {
    Split(group, group.mask & ~mask, group.pc);  // those with a false guard pass by
  }
  if (!site.indirect) return EnterFunction(site, site.callee, groups_[own]);
  const uint64_t* addresses = In<uint64_t>(frame_->data, site.address);
  while (mask != 0) {
    const int lane = std::countr_zero(mask);
    LaneMask same = 0;
    for (int i = lane; i < kLanes; ++i)
      if (mask >> i & 1 && addresses[i] == addresses[lane]) same |= LaneMask{1} << i;
    const uint64_t number = (addresses[lane] - kCodeWindow) / 16;
    const Program& program = block_.program();
    const uint32_t callee = addresses[lane] >= kCodeWindow && number < program.by_address.size()
                                ? program.by_address[number]
                                : kNoSlot;
    if (callee == kNoSlot || program.functions[callee]->ops.empty()) {
      block_.Fault(
          *this, op, lane,
          absl::StrCat("call of address 0x", absl::Hex(addresses[lane]), ", which is no function"));
      return;
    }
    mask &= ~same;
    size_t caller = own;
    if (mask != 0) {
      Split(groups_[own], same, groups_[own].pc);
      caller = groups_.size() - 1;
    }
    EnterFunction(site, callee, groups_[caller]);
  }
}

void Warp::EnterFunction(const CallSite& site, uint32_t callee, Group& group) {
  std::shared_ptr<Frame> frame = MakeFrame(callee, group.frame);
  frame->return_op = group.pc;
  frame->site = &site;
  const std::vector<CallValue>& formals = frame->code->parameters;
  for (size_t i = 0; i < std::min(formals.size(), site.arguments.size()); ++i)
    CopyValue(site.arguments[i], *group.frame, formals[i], *frame, group.mask);
  group.frame = std::move(frame);
  group.pc = 0;
}

void Warp::Return(LaneMask mask, Group& group) {
  std::shared_ptr<Frame> callee = group.frame;
  if (callee->caller == nullptr) return Kill(mask);
  const std::vector<CallValue>& formals = callee->code->results;
  for (size_t i = 0; i < std::min(formals.size(), callee->site->results.size()); ++i)
    CopyValue(formals[i], *callee, callee->site->results[i], *callee->caller, mask);
  if (mask == group.mask) {
    group.frame = callee->caller;
    group.pc = callee->return_op;
    return;
  }
  Split(group, mask, callee->return_op);
  groups_.back().frame = callee->caller;
}

// Ends lanes: exit, or a fault.
void Warp::Kill(LaneMask lanes) {
  live_ &= ~lanes;
  for (size_t i = 0; i < groups_.size();) {
    groups_[i].mask &= ~lanes;
    if (groups_[i].mask == 0) {
      groups_.erase(groups_.begin() + static_cast<int64_t>(i));
    } else {
      ++i;
    }
  }
  block_.ThreadsEnded();
}

bool Warp::Converge(LaneMask needed) {
  Group& group = groups_[running_];
  needed &= live_;
  if ((needed & ~group.mask) == 0 || group.forced) {
    group.forced = false;
    return true;
  }
  group.state = Group::kConverging;
  group.needed = needed;
  stop_ = true;
  return false;
}

void Warp::WaitAtBarrier(int number, bool again) {
  Group& group = groups_[running_];
  group.state = Group::kBarrier;
  group.barrier = number;
  group.again = again;
  if (!again) ++group.pc;
  stop_ = true;
}

void Warp::Release(int barrier) {
  for (Group& group : groups_) {
    if (group.state != Group::kBarrier || group.barrier != barrier) continue;
    group.state = Group::kReady;
    group.released = group.again;
  }
}

LaneMask Warp::WaitingLanes(int barrier, uint32_t& instruction) const {
  LaneMask lanes = 0;
  for (const Group& group : groups_) {
    if (group.state != Group::kBarrier || group.barrier != barrier) continue;
    lanes |= group.mask;
    instruction = group.frame->code->ops[group.again ? group.pc : group.pc - 1].instruction;
  }
  return lanes;
}

void Warp::SelectWaiting(int barrier) {
  for (const Group& group : groups_)
    if (group.state == Group::kBarrier && group.barrier == barrier) {
      frame_ = group.frame.get();
      return;
    }
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
