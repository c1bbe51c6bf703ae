// The host's memory as a device's, and views.
#include "backends/device.h"

#include <cstdlib>
#include <cstring>
#include <utility>

#include "backends/host_memory_internal.h"
#include "support/allocate.h"
#include "support/status.h"

namespace hlokit {
namespace {

absl::Status CheckRange(const DeviceMemory& memory, int64_t offset, int64_t bytes) {
  if (offset >= 0 && bytes >= 0 && offset <= memory.size() - bytes) return absl::OkStatus();
  return InvalidArgument(bytes, " bytes at ", offset, " of device memory of ", memory.size());
}

class MemoryView final : public DeviceMemory {
 public:
  MemoryView(std::shared_ptr<DeviceMemory> whole, int64_t offset, int64_t size)
      : whole_(std::move(whole)), offset_(offset), size_(size) {}
  void* address() const override {
    return size_ == 0 ? nullptr : static_cast<char*>(whole_->address()) + offset_;
  }
  const void* host_address() const override {
    const auto* const whole = static_cast<const char*>(whole_->host_address());
    return size_ == 0 || whole == nullptr ? nullptr : whole + offset_;
  }
  int64_t size() const override { return size_; }
  absl::Status CopyIn(const void* host, int64_t offset, int64_t bytes) override {
    RETURN_IF_ERROR(CheckRange(*this, offset, bytes));
    return whole_->CopyIn(host, offset_ + offset, bytes);
  }
  absl::Status CopyOut(int64_t offset, int64_t bytes, void* host) const override {
    RETURN_IF_ERROR(CheckRange(*this, offset, bytes));
    return whole_->CopyOut(offset_ + offset, bytes, host);
  }

 private:
  const std::shared_ptr<DeviceMemory> whole_;
  const int64_t offset_, size_;
};

}  // namespace

absl::Status HostMemory::CopyIn(const void* host, int64_t offset, int64_t bytes) {
  RETURN_IF_ERROR(CheckRange(*this, offset, bytes));
  if (bytes > 0) std::memcpy(static_cast<char*>(address_) + offset, host, bytes);
  return absl::OkStatus();
}

absl::Status HostMemory::CopyOut(int64_t offset, int64_t bytes, void* host) const {
  RETURN_IF_ERROR(CheckRange(*this, offset, bytes));
  if (bytes > 0) std::memcpy(host, static_cast<const char*>(address_) + offset, bytes);
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<DeviceMemory>> ViewOf(std::shared_ptr<DeviceMemory> whole,
                                                     int64_t offset, int64_t bytes) {
  RETURN_IF_ERROR(CheckRange(*whole, offset, bytes));
  return std::make_shared<MemoryView>(std::move(whole), offset, bytes);
}

absl::StatusOr<std::shared_ptr<DeviceMemory>> HostDevice::Allocate(int64_t bytes) {
  if (bytes == 0) return std::make_shared<HostMemory>(nullptr, nullptr, 0);
  void* const address = AllocateBlock(static_cast<size_t>(bytes));
  if (address == nullptr) return ResourceExhausted("no device memory of ", bytes, " bytes");
  return std::make_shared<HostMemory>(std::shared_ptr<void>(address, std::free), address, bytes);
}

absl::StatusOr<std::shared_ptr<DeviceMemory>> HostDevice::Borrow(std::shared_ptr<const void> owner,
                                                                 const void* host, int64_t bytes) {
  return std::make_shared<HostMemory>(std::move(owner), const_cast<void*>(host), bytes);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
