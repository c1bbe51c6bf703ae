// Thirty-two threads that run together. Lanes that diverge are groups, each with a place of its own
// in the program; groups that come to the same place are one again.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ptxsim/program.h"

namespace hlokit::ptx {

class Block;

// One activation of a function. Groups that came through the same call share it.
struct Frame {
  const Code* code = nullptr;
  std::shared_ptr<Frame> caller;
  uint32_t return_op = 0;  // in the caller: what follows the call
  const CallSite* site = nullptr;
  std::unique_ptr<std::byte[]> storage;
  std::byte* data = nullptr;
  int64_t local_base = 0;  // byte of each thread's local memory
  int depth = 0;
};

struct Group {
  enum State : uint8_t { kReady, kConverging, kBarrier };

  LaneMask mask = 0;
  uint32_t pc = 0;
  State state = kReady;
  LaneMask needed = 0;  // kConverging: the lanes that it waits for
  int barrier = 0;      // kBarrier: its number
  bool forced = false;  // goes on without the lanes that it waited for
  bool again = false;   // kBarrier: the op runs once more
  bool released = false;
  std::shared_ptr<Frame> frame;
};

class Warp {
 public:
  Warp(Block& block, int index) : block_(block), index_(index) {}

  // Makes `live` lanes ready to begin at the entry.
  void Start(LaneMask live);
  // Runs at most about `budget` ops; false where no group could.
  bool Run(int64_t budget);
  bool done() const { return live_ == 0; }

  // For evaluators.
  Block& block() { return block_; }
  int index() const { return index_; }
  LaneMask live() const { return live_; }
  std::byte* frame() { return frame_->data; }
  const Code& code() const { return *frame_->code; }
  int64_t local_base() const { return frame_->local_base; }
  LaneMask active() const { return active_; }  // the running group, whatever the guard says
  int ThreadOf(int lane) const { return index_ * kLanes + lane; }

  // True where the running group holds all live lanes of `needed`, or cannot wait for them; else
  // the op runs again once it does.
  bool Converge(LaneMask needed);
  // The running group waits until barrier `number` opens; then it goes on after this op, or runs it
  // again, with released() true.
  void WaitAtBarrier(int number, bool again);
  bool released() const { return groups_[running_].released; }
  void ClearReleased() { groups_[running_].released = false; }
  bool forced() const { return groups_[running_].forced; }
  // The running group has nothing to do for now: others may run.
  void YieldNow() {
    ++groups_[running_].pc;
    stop_ = yielded_ = true;
  }
  // This op did something that ends the launch; see Block::Fault.
  void Stop() { stop_ = true; }
  void Kill(LaneMask lanes);
  void Release(int barrier);
  // Lanes that wait at a barrier, and an instruction where they do.
  LaneMask WaitingLanes(int barrier, uint32_t& instruction) const;
  // Makes the first group that waits at `barrier` the running one, for a report.
  void SelectWaiting(int barrier);
  const std::vector<Group>& groups() const { return groups_; }

  int64_t steps = 0;         // ops
  int64_t thread_steps = 0;  // ops times lanes

 private:
  int Pick();
  int PickBlocked();
  void Merge(int group);
  void Execute(int group, int64_t& budget);
  void RunEval(const Op& op, LaneMask mask);
  bool Branch(const Op& op, LaneMask taken, Group& group);
  void BranchIndexed(const Op& op, LaneMask mask, Group& group);
  void Call(const Op& op, LaneMask mask, Group& group);
  void EnterFunction(const CallSite& site, uint32_t callee, Group& group);
  void Return(LaneMask mask, Group& group);
  void Split(Group& group, LaneMask mask, uint32_t pc);
  std::shared_ptr<Frame> MakeFrame(uint32_t function, std::shared_ptr<Frame> caller);
  void CopyValue(const CallValue& from, Frame& from_frame, const CallValue& to, Frame& to_frame,
                 LaneMask mask);
  bool IsBefore(const Group& a, const Group& b) const;

  Block& block_;
  int index_;
  LaneMask live_ = 0, active_ = 0;
  std::vector<Group> groups_;
  Frame* frame_ = nullptr;  // of the running group
  int running_ = 0;
  bool stop_ = false, yielded_ = false;
  int rotation_ = 0;
  std::vector<std::unique_ptr<std::byte[]>> spare_;  // frames of the entry
  alignas(64) std::byte scratch_[kLanes * 16];
};

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
