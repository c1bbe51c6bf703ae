// Ranges of device memory, and views of them.
#include "backends/device.h"

#include <utility>

#include "support/status.h"

namespace hlokit {
namespace {

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
    RETURN_IF_ERROR(CheckRange(offset, bytes));
    return whole_->CopyIn(host, offset_ + offset, bytes);
  }
  absl::Status CopyOut(int64_t offset, int64_t bytes, void* host) const override {
    RETURN_IF_ERROR(CheckRange(offset, bytes));
    return whole_->CopyOut(offset_ + offset, bytes, host);
  }

 private:
  const std::shared_ptr<DeviceMemory> whole_;
  const int64_t offset_, size_;
};

}  // namespace

absl::Status DeviceMemory::CheckRange(int64_t offset, int64_t bytes) const {
  if (offset >= 0 && bytes >= 0 && offset <= size() - bytes) return absl::OkStatus();
  return InvalidArgument(bytes, " bytes at ", offset, " of device memory of ", size());
}

absl::StatusOr<std::shared_ptr<DeviceMemory>> ViewOf(std::shared_ptr<DeviceMemory> whole,
                                                     int64_t offset, int64_t bytes) {
  RETURN_IF_ERROR(whole->CheckRange(offset, bytes));
  return std::make_shared<MemoryView>(std::move(whole), offset, bytes);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
