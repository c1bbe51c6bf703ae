// The names defined so far in one computation.
#pragma once

#include <cstring>
#include <vector>

#include "absl/strings/string_view.h"
#include "ir/instruction.h"

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

  NameTable() : entries_(64) {}

  void Clear() {
    ++generation_;
    size_ = 0;
  }
  // The entry of `name`, or null.
  Entry* Find(absl::string_view name) {
    Entry& entry = Slot(name, Hash(name));
    return entry.generation == generation_ ? &entry : nullptr;
  }
  // The entry of `name`, made where there is none (`added` tells).
  Entry& Add(absl::string_view name, bool& added) {
    if (size_ * 2 >= entries_.size()) Grow();
    const uint32_t hash = Hash(name);
    Entry& entry = Slot(name, hash);
    added = entry.generation != generation_;
    if (added) {
      entry = {nullptr, name.data(), static_cast<uint32_t>(name.size()), hash, generation_};
      ++size_;
    }
    return entry;
  }
  // Calls fn(name) for every name, in no order.
  template <typename Fn>
  void ForEach(Fn fn) const {
    for (const Entry& entry : entries_)
      if (entry.generation == generation_) fn(entry.text());
  }

 private:
  static uint32_t Hash(absl::string_view name) {
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
    return static_cast<uint32_t>(hash ^ (hash >> 32));
  }
  // Where `name` is, or belongs.
  Entry& Slot(absl::string_view name, uint32_t hash) {
    const size_t mask = entries_.size() - 1;
    size_t at = hash & mask;
    while (entries_[at].generation == generation_ &&
           (entries_[at].hash != hash || entries_[at].text() != name))
      at = (at + 1) & mask;
    return entries_[at];
  }
  void Grow() {
    std::vector<Entry> old(entries_.size() * 2);
    old.swap(entries_);
    for (const Entry& entry : old)
      if (entry.generation == generation_) Slot(entry.text(), entry.hash) = entry;
  }

  std::vector<Entry> entries_;
  uint32_t generation_ = 1;
  size_t size_ = 0;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
