// The host as a device: its memory is allocated, or borrowed from what the caller holds.
#include "backends/host_memory_internal.h"

#include <cstdlib>
#include <cstring>
#include <utility>

#include "support/allocate.h"
#include "support/status.h"

namespace hlokit {

absl::Status HostMemory::CopyIn(const void* host, int64_t offset, int64_t bytes) {
  RETURN_IF_ERROR(CheckRange(offset, bytes));
  if (bytes > 0) std::memcpy(static_cast<char*>(address_) + offset, host, bytes);
  return absl::OkStatus();
}

absl::Status HostMemory::CopyOut(int64_t offset, int64_t bytes, void* host) const {
  RETURN_IF_ERROR(CheckRange(offset, bytes));
  if (bytes > 0) std::memcpy(host, static_cast<const char*>(address_) + offset, bytes);
  return absl::OkStatus();
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
