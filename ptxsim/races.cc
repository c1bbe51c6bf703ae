// Vector clocks of agents, kept once for all that know the same; the last accesses of each word in
// a hash table by address. The header explains the method. Cost: a handful of hash lookups for each
// word of an access; a release copies one row of clocks.
#include "ptxsim/races.h"

#include <algorithm>
#include <bit>

#include "absl/strings/str_cat.h"
#include "support/diagnostics.h"

namespace hlokit::ptx {
namespace {

using Row = KnownClocks::Row;

Row JoinRows(const Row& a, const Row& b) {
  if (a == b || b == nullptr) return a;
  if (a == nullptr) return b;
  auto joined = std::make_shared<std::array<uint32_t, kLanes>>(*a);
  for (size_t i = 0; i < kLanes; ++i) (*joined)[i] = std::max((*joined)[i], (*b)[i]);
  return joined;
}

std::shared_ptr<const KnownClocks> JoinClocks(const std::shared_ptr<const KnownClocks>& a,
                                              const std::shared_ptr<const KnownClocks>& b) {
  if (a == b || b == nullptr) return a;
  if (a == nullptr) return b;
  auto joined = std::make_shared<KnownClocks>(*a);
  for (size_t w = 0; w < joined->rows.size(); ++w)
    joined->rows[w] = JoinRows(joined->rows[w], b->rows[w]);
  return joined;
}

// Whether an instruction orders by itself, or may be read by others while it is written.
struct Strength {
  bool strong = false, acquires = false, releases = false;
};
Strength StrengthOf(const Instruction& instruction) {
  Strength strength;
  strength.acquires = instruction.Has("acquire") || instruction.Has("acq_rel");
  strength.releases = instruction.Has("release") || instruction.Has("acq_rel");
  strength.strong = strength.acquires || strength.releases || instruction.Has("relaxed") ||
                    instruction.Has("volatile") || instruction.Has("mmio");
  return strength;
}

const Instruction& InstructionOf(const Op& op, Warp& warp) {
  return warp.code().function->instructions[op.instruction];
}

}  // namespace

RaceDetector::Thread& RaceDetector::ThreadOf(int64_t block, int thread) {
  std::vector<Thread>& threads = threads_[block];
  if (threads.empty()) {
    threads.resize(static_cast<size_t>(warps_) * kLanes);
    auto nothing = std::make_shared<KnownClocks>();
    nothing->rows.resize(2 * static_cast<size_t>(warps_));
    for (Thread& t : threads) t.knows.own = nothing;
  }
  return threads[static_cast<size_t>(thread)];
}

Knowledge RaceDetector::Join(const Knowledge& a, const Knowledge& b) const {
  Knowledge joined;
  joined.own = JoinClocks(a.own, b.own);
  joined.others = a.others;
  if (a.others == b.others || b.others == nullptr) return joined;
  if (a.others == nullptr) {
    joined.others = b.others;
    return joined;
  }
  auto others = std::make_shared<std::map<int64_t, std::shared_ptr<const KnownClocks>>>(*a.others);
  for (const auto& [block, clocks] : *b.others) {
    std::shared_ptr<const KnownClocks>& own = (*others)[block];
    own = JoinClocks(own, clocks);
  }
  joined.others = std::move(others);
  return joined;
}

RaceDetector::SyncKey RaceDetector::KeyOf(Warp& warp, Space space, uint64_t address) {
  const bool is_shared = space == Space::kShared ||
                         (space == Space::kGeneric && address - kSharedWindow < kWindowBytes);
  return {SyncKind::kAddress, is_shared ? warp.block().index() : -1,
          is_shared ? address % kWindowBytes % (1 << 24) : address};
}

// The object learns what the lanes know, and their clocks. Objects of all blocks hold each block's
// clocks in `others`.
void RaceDetector::Release(const SyncKey& key, Warp& warp, LaneMask mask) {
  Knowledge& object = objects_[key];
  const int64_t block = warp.block().index();
  const auto row = static_cast<size_t>(warp.index());
  const auto async_row = row + static_cast<size_t>(warps_);
  Knowledge gathered;
  auto clocks = std::make_shared<std::array<uint32_t, kLanes>>();
  auto copies = std::make_shared<std::array<uint32_t, kLanes>>();
  bool has_copies = false;
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!(mask >> lane & 1)) continue;
    Thread& thread = ThreadOf(warp, lane);
    gathered = Join(gathered, thread.knows);
    (*clocks)[static_cast<size_t>(lane)] = thread.clock++;
    (*copies)[static_cast<size_t>(lane)] = thread.done;
    has_copies |= thread.done > 0;
  }
  auto own = std::make_shared<KnownClocks>(*gathered.own);
  own->rows[row] = JoinRows(clocks, own->rows[row]);
  if (has_copies) own->rows[async_row] = JoinRows(copies, own->rows[async_row]);
  gathered.own = std::move(own);
  if (key.block < 0) {
    auto others = std::make_shared<std::map<int64_t, std::shared_ptr<const KnownClocks>>>();
    if (gathered.others != nullptr) *others = *gathered.others;
    (*others)[block] = gathered.own;
    gathered.others = std::move(others);
    gathered.own = nullptr;
  }
  object = Join(object, gathered);
}

