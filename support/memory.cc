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

}  // namespace

void ExpectHeapUse(size_t bytes) {
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
  constexpr size_t kLeast = size_t{1} << 18;
  constexpr size_t kProbe = size_t{1} << 22;  // more than a young heap has left
  if (bytes < kLeast) return;
  mallopt(M_TOP_PAD, static_cast<int>(std::min(bytes, size_t{1} << 30) + kHugePage));
  mallopt(M_MMAP_THRESHOLD, 1 << 25);  // tables that grow stay in the heap too
  mallopt(M_TRIM_THRESHOLD, 1 << 30);  // and what they free is not fetched a second time
  // What is left of the heap starts where the probe, of which nothing is touched, lies.
  void* const probe = std::malloc(kProbe);
  const auto top = reinterpret_cast<uintptr_t>(probe);
  const auto end = reinterpret_cast<uintptr_t>(sbrk(0));
  std::free(probe);
  mallopt(M_TOP_PAD, 1 << 20);
  if (top > end || end - top < kProbe) return;
  const uintptr_t boundary = (top + kHugePage - 1) / kHugePage * kHugePage;
  const uintptr_t last = end / kHugePage * kHugePage;
  if (last > boundary)
    madvise(reinterpret_cast<void*>(boundary), last - boundary, MADV_HUGEPAGE);
  // What lies before the first huge page is left alone: touching it would cost small pages.
  static void* volatile gap = nullptr;  // volatile: else a compiler takes the piece away
  gap = boundary - top > 256 ? std::malloc(boundary - top - 64) : nullptr;
  (void)gap;
#else
  (void)bytes;
#endif
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
