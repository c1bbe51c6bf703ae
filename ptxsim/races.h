// Data races of a launch: two accesses of one byte, at least one a store, by threads between which
// nothing puts them in order.
//
// Every thread has a clock that its releases move on, and knows a clock of every other thread: how
// far that one had come when it last ordered itself before this one (vector clocks, as
// FastTrack's). A store by thread 3 at its clock 5 comes before a load by thread 7 exactly where 7
// knows at least 5 of 3. Knowledge travels by barriers (bar, bar.warp.sync, mbarrier, cluster), and
// by atomics, acquires and releases of threads that fence. A cp.async is an agent of its own, which
// its thread knows from cp.async.wait_group on.
//
//   st.shared [a], x;  bar.sync 0;  ld.shared y, [b];   in order
//   st.shared [a], x;               ld.shared y, [b];   a race where a of one thread is b of
//   another
//
// Stores that do not change memory, and atomics among each other, are no races. For each word the
// last stores and loads are kept, up to four, so that a race with an older one may be missed. Only
// shared and global memory is watched; a launch runs on one thread of the host.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "ptxsim/block.h"

namespace hlokit::ptx {

enum class AccessKind : uint8_t { kLoad, kStore, kAtomic, kAsyncLoad, kAsyncStore };

// What one block's agents knew of each other at some time: its threads, then the cp.async agents of
// these. Rows are shared by whoever knows the same.
struct KnownClocks {
  using Row = std::shared_ptr<const std::array<uint32_t, kLanes>>;
  std::vector<Row> rows;  // one a warp
};

// What an agent knows: of its own block, and of others, by index.
struct Knowledge {
  std::shared_ptr<const KnownClocks> own;
  std::shared_ptr<const std::map<int64_t, std::shared_ptr<const KnownClocks>>> others;
};

class RaceDetector {
 public:
  // Of blocks of `threads` threads.
  explicit RaceDetector(int threads) : warps_((threads + kLanes - 1) / kLanes) {}

  // Called before the access is made; a fault of the launch where it is a race. `changes` false: a
  // store of what is there already.
  void Access(const Op& op, Warp& warp, int lane, Space space, uint64_t address, int64_t size,
              AccessKind kind, bool changes);

  // Objects through which threads order themselves: a barrier's number, an address.
  enum class SyncKind : uint8_t { kBarrier, kOpened, kWarp, kAddress };
  struct SyncKey {
    SyncKind kind = SyncKind::kWarp;
    int64_t block = 0;  // -1: of all blocks
    uint64_t number = 0;
    auto operator<=>(const SyncKey&) const = default;
  };
  void Release(const SyncKey& key, Warp& warp, LaneMask mask);
  void Acquire(const SyncKey& key, Warp& warp, LaneMask mask);
  // What the barrier collected goes to those that wait at it.
  void OpenBarrier(Block& block, int number);
  void WarpSync(Warp& warp, LaneMask mask);
  void Fence(Warp& warp, LaneMask mask);
  // The key of what lies at an address.
  static SyncKey KeyOf(Warp& warp, Space space, uint64_t address);

  // cp.async: those before are one group; wait until all but `pending` groups are done.
  void CommitGroup(Warp& warp, LaneMask mask);
  void WaitGroup(Warp& warp, LaneMask mask, uint32_t pending);
  // The mbarrier hands on what the thread's copies have written.
  void AsyncArrive(const SyncKey& key, Warp& warp, LaneMask mask);

 private:
  struct Thread {
    uint32_t clock = 1;
    uint32_t committed = 0, done = 0;  // groups of cp.async
    bool fences = false;
    std::vector<SyncKey> seen;  // by relaxed loads: taken over at the next fence
    Knowledge knows;
  };
  struct Record {
    int64_t agent = -1;  // block * 64 * warps + (async ? 32 * warps : 0) + thread
    uint32_t clock = 0;
    uint8_t bytes = 0;  // of the word
    bool atomic = false;
    uint32_t instruction = 0;
    const Function* function = nullptr;
  };
  struct Word {
    Record stores[4], loads[4];
    uint8_t next_store = 0, next_load = 0;
  };
  using Shadow = std::unordered_map<uint64_t, Word>;

  Thread& ThreadOf(int64_t block, int thread);
  Thread& ThreadOf(Warp& warp, int lane) {
    return ThreadOf(warp.block().index(), warp.ThreadOf(lane));
  }
  bool IsOrdered(Warp& warp, int lane, const Record& before);
  // A race with any of `records` that `bytes` of a word share; true where there is one.
  bool Check(const Op& op, Warp& warp, int lane, const Record* records, const Record& now,
             bool records_are_stores, bool now_is_store, Space space, uint64_t address);
  bool IsWritten(const Op& op, Warp& warp, int lane, const Word& cell, uint64_t address);
  void Keep(Record* records, uint8_t& next, const Record& now);
  void Synchronize(const Op& op, Warp& warp, int lane, Space space, uint64_t address,
                   AccessKind kind);
  Knowledge Join(const Knowledge& a, const Knowledge& b) const;

  int warps_;
  std::unordered_map<int64_t, std::vector<Thread>> threads_;
  std::map<SyncKey, Knowledge> objects_;
  std::unordered_map<int64_t, Shadow> shared_;  // by block
  Shadow global_;
};

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