void RaceDetector::Acquire(const SyncKey& key, Warp& warp, LaneMask mask) {
  const auto found = objects_.find(key);
  if (found == objects_.end()) return;
  const int64_t block = warp.block().index();
  Knowledge last_before, last_after;
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!(mask >> lane & 1)) continue;
    Thread& thread = ThreadOf(warp, lane);
    // Lanes mostly know the same.
    if (last_after.own != nullptr && thread.knows.own == last_before.own &&
        thread.knows.others == last_before.others) {
      thread.knows = last_after;
      continue;
    }
    last_before = thread.knows;
    thread.knows = Join(thread.knows, found->second);
    if (thread.knows.others != nullptr)
      if (const auto own = thread.knows.others->find(block); own != thread.knows.others->end())
        thread.knows.own = JoinClocks(thread.knows.own, own->second);
    last_after = thread.knows;
  }
}

void RaceDetector::OpenBarrier(Block& block, int number) {
  const SyncKey building = {SyncKind::kBarrier, block.index(), static_cast<uint64_t>(number)};
  const SyncKey opened = {SyncKind::kOpened, block.index(), static_cast<uint64_t>(number)};
  objects_[opened] = std::move(objects_[building]);
  objects_.erase(building);
  for (const auto& warp : block.warps()) {
    uint32_t instruction = 0;
    Acquire(opened, *warp, warp->WaitingLanes(number, instruction));
  }
}

void RaceDetector::WarpSync(Warp& warp, LaneMask mask) {
  const SyncKey key = {SyncKind::kWarp, warp.block().index(), static_cast<uint64_t>(warp.index())};
  objects_.erase(key);
  Release(key, warp, mask);
  Acquire(key, warp, mask);
}

void RaceDetector::Fence(Warp& warp, LaneMask mask) {
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!(mask >> lane & 1)) continue;
    Thread& thread = ThreadOf(warp, lane);
    thread.fences = true;
    const std::vector<SyncKey> seen = std::move(thread.seen);
    thread.seen.clear();
    for (const SyncKey& key : seen) Acquire(key, warp, LaneMask{1} << lane);
  }
}

void RaceDetector::CommitGroup(Warp& warp, LaneMask mask) {
  for (int lane = 0; lane < kLanes; ++lane)
    if (mask >> lane & 1) ++ThreadOf(warp, lane).committed;
}

void RaceDetector::WaitGroup(Warp& warp, LaneMask mask, uint32_t pending) {
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!(mask >> lane & 1)) continue;
    Thread& thread = ThreadOf(warp, lane);
    if (thread.committed > pending) thread.done = std::max(thread.done, thread.committed - pending);
  }
}

