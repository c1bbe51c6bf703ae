// Allocations of device memory, by address. Between two of them nothing is mapped for at least 4
// KiB, so that most accesses out of bounds are found. Where it is asked for, bytes are marked once
// written, which tells reads of memory that nobody has written.
#include "ptxsim/memory.h"

#include <algorithm>
#include <new>
#include <utility>

#include "support/status.h"

namespace hlokit::ptx {

absl::Status Memory::Add(uint64_t address, int64_t size, absl::string_view name, bool is_written) {
  Entry entry;
  // 32 bytes more: a column may be read whole.
  entry.storage.reset(new (std::nothrow) std::byte[static_cast<size_t>(size) + 64]());
  if (entry.storage == nullptr)
    return ResourceExhausted("no ", size, " bytes of memory for ", name);
  const auto misaligned = reinterpret_cast<uintptr_t>(entry.storage.get()) % 32;
  entry.allocation = {address,
                      size,
                      std::string(name),
                      false,
                      entry.storage.get() + (misaligned == 0 ? 0 : 32 - misaligned),
                      {}};
  if (!is_written) {
    entry.allocation.written.assign(static_cast<size_t>(size), 0);
    tracks_writes_ = true;
  }
  entries_.insert_or_assign(address, std::move(entry));
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> Memory::Allocate(int64_t size, absl::string_view name, bool is_written) {
  constexpr int64_t kMaxSize = int64_t{1} << 38;
  if (size < 0 || size > kMaxSize) return ResourceExhausted("an allocation of ", size, " bytes");
  const uint64_t address = next_;
  RETURN_IF_ERROR(Add(address, size, name, is_written));
  // At least 4 KiB that nothing lies in.
  next_ += (static_cast<uint64_t>(size) + 4096 + 255) / 256 * 256;
  return address;
}

absl::Status Memory::AllocateAt(uint64_t address, int64_t size, absl::string_view name) {
  RETURN_IF_ERROR(Add(address, size, name, /*is_written=*/true));
  entries_[address].allocation.is_device = true;
  return absl::OkStatus();
}

void Memory::Free(uint64_t address) {
  entries_.erase(address);
  ++frees_;
}

// The allocation that holds the byte; null where none does.
Allocation* Memory::Find(uint64_t address) {
  auto next = entries_.upper_bound(address);
  if (next == entries_.begin()) return nullptr;
  Allocation& allocation = std::prev(next)->second.allocation;
  return address - allocation.address < static_cast<uint64_t>(allocation.size) ? &allocation
                                                                               : nullptr;
}

// The nearest allocation at or below the address, for messages.
const Allocation* Memory::Below(uint64_t address) const {
  const auto next = entries_.upper_bound(address);
  return next == entries_.begin() ? nullptr : &std::prev(next)->second.allocation;
}

void Memory::MarkWritten(uint64_t address, int64_t size) {
  Allocation* allocation = Find(address);
  if (allocation == nullptr || allocation->written.empty()) return;
  const auto offset = static_cast<int64_t>(address - allocation->address);
  std::fill_n(allocation->written.begin() + offset, std::min(size, allocation->size - offset), 1);
}

// True also where writes are not tracked.
bool Memory::IsWritten(uint64_t address, int64_t size) {
  const Allocation* allocation = Find(address);
  if (allocation == nullptr || allocation->written.empty()) return true;
  const auto first =
      allocation->written.begin() + static_cast<int64_t>(address - allocation->address);
  return std::all_of(first, first + size, [](uint8_t byte) { return byte != 0; });
}

// The host's address of `size` bytes; null where they do not lie in one allocation.
std::byte* Memory::Host(uint64_t address, int64_t size) {
  Allocation* allocation = Find(address);
  if (allocation == nullptr) return nullptr;
  const uint64_t offset = address - allocation->address;
  if (static_cast<uint64_t>(size) > static_cast<uint64_t>(allocation->size) - offset)
    return nullptr;
  return allocation->data + offset;
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
