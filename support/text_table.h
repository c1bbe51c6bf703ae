// What stretches of a text were read as, so that equal ones are read once.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "support/text.h"

namespace hlokit {

// Shapes, metadata and small constants recur in a module: this keeps the value of each text seen.
// Texts are views, which must outlive the table.
template <typename Value>
class TextTable {
 public:
  // What was added under `text`, or null; valid until the next Add.
  const Value* Find(absl::string_view text) const {
    if (entries_.empty()) return nullptr;
    const Entry& entry = entries_[Slot(text, Hash(text))];
    return entry.text != nullptr ? &entry.value : nullptr;
  }
  // False, and nothing done, where the text is there.
  bool Add(absl::string_view text, Value value) {
    if (size_ * 2 >= entries_.size()) Grow();
    const uint32_t hash = Hash(text);
    Entry& entry = entries_[Slot(text, hash)];
    if (entry.text != nullptr) return false;
    entry = {text.data(), static_cast<uint32_t>(text.size()), hash, std::move(value)};
    ++size_;
    return true;
  }

 private:
  struct Entry {
    const char* text = nullptr;  // null: free
    uint32_t length = 0;
    uint32_t hash = 0;
    Value value;
  };

  static uint32_t Hash(absl::string_view text) { return static_cast<uint32_t>(HashText(text)); }
  // Where `text` is, or belongs.
  size_t Slot(absl::string_view text, uint32_t hash) const {
    const size_t mask = entries_.size() - 1;
    size_t at = hash & mask;
    while (entries_[at].text != nullptr &&
           (entries_[at].hash != hash ||
            absl::string_view(entries_[at].text, entries_[at].length) != text))
      at = (at + 1) & mask;
    return at;
  }
  void Grow() {
    std::vector<Entry> old(entries_.empty() ? kLeast : 2 * entries_.size());
    old.swap(entries_);
    for (Entry& entry : old)
      if (entry.text != nullptr)
        entries_[Slot({entry.text, entry.length}, entry.hash)] = std::move(entry);
  }

  static constexpr size_t kLeast = 64;  // a power of two

  std::vector<Entry> entries_;
  size_t size_ = 0;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