void RaceDetector::AsyncArrive(const SyncKey& key, Warp& warp, LaneMask mask) {
  CommitGroup(warp, mask);
  std::vector<uint32_t> done(kLanes);
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!(mask >> lane & 1)) continue;
    Thread& thread = ThreadOf(warp, lane);
    done[static_cast<size_t>(lane)] = thread.done;
    thread.done = thread.committed;
  }
  Release(key, warp, mask);
  for (int lane = 0; lane < kLanes; ++lane)
    if (mask >> lane & 1) ThreadOf(warp, lane).done = done[static_cast<size_t>(lane)];
}

bool RaceDetector::IsOrdered(Warp& warp, int lane, const Record& before) {
  const int64_t agents = 2 * int64_t{kLanes} * warps_;
  const int64_t block = before.agent / agents;
  const auto agent = static_cast<size_t>(before.agent % agents);
  const Thread& thread = ThreadOf(warp, lane);
  const KnownClocks* clocks = nullptr;
  if (block == warp.block().index()) {
    const auto self = static_cast<size_t>(warp.ThreadOf(lane));
    if (agent == self) return true;
    if (agent == self + static_cast<size_t>(kLanes * warps_)) return before.clock <= thread.done;
    clocks = thread.knows.own.get();
  } else if (thread.knows.others != nullptr) {
    const auto found = thread.knows.others->find(block);
    if (found != thread.knows.others->end()) clocks = found->second.get();
  }
  if (clocks == nullptr) return false;
  const Row& row = clocks->rows[agent / kLanes];
  return row != nullptr && (*row)[agent % kLanes] >= before.clock;
}

bool RaceDetector::Check(const Op& op, Warp& warp, int lane, const Record* records,
                         const Record& now, bool records_are_stores, bool now_is_store, Space space,
                         uint64_t address) {
  for (int k = 0; k < 4; ++k) {
    const Record& before = records[k];
    if (before.agent < 0 || (before.bytes & now.bytes) == 0 || before.agent == now.agent) continue;
    if (before.atomic && now.atomic) continue;
    if (IsOrdered(warp, lane, before)) continue;
    const int64_t agents = 2 * int64_t{kLanes} * warps_;
    const int64_t block = before.agent / agents;
    const auto other = static_cast<uint32_t>(before.agent % agents);
    const bool is_async = other >= static_cast<uint32_t>(kLanes * warps_);
    const SourceFile& source = *warp.block().program().module->source;
    const SourcePlace place = before.function->instructions[before.instruction].place;
    warp.block().Fault(
        warp, op, lane,
        absl::StrCat("race at ", Text(space), " address 0x", absl::Hex(address),
                     ": nothing orders this ",
                     now.atomic     ? "atomic"
                     : now_is_store ? "store"
                                    : "load",
                     " and the ",
                     before.atomic        ? "atomic"
                     : records_are_stores ? (is_async ? "asynchronous store" : "store")
                                          : (is_async ? "asynchronous load" : "load"),
                     " at line ", source.Locate(place.offset).line, " by ",
                     warp.block().ThreadText(other % (kLanes * warps_)),
                     block == warp.block().index() ? "" : absl::StrCat(" of block ", block)));
    return true;
  }
  return false;
}

// In the place of what it covers or of the same agent, else of the oldest.
void RaceDetector::Keep(Record* records, uint8_t& next, const Record& now) {
  for (int k = 0; k < 4; ++k) {
    if (records[k].agent >= 0 && records[k].agent == now.agent &&
        (records[k].bytes & ~now.bytes) == 0) {
      records[k] = now;
      return;
    }
  }
  records[next] = now;
  next = (next + 1) & 3;
}

