// Finds launches that will never end, so that they are reported at once and not at some limit.
//
// A cluster (a block, for most kernels) that has not ended after many turns is looked at: what its
// further work depends on, its registers, places, barriers, shared and local memory, is hashed,
// and again after each of some turns. Where the hash comes back and nothing in global memory has
// changed meanwhile, the cluster repeats itself until another one stores something. Where all that
// is left of the launch repeats itself and no block is still to begin, it will do so forever:
//
//   wait: ld.acquire.global.u32 x, [flag]; setp.eq.u32 p, x, 0; @p bra wait;   nobody sets the flag
//   wait: mbarrier.try_wait.parity.b64 p, [bar], 0; @!p bra wait;             an arrival is missing
//
// Never wrong, but for a collision of 128-bit hashes. What it cannot find are loops that count:
// those end at --max-steps. A turn is 55,440 ops, a multiple of 1 to 12, so that a loop of a few
// ops is at the same place after each. Cost: one pass over a warp's registers a turn, and over the
// cluster's state once they have come back, at the 1st, 2nd, 4th, ... look of its worker alone.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "ptxsim/block.h"

namespace hlokit::ptx {

// 128 bits over words and bytes.
class StateHash {
 public:
  void Add(uint64_t word) {
    a_ = (a_ ^ word) * 0x9e3779b97f4a7c15u;
    a_ ^= a_ >> 29;
    b_ = (b_ + word) * 0xd6e8feb86659fd93u;
    b_ ^= b_ >> 32;
  }
  void Add(const void* bytes, size_t size);
  bool operator==(const StateHash&) const = default;

 private:
  uint64_t a_ = 1, b_ = 2;
};

class StallWatch {
 public:
  static constexpr int64_t kTurn = 55440;

  StallWatch(LaunchState& launch, int workers);

  // After `cluster`, one of the worker's, has had its turns. `all_began`: the worker can start no
  // further cluster. May run the cluster on, and stop the launch with a report.
  void Look(int worker, Cluster& cluster, const std::vector<std::unique_ptr<Cluster>>& resident,
            bool all_began);
  // The cluster, one of the worker's, has ended.
  void Forget(int worker, const Cluster& cluster) {
    watched_[static_cast<size_t>(worker)].erase(&cluster);
  }
  // Whether the cluster, one of the worker's, repeated itself when it was last looked at.
  bool IsQuiet(int worker, const Cluster& cluster) const;
  // The worker has no clusters left.
  void Leave(int worker);

 private:
  struct Watched {
    int64_t looks = 0;
    int64_t quiet_at = -1;  // LaunchState::changes where it was seen to repeat itself
  };

  bool Repeats(Cluster& cluster);
  void Report(Cluster& cluster);

  LaunchState& launch_;
  std::mutex mutex_;
  // By worker: LaunchState::changes where all of its clusters repeated themselves; -1: they do not.
  std::vector<int64_t> quiet_;
  std::vector<std::unordered_map<const Cluster*, Watched>> watched_;
};

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
