// Memory of the host as device memory: another's, or a literal's.
#pragma once

#include <memory>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "backends/device.h"

namespace hlokit {

// Bytes that lie in memory of `owner`, which it holds.
class HostMemory final : public DeviceMemory {
 public:
  HostMemory(std::shared_ptr<const void> owner, void* address, int64_t size)
      : owner_(std::move(owner)), address_(address), size_(size) {}
  void* address() const override { return address_; }
  const void* host_address() const override { return address_; }
  int64_t size() const override { return size_; }
  absl::Status CopyIn(const void* host, int64_t offset, int64_t bytes) override;
  absl::Status CopyOut(int64_t offset, int64_t bytes, void* host) const override;

 private:
  std::shared_ptr<const void> owner_;
  void* address_;
  int64_t size_;
};

// A literal that was taken over and the memory of its arrays, one block with one count of holders:
// results of small programs are made in as few steps as literals.
struct LiteralBlock {
  explicit LiteralBlock(Literal value) : literal(std::move(value)) {}
  Literal literal;
  absl::InlinedVector<HostMemory, 1> arrays;  // which no longer grow once they have holders
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
