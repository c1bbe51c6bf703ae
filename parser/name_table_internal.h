// The names defined so far in one computation.
#pragma once

#include <cstring>
#include <vector>

#include "absl/strings/string_view.h"
#include "ir/instruction.h"

namespace hlokit {

// An open-addressing table that is cleared without touching its memory: computations are many and small. Names are
// views into the text.
class NameTable {
 public:
  struct Entry {
    absl::string_view name;
    Instruction* instruction = nullptr;  // null while its definition is read, and where that is broken
    uint32_t generation = 0;
    bool broken = false;  // an error in the definition was reported
    SourcePlace place;
  };

  NameTable() : entries_(64) {}

  void Clear() {
    ++generation_;
    size_ = 0;
  }
  // The entry of `name`, or null.
  Entry* Find(absl::string_view name) {
    Entry& entry = Slot(name);
    return entry.generation == generation_ ? &entry : nullptr;
  }
  // The entry of `name`, made where there is none (`added` tells).
  Entry& Add(absl::string_view name, bool& added) {
    if (size_ * 2 >= entries_.size()) Grow();
    Entry& entry = Slot(name);
    added = entry.generation != generation_;
    if (added) {
      entry = {};
      entry.name = name;
      entry.generation = generation_;
      ++size_;
    }
    return entry;
  }
  // Calls fn(name) for every name, in no order.
  template <typename Fn>
  void ForEach(Fn fn) const {
    for (const Entry& entry : entries_)
      if (entry.generation == generation_) fn(entry.name);
  }

 private:
  static uint64_t Hash(absl::string_view name) {
    uint64_t hash = name.size() * 0x9E3779B97F4A7C15u;
    size_t i = 0;
    for (; i + 8 <= name.size(); i += 8) {
      uint64_t word;
      std::memcpy(&word, name.data() + i, 8);
      hash = (hash ^ word) * 0xD6E8FEB86659FD93u;
      hash ^= hash >> 32;
    }
    uint64_t tail = 0;
    std::memcpy(&tail, name.data() + i, name.size() - i);
    hash = (hash ^ tail) * 0xD6E8FEB86659FD93u;
    return hash ^ (hash >> 32);
  }
  Entry& Slot(absl::string_view name) {
    const size_t mask = entries_.size() - 1;
    size_t at = Hash(name) & mask;
    while (entries_[at].generation == generation_ && entries_[at].name != name) at = (at + 1) & mask;
    return entries_[at];
  }
  void Grow() {
    std::vector<Entry> old(entries_.size() * 2);
    old.swap(entries_);
    for (const Entry& entry : old)
      if (entry.generation == generation_) Slot(entry.name) = entry;
  }

  std::vector<Entry> entries_;
  uint32_t generation_ = 1;
  size_t size_ = 0;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
