// Text that never changes and that many holders share: one pointer, nothing at all where empty.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"

namespace hlokit {

// For texts that many objects repeat or that most leave empty, such as an instruction's metadata:
// copies share the bytes. Reading from several threads is safe, as is dropping copies in them.
class SharedText {
 public:
  SharedText() = default;
  explicit SharedText(absl::string_view text) : block_(MakeBlock(text)) {}
  SharedText(const SharedText& other) : block_(other.block_) {
    if (block_ != nullptr) block_->owners.fetch_add(1, std::memory_order_relaxed);
  }
  SharedText(SharedText&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  SharedText& operator=(SharedText other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  SharedText& operator=(absl::string_view text) { return *this = SharedText(text); }
  SharedText& operator=(const char* text) { return *this = absl::string_view(text); }
  SharedText& operator=(const std::string& text) { return *this = absl::string_view(text); }
  ~SharedText() {
    if (block_ != nullptr) Drop(block_);
  }

  absl::string_view view() const {
    return block_ == nullptr ? absl::string_view() : absl::string_view(Bytes(block_), block_->size);
  }
  operator absl::string_view() const { return view(); }
  std::string str() const { return std::string(view()); }
  void clear() { *this = SharedText(); }
  bool empty() const { return block_ == nullptr; }
  size_t size() const { return block_ == nullptr ? 0 : block_->size; }

  friend bool operator==(const SharedText& a, const SharedText& b) {
    return a.block_ == b.block_ || a.view() == b.view();
  }
  friend bool operator==(const SharedText& a, absl::string_view b) { return a.view() == b; }
  template <typename H>
  friend H AbslHashValue(H h, const SharedText& text) {
    return H::combine(std::move(h), text.view());
  }

 private:
  struct Block {  // the bytes follow it
    std::atomic<uint32_t> owners;
    size_t size;
  };
  static char* Bytes(Block* block) { return reinterpret_cast<char*>(block + 1); }
  static Block* MakeBlock(absl::string_view text);  // null for an empty text
  static void Drop(Block* block);

  Block* block_ = nullptr;
};

// Hands out one SharedText for equal texts that come soon after each other.
class SharedTextCache {
 public:
  SharedText Get(absl::string_view text);

 private:
  static constexpr size_t kSlots = 256;
  SharedText slots_[kSlots];
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
