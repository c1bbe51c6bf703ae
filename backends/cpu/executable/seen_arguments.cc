// The table of arguments that runs had in common, and the list of all such tables.
#include "backends/cpu/executable/seen_arguments.h"

#include <algorithm>
#include <atomic>
#include <chrono>

namespace hlokit {
namespace {

constexpr int64_t kLookEveryMs = 100;
constexpr int64_t kMaxRunsNeeded = 1 << 20;

// Never destroyed, as programs may outlive static objects.
struct Tables {
  std::mutex mutex;
  std::vector<SeenArguments*> all;
  std::atomic<int64_t> frozen = 0;  // arrays in all of them
  std::atomic<int64_t> looked_ms = 0;
};

Tables& AllTables() {
  static auto* const tables = new Tables;
  return *tables;
}

int64_t SteadyMs() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now().time_since_epoch())
      .count();
}

// Whether both hold the same object, which may be gone.
bool SameOwner(const std::weak_ptr<DeviceMemory>& a, const std::shared_ptr<DeviceMemory>& b) {
  return !a.owner_before(b) && !b.owner_before(a);
}

}  // namespace

SeenArguments::SeenArguments() {
  Tables& tables = AllTables();
  const std::lock_guard<std::mutex> lock(tables.mutex);
  tables.all.push_back(this);
}

SeenArguments::~SeenArguments() {
  Tables& tables = AllTables();
  const std::lock_guard<std::mutex> lock(tables.mutex);
  std::erase(tables.all, this);
  tables.frozen -= std::count_if(slots_.begin(), slots_.end(),
                                 [](const Slot& slot) { return slot.number.has_value(); });
}

std::shared_ptr<PackedForms> SeenArguments::forms() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return forms_;
}

std::optional<int64_t> SeenArguments::Note(size_t slot, const std::shared_ptr<DeviceMemory>& memory,
                                           int64_t first_number) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (slot >= slots_.size()) slots_.resize(slot + 1);
  Slot& seen = slots_[slot];
  if (memory == nullptr || !SameOwner(seen.memory, memory)) {
    GiveUp(seen);
    seen.memory = memory;
    seen.runs = 0;
  }
  if (memory == nullptr) return std::nullopt;
  if (seen.number) return seen.number;
  if (++seen.runs < seen.needed) return std::nullopt;
  seen.number = first_number + made_++;
  ++AllTables().frozen;
  return seen.number;
}

// Runs that go on hold the forms of before; the arrays that stay are packed once more.
void SeenArguments::GiveUp(Slot& slot) {
  if (!slot.number) return;
  slot.number.reset();
  slot.runs = 0;
  slot.needed = std::min(2 * slot.needed, kMaxRunsNeeded);
  slot.memory.reset();
  --AllTables().frozen;
  forms_ = std::make_shared<PackedForms>();
}

void SeenArguments::GiveUpGone() {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (Slot& slot : slots_)
    if (slot.number && slot.memory.expired()) GiveUp(slot);
}

void SeenArguments::GiveUpDeleted() {
  Tables& tables = AllTables();
  if (tables.frozen == 0) return;
  const int64_t now = SteadyMs();
  int64_t looked = tables.looked_ms;
  if (now < looked + kLookEveryMs || !tables.looked_ms.compare_exchange_strong(looked, now)) return;
  const std::lock_guard<std::mutex> lock(tables.mutex);
  for (SeenArguments* table : tables.all) table->GiveUpGone();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
