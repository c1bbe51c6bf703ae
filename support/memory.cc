// Settings of glibc's malloc, and madvise on the heap.
#include "support/memory.h"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace hlokit {
namespace {

constexpr size_t kHugePage = size_t{1} << 21;

// The whole huge pages in [data, data + size).
void AdviseHuge(void* data, size_t size) {
  const auto start = (reinterpret_cast<uintptr_t>(data) + kHugePage - 1) / kHugePage * kHugePage;
  const auto end = (reinterpret_cast<uintptr_t>(data) + size) / kHugePage * kHugePage;
  if (end > start) madvise(reinterpret_cast<void*>(start), end - start, MADV_HUGEPAGE);
}

}  // namespace

void ExpectHeapUse(size_t bytes) {
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
  constexpr size_t kLeast = size_t{1} << 18;
  constexpr size_t kProbe = size_t{100} << 10;  // small enough to come from the heap
  if (bytes < kLeast) return;
  bytes = std::min(bytes, size_t{1} << 30) + 2 * kHugePage;
  mallopt(M_TOP_PAD, static_cast<int>(bytes));
  mallopt(M_MMAP_THRESHOLD, 1 << 25);  // tables that grow stay in the heap too
  void* const first = std::malloc(kProbe);
  void* const second = std::malloc(kProbe);
  const auto top = reinterpret_cast<uintptr_t>(second) + kProbe;
  const auto end = reinterpret_cast<uintptr_t>(sbrk(0));
  const bool grew = top < end && end - top > kHugePage;
  if (grew) AdviseHuge(reinterpret_cast<void*>(top), end - top);
  // What lies before the first huge page is left alone: touching it would cost small pages.
  const uintptr_t boundary = (top + kHugePage - 1) / kHugePage * kHugePage;
  void* const gap = grew && boundary - top > 256 ? std::malloc(boundary - top - 64) : nullptr;
  std::free(first);
  std::free(second);
  static void* kept = nullptr;
  kept = gap;
  (void)kept;
  mallopt(M_TOP_PAD, 1 << 20);
#else
  (void)bytes;
#endif
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
