// Texts are packed into blocks that are never reallocated.
#include "support/interner.h"

#include <algorithm>
#include <cstring>

namespace hlokit {

constexpr size_t kBlockSize = size_t{1} << 16;

uint32_t StringInterner::Find(absl::string_view text) const {
  auto found = ids_.find(text);
  return found == ids_.end() ? kNone : found->second;
}

uint32_t StringInterner::Id(absl::string_view text) {
  uint32_t id = Find(text);
  if (id != kNone) return id;
  id = static_cast<uint32_t>(texts_.size());
  texts_.push_back(Store(text));
  ids_.emplace(texts_.back(), id);
  return id;
}

absl::string_view StringInterner::Store(absl::string_view text) {
  if (text.empty()) return "";
  if (text.size() > free_size_) {
    free_size_ = std::max(kBlockSize, text.size());
    blocks_.push_back(std::make_unique<char[]>(free_size_));
    free_ = blocks_.back().get();
  }
  std::memcpy(free_, text.data(), text.size());
  absl::string_view stored(free_, text.size());
  free_ += text.size();
  free_size_ -= text.size();
  return stored;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
