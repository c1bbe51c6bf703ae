// The names defined so far in one computation.
#pragma once

#include <vector>

#include "absl/strings/string_view.h"
#include "ir/instruction.h"
#include "support/text.h"

namespace hlokit {

// An open-addressing table that is cleared without touching its memory: computations are many and
// small. Names are views into the text.
class NameTable {
 public:
  struct Entry {
    // null while its definition is read, and where that is broken
    Instruction* instruction = nullptr;
    const char* name = nullptr;
    uint32_t length = 0;
    uint32_t hash = 0;
    uint32_t generation = 0;
    bool broken = false;  // an error in the definition was reported

    absl::string_view text() const { return {name, length}; }
  };

  NameTable() : entries_(kLeast) {}

  void Clear() {
    ++generation_;
    size_ = 0;
    used_ = kLeast;
  }
  // The entry of `name`, or null.
  Entry* Find(absl::string_view name) {
    Entry& entry = Slot(name, Hash(name));
    return entry.generation == generation_ ? &entry : nullptr;
  }
  // The entry of `name`, made where there is none (`added` tells).
  Entry& Add(absl::string_view name, bool& added) {
    if (size_ * 2 >= used_) Grow();
    const uint32_t hash = Hash(name);
    Entry& entry = Slot(name, hash);
    added = entry.generation != generation_;
    if (added) {
      entry = {nullptr, name.data(), static_cast<uint32_t>(name.size()), hash, generation_};
      ++size_;
    }
    return entry;
  }
  // Calls fn(entry) for every name, in no order.
  template <typename Fn>
  void ForEach(Fn fn) const {
    for (size_t i = 0; i < used_; ++i)
      if (entries_[i].generation == generation_) fn(entries_[i]);
  }

 private:
  static uint32_t Hash(absl::string_view name) { return static_cast<uint32_t>(HashText(name)); }
  // Where `name` is, or belongs.
  Entry& Slot(absl::string_view name, uint32_t hash) {
    const size_t mask = used_ - 1;
    size_t at = hash & mask;
    while (entries_[at].generation == generation_ &&
           (entries_[at].hash != hash || entries_[at].text() != name))
      at = (at + 1) & mask;
    return entries_[at];
  }
  void Grow() {
    std::vector<Entry> kept;
    kept.reserve(size_);
    for (size_t i = 0; i < used_; ++i)
      if (entries_[i].generation == generation_) kept.push_back(entries_[i]);
    used_ *= 2;
    if (used_ > entries_.size()) entries_.resize(used_);
    ++generation_;
    for (Entry& entry : kept) {
      entry.generation = generation_;
      Slot(entry.text(), entry.hash) = entry;
    }
  }

  static constexpr size_t kLeast = 64;

  std::vector<Entry> entries_;
  // Of the entries, those in use; a small computation after a large one stays in the cache.
  size_t used_ = kLeast;
  uint32_t generation_ = 1;
  size_t size_ = 0;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
