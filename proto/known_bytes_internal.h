// Bytes that stand for shared values, by the values' addresses.
#pragma once

#include <cstdint>
#include <vector>

#include "proto/wire_internal.h"

namespace hlokit {

// A field with a message, which has the same bytes wherever the value is shared.
class KnownBytes {
 public:
  explicit KnownBytes(int number) : number_(number) {}

  struct Field {
    absl::string_view whole;    // with tag and length
    absl::string_view content;  // of the message
  };
  // The field for the value at this address; append(writer) appends the message's content where it
  // is asked for the first time. The views hold until the next call.
  template <typename Fn>
  Field Of(const void* value, Fn append) {
    if (2 * (size_ + 1) > entries_.size()) Grow();
    Entry& entry = entries_[Slot(entries_, value)];
    if (entry.value == nullptr) {
      Make(entry, append);
      entry.value = value;
      ++size_;
    }
    const absl::string_view bytes = bytes_.view().substr(entry.start, entry.end - entry.start);
    return {bytes, bytes.substr(entry.content - entry.start)};
  }

 private:
  struct Entry {
    const void* value = nullptr;  // null: free
    uint32_t start = 0, content = 0, end = 0;
  };

  template <typename Fn>
  void Make(Entry& entry, Fn append) {
    constexpr size_t kUsual = 60;
    bytes_.Reserve(WireWriter::kMaxAround);
    entry.start = static_cast<uint32_t>(bytes_.size());
    const WireWriter::Message message = bytes_.Open(number_, kUsual);
    append(bytes_);
    bytes_.Reserve(WireWriter::kMaxAround);
    entry.content = static_cast<uint32_t>(bytes_.Close(message));
    entry.end = static_cast<uint32_t>(bytes_.size());
  }
  static size_t Slot(const std::vector<Entry>& entries, const void* value) {
    const size_t mask = entries.size() - 1;
    size_t at = (reinterpret_cast<uintptr_t>(value) * 0x9E3779B97F4A7C15u >> 32) & mask;
    while (entries[at].value != nullptr && entries[at].value != value) at = (at + 1) & mask;
    return at;
  }
  void Grow() {
    std::vector<Entry> larger(entries_.empty() ? 256 : 2 * entries_.size());
    for (const Entry& entry : entries_)
      if (entry.value != nullptr) larger[Slot(larger, entry.value)] = entry;
    entries_ = std::move(larger);
  }

  int number_;
  WireWriter bytes_;
  std::vector<Entry> entries_;
  size_t size_ = 0;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