// Atomics, acquires and releases order what threads did before with what others do after.
void RaceDetector::Synchronize(const Op& op, Warp& warp, int lane, Space space, uint64_t address,
                               AccessKind kind) {
  const Strength strength = StrengthOf(InstructionOf(op, warp));
  const bool is_atomic = kind == AccessKind::kAtomic;
  if (!is_atomic && !strength.strong) return;
  Thread& thread = ThreadOf(warp, lane);
  const SyncKey key = KeyOf(warp, space, address);
  const LaneMask self = LaneMask{1} << lane;
  const bool loads = is_atomic || kind == AccessKind::kLoad;
  const bool stores = is_atomic || kind == AccessKind::kStore;
  if (loads && (strength.acquires || thread.fences)) Acquire(key, warp, self);
  if (loads && !strength.acquires) {
    if (std::find(thread.seen.begin(), thread.seen.end(), key) == thread.seen.end())
      thread.seen.push_back(key);
  }
  if (stores && (strength.releases || thread.fences)) Release(key, warp, self);
}

// ld.global.nc is for memory that the launch does not write: it may see what was there before.
bool RaceDetector::IsWritten(const Op& op, Warp& warp, int lane, const Word& cell,
                             uint64_t address) {
  for (const Record& store : cell.stores) {
    if (store.agent < 0) continue;
    const SourceFile& source = *warp.block().program().module->source;
    const SourcePlace place = store.function->instructions[store.instruction].place;
    warp.block().Fault(
        warp, op, lane,
        absl::StrCat("load by the read-only path (.nc) at global address 0x", absl::Hex(address),
                     ", which the launch wrote at line ", source.Locate(place.offset).line));
    return true;
  }
  return false;
}

void RaceDetector::Access(const Op& op, Warp& warp, int lane, Space space, uint64_t address,
                          int64_t size, AccessKind kind, bool changes) {
  const SyncKey at = KeyOf(warp, space, address);
  const bool is_shared = at.block >= 0;
  if (!is_shared && (space == Space::kLocal || space == Space::kParam || space == Space::kConst ||
                     address < kImageWindow))
    return;
  const int64_t block = warp.block().index();
  const bool is_async = kind == AccessKind::kAsyncLoad || kind == AccessKind::kAsyncStore;
  const bool is_store = kind != AccessKind::kLoad && kind != AccessKind::kAsyncLoad;
  const Thread& thread = ThreadOf(warp, lane);
  Record now;
  now.agent = block * 2 * kLanes * warps_ + (is_async ? kLanes * warps_ : 0) + warp.ThreadOf(lane);
  now.clock = is_async ? thread.committed + 1 : thread.clock;
  now.atomic =
      kind == AccessKind::kAtomic || (!is_async && StrengthOf(InstructionOf(op, warp)).strong);
  now.instruction = op.instruction;
  now.function = warp.code().function;
  Shadow& shadow = is_shared ? shared_[block] : global_;
  const bool is_read_only = !is_store && !is_shared && InstructionOf(op, warp).Has("nc");
  const Space shown = is_shared ? Space::kShared : Space::kGlobal;
  for (uint64_t word = at.number / 4; word <= (at.number + static_cast<uint64_t>(size) - 1) / 4;
       ++word) {
    now.bytes = 0;
    for (uint64_t byte = 0; byte < 4; ++byte) {
      const uint64_t place = word * 4 + byte;
      if (place >= at.number && place < at.number + static_cast<uint64_t>(size))
        now.bytes |= static_cast<uint8_t>(1 << byte);
    }
    Word& cell = shadow[word];
    if (is_read_only && IsWritten(op, warp, lane, cell, word * 4)) return;
    if (changes || !is_store) {
      if (Check(op, warp, lane, cell.stores, now, true, is_store, shown, word * 4)) return;
      if (is_store && Check(op, warp, lane, cell.loads, now, false, is_store, shown, word * 4))
        return;
    }
    if (is_store)
      Keep(cell.stores, cell.next_store, now);
    else
      Keep(cell.loads, cell.next_load, now);
  }
  if (!is_async) Synchronize(op, warp, lane, space, address, kind);
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
