// The table of packed weights, and the memory that it may take.
#include "runtime/dot/frozen_arrays.h"

#include <stdio.h>
#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "support/allocate.h"

namespace hlokit {
namespace {

constexpr int64_t kCheckEveryMs = 1000;
constexpr int64_t kPauseMs = 10'000;  // after dropping
constexpr int64_t kMuchToDrop = 64 << 20;
constexpr int64_t kLittleLeft = 256 << 20;  // bytes at which packed forms are dropped
constexpr int64_t kSpareFactor = 2;         // of the bytes of a new form, that must be available

int64_t NowMs() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now().time_since_epoch())
      .count();
}

// The number in a file of one number; -1 where there is none ("max").
int64_t ReadNumber(const char* path) {
  FILE* file = fopen(path, "re");
  if (file == nullptr) return -1;
  long long number = -1;
  if (fscanf(file, "%lld", &number) != 1) number = -1;
  fclose(file);
  return number;
}

int64_t SystemAvailable() {
  FILE* file = fopen("/proc/meminfo", "re");
  if (file == nullptr) return INT64_MAX;
  char line[128];
  long long kib = -1;
  while (kib < 0 && fgets(line, sizeof(line), file) != nullptr)
    if (sscanf(line, "MemAvailable: %lld kB", &kib) != 1) kib = -1;
  fclose(file);
  return kib < 0 ? INT64_MAX : int64_t{kib} << 10;
}

}  // namespace

int64_t AvailableMemory() {
  const int64_t limit = ReadNumber("/sys/fs/cgroup/memory.max");
  const int64_t used = limit < 0 ? -1 : ReadNumber("/sys/fs/cgroup/memory.current");
  const int64_t left = used < 0 ? INT64_MAX : std::max<int64_t>(limit - used, 0);
  return std::min(left, SystemAvailable());
}

PackedForms::Found PackedForms::Find(const PackedKey& key, int64_t bytes) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto at = forms_.find(key);
    if (at != forms_.end()) return {at->second.packed, nullptr};
    if (paused_until_ms_ > 0) {
      if (NowMs() < paused_until_ms_) return {};
      paused_until_ms_ = 0;
    }
    forms_[key] = {};  // this thread packs it
  }
  std::shared_ptr<char> fill;
  if (available_() / kSpareFactor > bytes)
    fill.reset(static_cast<char*>(AllocateBlock(static_cast<size_t>(bytes))), free);
  if (fill != nullptr) return {nullptr, std::move(fill)};
  Abandon(key);
  const std::lock_guard<std::mutex> lock(mutex_);
  paused_until_ms_ = NowMs() + kPauseMs;
  return {};
}

void PackedForms::Abandon(const PackedKey& key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  forms_.erase(key);
}

void PackedForms::Add(const PackedKey& key, std::shared_ptr<char> filled, int64_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  forms_[key] = {std::move(filled), bytes};
  ++counts_.arrays;
  counts_.bytes += bytes;
}

void PackedForms::DropIfShort() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (counts_.bytes < kMuchToDrop) return;
    const int64_t now = NowMs();
    if (now < checked_ms_ + kCheckEveryMs) return;
    checked_ms_ = now;
  }
  if (available_() < kLittleLeft) Drop();
}

// Products that use a form now hold it until they end.
void PackedForms::Drop() {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::erase_if(forms_, [](const auto& form) { return form.second.packed != nullptr; });
  counts_ = {0, 0, counts_.dropped + counts_.arrays};
  paused_until_ms_ = NowMs() + kPauseMs;
}

PackedCounts PackedForms::counts() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return counts_;
}

void FrozenArrays::Add(int64_t number, const void* data, int64_t bytes) {
  if (data == nullptr || bytes < kLeastBytes) return;
  const Range range = {static_cast<const char*>(data), bytes, number};
  const auto less = [](const Range& a, const Range& b) { return a.begin < b.begin; };
  ranges_.insert(std::upper_bound(ranges_.begin(), ranges_.end(), range, less), range);
}

bool FrozenArrays::Locate(const void* data, PackedKey* key) const {
  const auto* at = static_cast<const char*>(data);
  auto range = std::upper_bound(ranges_.begin(), ranges_.end(), at,
                                [](const char* a, const Range& r) { return a < r.begin; });
  if (range == ranges_.begin()) return false;
  --range;
  if (at - range->begin >= range->bytes) return false;
  key->array = range->number;
  key->offset = at - range->begin;
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
