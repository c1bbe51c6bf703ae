// The state of clusters, hashed and compared: see the header.
#include "ptxsim/stalls.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace hlokit::ptx {
namespace {

// Turns in which the state may come back: 32 groups of lanes may have one each.
constexpr int kTurns = 40;
constexpr int64_t kGone = INT64_MAX;  // of a worker: it has ended

// Of the first warp that has not ended, two lanes of each register: where this does not come back,
// the cluster's state does not.
StateHash SketchOf(const Cluster& cluster) {
  StateHash hash;
  for (const auto& block : cluster.blocks())
    for (const auto& warp : block->warps())
      if (!warp->done()) {
        warp->AddTo(hash, /*is_sketch=*/true);
        return hash;
      }
  return hash;
}

StateHash StateOf(const Cluster& cluster) {
  StateHash hash;
  for (const auto& block : cluster.blocks()) block->AddTo(hash);
  hash.Add(static_cast<uint64_t>(cluster.arrived()));
  return hash;
}

}  // namespace

void StateHash::Add(const void* bytes, size_t size) {
  const auto* at = static_cast<const std::byte*>(bytes);
  // Four chains side by side: one would wait for its multiplication.
  uint64_t chains[4] = {1, 2, 3, 4};
  for (; size >= sizeof(chains); at += sizeof(chains), size -= sizeof(chains)) {
    uint64_t words[4];
    std::memcpy(words, at, sizeof(words));
    for (int i = 0; i < 4; ++i) {
      chains[i] = (chains[i] ^ words[i]) * 0x9e3779b97f4a7c15u;
      chains[i] ^= chains[i] >> 29;
    }
  }
  for (const uint64_t chain : chains) Add(chain);
  for (; size >= 8; at += 8, size -= 8) {
    uint64_t word;
    std::memcpy(&word, at, 8);
    Add(word);
  }
  uint64_t rest = 0;
  if (size > 0) std::memcpy(&rest, at, size);
  Add(rest);
}

StallWatch::StallWatch(LaunchState& launch, int workers)
    : launch_(launch),
      quiet_(static_cast<size_t>(workers), -1),
      watched_(static_cast<size_t>(workers)) {}

// Whether the cluster comes back to its state while memory stays as it is.
bool StallWatch::Repeats(Cluster& cluster) {
  const int64_t changes = launch_.changes;
  const auto comes_back = [&](StateHash (*of)(const Cluster&)) {
    const StateHash before = of(cluster);
    for (int turn = 0; turn < kTurns && !launch_.stopped; ++turn) {
      if (cluster.Run(kTurn) || launch_.changes != changes) return false;
      if (of(cluster) == before) return true;
    }
    return false;
  };
  return comes_back(&SketchOf) && comes_back(&StateOf);
}

void StallWatch::Look(int worker, Cluster& cluster,
                      const std::vector<std::unique_ptr<Cluster>>& resident, bool all_began) {
  auto& watched = watched_[static_cast<size_t>(worker)];
  Watched& own = watched[&cluster];
  const auto looks = static_cast<uint64_t>(++own.looks);
  const bool is_quiet = own.quiet_at >= 0;
  if ((!is_quiet && !std::has_single_bit(looks)) || launch_.stopped) return;
  const int64_t changes = launch_.changes;
  if (own.quiet_at != changes) {
    own.quiet_at = Repeats(cluster) ? changes : -1;
    if (own.quiet_at < 0) return;
    // From now on all stores are counted; what was not counted asks for another look.
    if (!launch_.watches_stores.exchange(true)) ++launch_.changes;
  }
  if (!all_began) return;
  for (const auto& other : resident)
    if (watched[other.get()].quiet_at != launch_.changes) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  quiet_[static_cast<size_t>(worker)] = own.quiet_at;
  for (const int64_t quiet : quiet_)
    if (quiet != kGone && quiet != launch_.changes) return;
  if (!launch_.stopped) Report(cluster);
}

bool StallWatch::IsQuiet(int worker, const Cluster& cluster) const {
  const auto& watched = watched_[static_cast<size_t>(worker)];
  const auto found = watched.find(&cluster);
  return found != watched.end() && found->second.quiet_at >= 0;
}

void StallWatch::Leave(int worker) {
  const std::lock_guard<std::mutex> lock(mutex_);
  quiet_[static_cast<size_t>(worker)] = kGone;
}

void StallWatch::Report(Cluster& cluster) {
  for (const auto& block : cluster.blocks())
    for (const auto& warp : block->warps()) {
      if (warp->done()) continue;
      Op op;
      op.instruction = warp->SelectFirst();
      std::string what =
          "endless loop: all threads that are left repeat what they do, and nothing "
          "in memory changes";
      if (const Warp::Wait& wait = warp->last_wait; wait.instruction != kNoSlot) {
        op.instruction = wait.instruction;
        what = absl::StrCat("the mbarrier at shared address 0x", absl::Hex(wait.address),
                            " never completes: ", wait.pending, " arrivals and ", wait.bytes,
                            " bytes are missing, and all threads that are left wait");
      }
      return block->Fault(*warp, op, std::countr_zero(warp->live()), what);
    }
}

void Warp::AddTo(StateHash& hash, bool is_sketch) const {
  hash.Add(live_);
  hash.Add(static_cast<uint64_t>(last_turn_));
  hash.Add(groups_.size());
  for (const Group& group : groups_) {
    hash.Add(uint64_t{group.mask} << 32 | group.pc);
    hash.Add(uint64_t{group.needed} << 32 | uint64_t{group.state} << 8 |
             static_cast<uint64_t>(group.barrier));
    hash.Add(uint64_t{group.forced} << 2 | uint64_t{group.again} << 1 | uint64_t{group.released});
    for (const Frame* frame = group.frame.get(); frame != nullptr; frame = frame->caller.get()) {
      hash.Add(uint64_t{frame->return_op} << 32 | static_cast<uint64_t>(frame->stack_bytes));
      const size_t bytes = frame->code->frame_bytes;
      if (!is_sketch) {
        hash.Add(frame->data, bytes);
        continue;
      }
      for (size_t at = 0; at + 8 <= bytes; at += kLanes * 4) {
        uint64_t word;
        std::memcpy(&word, frame->data + at, 8);
        hash.Add(word);
      }
    }
  }
}

uint32_t Warp::SelectFirst() {
  if (groups_.empty()) return kNoSlot;
  frame_ = groups_[0].frame.get();
  const std::vector<Op>& ops = frame_->code->ops;
  return ops[std::min<size_t>(groups_[0].pc, ops.size() - 1)].instruction;
}

void Block::AddTo(StateHash& hash) const {
  for (const auto& warp : warps_) warp->AddTo(hash);
  hash.Add(shared_.data(), shared_.size());
  hash.Add(local_.data(), local_.size());
  for (const Barrier& barrier : barriers_) {
    hash.Add(static_cast<uint64_t>(barrier.arrived) << 32 |
             static_cast<uint64_t>(barrier.expected));
    hash.Add(static_cast<uint64_t>(barrier.population) << 2 | uint64_t{barrier.any} << 1 |
             uint64_t{barrier.every});
  }
  for (const int64_t arrivals : cluster_arrivals_) hash.Add(static_cast<uint64_t>(arrivals));
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
