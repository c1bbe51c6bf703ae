// Aligned allocation, with large pages for large blocks.
#include "backends/cpu/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include "support/status.h"

namespace hlokit {
namespace {

constexpr int64_t kLargePage = 2 << 20;

// Bytes of physical memory; a program that needs more is refused before it starts to swap.
int64_t PhysicalMemory() {
  return static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<int64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

absl::StatusOr<Bytes> AllocateBytes(int64_t size) {
  if (size == 0) return Bytes();
  if (size > PhysicalMemory())
    return ResourceExhausted("the program needs ", size, " bytes at once; this machine has ",
                             PhysicalMemory());
  void* raw = nullptr;
  const bool large = size >= 2 * kLargePage;
  if (posix_memalign(&raw, large ? kLargePage : 64, static_cast<size_t>(size + 64)) != 0)
    return ResourceExhausted("cannot allocate ", size, " bytes");
  if (large) madvise(raw, static_cast<size_t>(size), MADV_HUGEPAGE);
  return Bytes(static_cast<char*>(raw));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
