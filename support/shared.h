// A value that many holders share: one pointer, copied where a holder wants to change it.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace hlokit {

// Copies share the value until one of them asks for Mutable(), which then gets a value of its own.
// A default-constructed one reads as T(). Reading, copying and dropping copies are safe from
// several threads.
template <typename T>
class Shared {
 public:
  Shared() = default;
  Shared(T value) : block_(new Block{{1}, std::move(value)}) {}  // NOLINT: stands for the value
  Shared(const Shared& other) : block_(other.block_) {
    if (block_ != nullptr) block_->owners.fetch_add(1, std::memory_order_relaxed);
  }
  Shared(Shared&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  Shared& operator=(Shared other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~Shared() {
    if (block_ != nullptr && block_->owners.fetch_sub(1, std::memory_order_acq_rel) == 1)
      delete block_;
  }

  const T& operator*() const { return block_ != nullptr ? block_->value : Nothing(); }
  const T* operator->() const { return &**this; }
  // Nothing was ever put in.
  bool empty() const { return block_ == nullptr; }
  // The value, for this holder alone.
  T& Mutable() {
    if (block_ == nullptr || block_->owners.load(std::memory_order_acquire) != 1)
      *this = Shared(**this);
    return block_->value;
  }

  // The same value in memory; equal ones may be kept apart.
  bool IsSame(const Shared& other) const { return block_ == other.block_; }

 private:
  struct Block {
    std::atomic<uint32_t> owners;
    T value;
  };
  static const T& Nothing() {
    static const T* const nothing = new T();
    return *nothing;
  }

  Block* block_ = nullptr;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
