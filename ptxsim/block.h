// A thread block at work: its warps, shared and local memory, and barriers.
//
// A warp is thirty-two threads that run together. Lanes that diverge are groups, each with a place
// of its own in the program; groups that come to the same place are one again. Of `if (lane < 16)
// a(); b();` lanes 0 to 15 run a() alone, then all run b().
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "ptxsim/launch_options.h"
#include "ptxsim/memory.h"
#include "ptxsim/program.h"

namespace hlokit::ptx {

class Block;
class StateHash;

// One activation of a function. Groups that came through the same call share it.
struct Frame {
  ~Frame();

  const Code* code = nullptr;
  std::shared_ptr<Frame> caller;
  uint32_t return_op = 0;  // in the caller: what follows the call
  const CallSite* site = nullptr;
  std::unique_ptr<std::byte[]> storage;
  size_t storage_bytes = 0;
  std::byte* data = nullptr;
  int64_t local_base = 0;   // byte of each thread's local memory
  int64_t stack_bytes = 0;  // of alloca, beyond the function's own
  int depth = 0;
  std::unordered_map<uint32_t, LaneMask> written;  // columns of registers, of checks.registers
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
  // alloca: `bytes` more of local memory for each lane of this call, at the returned address.
  uint64_t ReserveStack(int64_t bytes, int64_t align);
  int64_t stack_bytes() const { return frame_->stack_bytes; }
  void RestoreStack(int64_t bytes) { frame_->stack_bytes = bytes; }
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

  int64_t now() const { return now_; }  // ops until the one that runs

  // What the warp last waited for at an mbarrier in vain, for reports of stalls.
  struct Wait {
    uint64_t address = 0;
    int64_t pending = 0, bytes = 0;
    uint32_t instruction = kNoSlot;
  };
  Wait last_wait;
  // `is_sketch`: of each register, the first two lanes alone.
  void AddTo(StateHash& hash, bool is_sketch = false) const;
  // The instruction where the first group stands; kNoSlot where none is left. Makes it the running
  // one, for a report.
  uint32_t SelectFirst();

  int64_t steps = 0;         // ops
  int64_t thread_steps = 0;  // ops times lanes

 private:
  int Pick();
  int PickBlocked();
  void Merge(int group);
  void Execute(int group, int64_t& budget);
  void RunEval(const Op& op, LaneMask mask);
  void Transfer(const Op& op, LaneMask mask, Group& group);
  bool CheckRegisters(const Op& op, uint32_t pc, LaneMask mask);
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
  int last_turn_ = -1;  // the group whose turn is over; -1: the first in the code runs
  int64_t now_ = 0;
  alignas(64) std::byte scratch_[kLanes * 16];
};

class RaceDetector;
class Profile;
class TensorMemory;

// What all blocks of a launch share.
struct LaunchState {
  std::shared_ptr<RaceDetector> races;  // null: not asked for
  std::shared_ptr<Profile> profile;     // likewise
  // Called before the threads that wait at a barrier go on; empty: nobody wants to know.
  std::function<void(Block& block, int barrier)> barrier_opens;
  // clusterlaunchcontrol: takes the next cluster that has not begun, which then never does; its
  // number, -1 where all have begun.
  std::function<int64_t()> cancel_next;
  const Program* program = nullptr;
  Memory* memory = nullptr;
  const LaunchOptions* options = nullptr;
  std::vector<std::byte> parameters;
  std::atomic<bool> stopped = false;
  // Stores count in `changes` where they change memory: for StallWatch.
  std::atomic<bool> watches_stores = false;
  std::atomic<int64_t> changes = 0;
  std::atomic<int64_t> steps = 0, thread_steps = 0;

  // Keeps the fault of the first block, in the order of blocks.
  void Fail(int64_t block, absl::Status status);
  absl::Status Result() const;
  void Print(int64_t block, const std::string& text);
  std::string Output() const;

 private:
  mutable std::mutex mutex_;
  int64_t failed_block_ = INT64_MAX;
  absl::Status status_;
  std::map<int64_t, std::string> output_;
};

class Cluster;

class Block {
 public:
  // `rank`: of the block in its cluster.
  Block(LaunchState& launch, Cluster& cluster, int64_t index, int rank);
  ~Block();

  enum class Progress { kDone, kRan, kStuck };
  // Runs about `budget` ops of each warp. kDone: all threads ended or the launch stopped; kStuck:
  // no thread could run.
  Progress Run(int64_t budget);
  // Ends the launch: all threads wait for a barrier that the others will not reach.
  void ReportDeadlock();

  Cluster& cluster() { return cluster_; }
  int rank() const { return rank_; }

