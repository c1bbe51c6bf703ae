// Devices and their memory: allocate, copy in, copy out, use without a copy.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "types/literal.h"

namespace hlokit {

// Bytes on a device, freed with the last holder. Holders share what is in them: only an execution
// that was given the memory writes.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  // As programs of the device see it; null where there are no bytes.
  virtual void* address() const = 0;
  // As the host sees it; null where it does not reach the memory (but see
  // Capabilities::shares_host_memory).
  virtual const void* host_address() const { return nullptr; }
  virtual int64_t size() const = 0;  // bytes
  // Copies `bytes` bytes from or to the host's memory, at `offset` here; returns when done. Errors:
  // InvalidArgument where they do not lie within the memory; those of the device.
  virtual absl::Status CopyIn(const void* host, int64_t offset, int64_t bytes) = 0;
  virtual absl::Status CopyOut(int64_t offset, int64_t bytes, void* host) const = 0;

  // InvalidArgument where `bytes` bytes at `offset` do not lie within the memory.
  absl::Status CheckRange(int64_t offset, int64_t bytes) const;
};

// `bytes` bytes of `whole` from `offset` on, without a copy; holds `whole`. Errors: InvalidArgument
// where they do not lie within it.
absl::StatusOr<std::shared_ptr<DeviceMemory>> ViewOf(std::shared_ptr<DeviceMemory> whole,
                                                     int64_t offset, int64_t bytes);

// What allocates the memory of a device.
class Device {
 public:
  virtual ~Device() = default;
  // Unset bytes at an address that programs read in place. Errors: ResourceExhausted.
  virtual absl::StatusOr<std::shared_ptr<DeviceMemory>> Allocate(int64_t bytes) = 0;
  // Memory of the host as the device's, without a copy, as long as `owner` is held; it must not
  // change meanwhile. Errors: Unimplemented where devices do not reach the host's memory.
  virtual absl::StatusOr<std::shared_ptr<DeviceMemory>> Borrow(std::shared_ptr<const void> owner,
                                                               const void* host, int64_t bytes) = 0;
};

// The host's memory, which all devices of the platforms that run on the host share.
class HostDevice final : public Device {
 public:
  absl::StatusOr<std::shared_ptr<DeviceMemory>> Allocate(int64_t bytes) override;
  absl::StatusOr<std::shared_ptr<DeviceMemory>> Borrow(std::shared_ptr<const void> owner,
                                                       const void* host, int64_t bytes) override;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
