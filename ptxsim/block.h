// A thread block at work: its warps, shared and local memory, and barriers.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ptxsim/launch.h"
#include "ptxsim/memory.h"
#include "ptxsim/program.h"
#include "ptxsim/warp.h"

namespace hlokit::ptx {

// What all blocks of a launch share.
struct LaunchState {
  const Program* program = nullptr;
  Memory* memory = nullptr;
  const LaunchOptions* options = nullptr;
  std::vector<std::byte> parameters;
  std::atomic<bool> stopped = false;
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

class Block {
 public:
  Block(LaunchState& launch, int64_t index);

  // Runs about `budget` ops of each warp; true when all threads ended or the launch stopped.
  bool Run(int64_t budget);

  LaunchState& launch() { return launch_; }
  const Program& program() const { return *launch_.program; }
  const LaunchOptions& options() const { return *launch_.options; }
  int64_t index() const { return index_; }
  const uint32_t* block_id() const { return id_; }
  int thread_count() const { return thread_count_; }
  int64_t shared_bytes() const { return static_cast<int64_t>(shared_.size()); }
  std::byte* shared() { return shared_.data(); }

  // Host memory of `size` bytes at `address` of `space` for a thread; null where out of bounds.
  std::byte* Resolve(Space space, uint64_t address, int64_t size, int thread);
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
  int live_threads() const;

  // Ends the launch: kernel, place, block, thread and what happened.
  void Fault(Warp& warp, const Op& op, int lane, const std::string& what);
  void Print(const std::string& text) { launch_.Print(index_, text); }

 private:
  void ReportDeadlock();

  LaunchState& launch_;
  int64_t index_;
  uint32_t id_[3];
  int thread_count_;
  std::vector<std::byte> shared_;
  std::vector<std::byte> local_;
  int64_t local_bytes_ = 0;
  Allocation* last_ = nullptr;
  Barrier barriers_[kClusterBarrier + 1];
  std::vector<std::unique_ptr<Warp>> warps_;
};

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