  LaunchState& launch() { return launch_; }
  RaceDetector* races() { return launch_.races.get(); }
  Profile* profile() { return launch_.profile.get(); }
  // "thread (x,y,z)", for messages.
  std::string ThreadText(uint32_t thread) const;
  const Program& program() const { return *launch_.program; }
  const LaunchOptions& options() const { return *launch_.options; }
  int64_t index() const { return index_; }
  const uint32_t* block_id() const { return id_; }
  int thread_count() const { return thread_count_; }
  int64_t shared_bytes() const { return static_cast<int64_t>(shared_.size()); }
  std::byte* shared() { return shared_.data(); }
  // Made when it is first used.
  TensorMemory& tensor_memory();

  // Host memory of `size` bytes at `address` of `space` for a thread; null where out of bounds.
  std::byte* Resolve(Space space, uint64_t address, int64_t size, int thread);
  // A piece of memory that is the same for all threads of the block.
  struct Piece {
    std::byte* data = nullptr;
    uint64_t address = 0, size = 0;  // size 0: there is none
    bool is_constant = false;
  };
  // The one that holds `address`: of global memory whose bytes are not marked once written, or the
  // block's own shared memory.
  Piece PieceAt(Space space, uint64_t address);
  // Whether anything wants to know of each access of a lane: loads, or stores too.
  bool IsWatched(bool is_store) const {
    return launch_.races != nullptr || options().checks.unwritten ||
           (is_store && launch_.watches_stores);
  }
  // Of checks.unwritten: the marks of a byte of local memory, or of shared memory of the cluster,
  // and of those after it, 1 where written. Null: no such byte, or nobody asked.
  uint8_t* WrittenMarks(const std::byte* at);
  // Reserves local memory of every thread up to `bytes`.
  void ReserveLocal(int64_t bytes);

  // `threads` come to a barrier that opens when `count` have, 0: all that live.
  void Arrive(int barrier, int count, int threads);
  struct Barrier {
    int arrived = 0, expected = 0;
    // What barrier.red collects, and what the last opening found.
    int population = 0;
    bool any = false, every = true;
    int last_population = 0;
    bool last_all = false, last_any = false;
  };
  static constexpr int kClusterBarrier = 16;  // beside PTX's own 16
  Barrier& barrier(int number) { return barriers_[number]; }
  void OpenBarrierIfFull(int number);
  void ThreadsEnded();
  // barrier.cluster: how often a thread arrived; it waits until the barrier opened as often.
  int64_t& cluster_arrivals(int thread) { return cluster_arrivals_[static_cast<size_t>(thread)]; }
  int live_threads() const;
  const std::vector<std::unique_ptr<Warp>>& warps() const { return warps_; }

  // Adds what the block's further work depends on, global memory aside.
  void AddTo(StateHash& hash) const;

  // Ends the launch: kernel, place, block, thread and what happened.
  void Fault(Warp& warp, const Op& op, int lane, const std::string& what);
  void Print(const std::string& text) { launch_.Print(index_, text); }

 private:
  LaunchState& launch_;
  Cluster& cluster_;
  int64_t index_;
  int rank_;
  std::vector<int64_t> cluster_arrivals_;
  uint32_t id_[3];
  int thread_count_;
  std::vector<std::byte> shared_;
  std::vector<std::byte> local_;
  std::vector<uint8_t> shared_written_, local_written_;  // WrittenMarks
  int64_t local_bytes_ = 0;
  std::unique_ptr<TensorMemory> tensor_memory_;
  Allocation* last_ = nullptr;  // of the last access; valid while nothing is freed
  int64_t frees_ = 0;           // Memory::frees() then
  Barrier barriers_[kClusterBarrier + 1];
  std::vector<std::unique_ptr<Warp>> warps_;
};

// Blocks that run together and may use each other's shared memory: one, where the kernel asks for
// no clusters.
class Cluster {
 public:
  // Cluster `index` of the grid, counted along x, y, z.
  Cluster(LaunchState& launch, int64_t index);

  // Gives each block a turn; true when all have ended or the launch stopped.
  bool Run(int64_t budget);
  int size() const { return static_cast<int>(blocks_.size()); }
  // Null where the cluster has no such block.
  Block* block(uint64_t rank) { return rank < blocks_.size() ? blocks_[rank].get() : nullptr; }

  // barrier.cluster: `threads` arrive.
  void Arrive(int threads);
  void OpenIfFull();
  int64_t openings() const { return openings_; }
  const std::vector<std::unique_ptr<Block>>& blocks() const { return blocks_; }
  int arrived() const { return arrived_; }
  int live_threads() const;

 private:
  LaunchState& launch_;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::vector<bool> done_;
  int arrived_ = 0;
  int64_t openings_ = 0;
};

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
