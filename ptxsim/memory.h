// Device memory: allocations with addresses of their own, so that what lies between them is found
// out of bounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hlokit::ptx {

// Where addresses begin; the same in every run. A .shared or .local address is an offset; its
// generic address lies in that space's window. Global memory is addressed as it is everywhere.
inline constexpr uint64_t kSharedWindow = uint64_t{1} << 32;
// Shared memory of block `rank` of the cluster: offset + (rank + 1 << kSharedRankShift).
inline constexpr int kSharedRankShift = 24;
inline constexpr uint64_t kLocalWindow = uint64_t{2} << 32;
inline constexpr uint64_t kParamWindow = uint64_t{3} << 32;
inline constexpr uint64_t kImageWindow = uint64_t{4} << 32;  // .global and .const variables
inline constexpr uint64_t kCodeWindow = uint64_t{5} << 32;   // functions, 16 bytes apart
inline constexpr uint64_t kWindowBytes = uint64_t{1} << 32;
inline constexpr uint64_t kHeapBase = uint64_t{0x7f00} << 32;

struct Allocation {
  uint64_t address = 0;
  int64_t size = 0;        // bytes
  std::string name;        // for messages
  bool is_device = false;  // a variable of the module
  std::byte* data = nullptr;
  // A byte a byte: 1 where it was written. Empty: all of it was.
  std::vector<uint8_t> written;
  bool is_constant = false;  // a variable of .const: kernels may not write it
};

class Memory {
 public:
  Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // Zeroed bytes at a multiple of 256; `is_written` false: kernels that read them before they are
  // written are stopped. Errors: ResourceExhausted.
  absl::StatusOr<uint64_t> Allocate(int64_t size, absl::string_view name, bool is_written);
  // The same at `address`, in place of what was there.
  absl::Status AllocateAt(uint64_t address, int64_t size, absl::string_view name);
  void Free(uint64_t address);
  int64_t frees() const { return frees_; }  // how many there were

  // The allocation that holds `address`; null where there is none.
  Allocation* Find(uint64_t address);
  // The one at or below `address`, for messages; null where there is none.
  const Allocation* Below(uint64_t address) const;
  // Whether any allocation began unwritten; then loads and stores tell where.
  bool tracks_writes() const { return tracks_writes_; }
  void MarkWritten(uint64_t address, int64_t size);
  bool IsWritten(uint64_t address, int64_t size);
  // Host memory behind [address, address + size); null where that is not inside one allocation.
  std::byte* Host(uint64_t address, int64_t size);

 private:
  struct Entry {
    Allocation allocation;
    std::unique_ptr<std::byte[]> storage;
  };
  absl::Status Add(uint64_t address, int64_t size, absl::string_view name, bool is_written);

  std::map<uint64_t, Entry> entries_;
  bool tracks_writes_ = false;
  int64_t frees_ = 0;
  uint64_t next_ = uint64_t{0x7f00} << 32;
};

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
