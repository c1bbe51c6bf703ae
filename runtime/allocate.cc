// Large pages by madvise, which glibc's heap does not ask for.
#include "runtime/allocate.h"

#include <stdlib.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace hlokit {
namespace {

constexpr size_t kLargePage = size_t{2} << 20;

}  // namespace

void* AllocateBlock(size_t bytes) {
  const bool large = bytes >= kLargePage;
  const size_t alignment = large ? kLargePage : kBlockAlignment;
  if (bytes > static_cast<size_t>(-1) / 2) return nullptr;
  // Whole vectors: loads may read past the last element, within its alignment.
  const size_t rounded = (bytes + kBlockAlignment + alignment - 1) / alignment * alignment;
  void* block = aligned_alloc(alignment, rounded);
#if defined(__linux__)
  if (large && block != nullptr) madvise(block, rounded, MADV_HUGEPAGE);
#endif
  return block;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
