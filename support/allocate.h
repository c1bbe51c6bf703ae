// Memory for arrays: aligned, and large blocks in large pages where the system has them. All of it
// stands here, so that the runtime needs no other library.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace hlokit {

// The alignment, in bytes, that kernels and compiled code expect of arrays.
inline constexpr size_t kBlockAlignment = 64;

// `bytes` of uninitialised memory aligned so, to be freed with free(), and as much again as a
// vector that begins at the last of them reads; null where there is not that much. From 2 MiB on it
// lies in huge pages where the system has some: its first use costs a page fault for five hundred,
// and kernels walk through packed matrices in all directions.
inline void* AllocateBlock(size_t bytes) {
  constexpr size_t kHugePage = size_t{2} << 20;
  if (bytes > static_cast<size_t>(-1) / 2) return nullptr;
  const bool large = bytes >= kHugePage;
  const size_t padded = bytes + kBlockAlignment;
  void* block = nullptr;
  if (posix_memalign(&block, large ? kHugePage : kBlockAlignment, padded) != 0) return nullptr;
#if defined(__linux__)
  if (large) madvise(block, padded, MADV_HUGEPAGE);
#endif
  return block;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
