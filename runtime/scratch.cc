// A bump allocator per thread; what does not fit gets a block of its own, and the next idle moment
// grows the bump block.
#include "runtime/scratch.h"

#include <stdlib.h>

#include <algorithm>

#include "support/allocate.h"

namespace hlokit {
namespace {

constexpr size_t kMaxKept = size_t{256} << 20;  // larger blocks go back to the system
constexpr size_t kSmall = size_t{512} << 10;    // blocks up to here are as large as asked for
// Larger ones take address space for more at once: growing bit by bit, the first run of a large
// program would touch new pages, which the system clears, at each step.
constexpr size_t kReserved = size_t{32} << 20;

struct ThreadBlock {
  char* data = nullptr;
  size_t capacity = 0;
  size_t used = 0;
  size_t wanted = 0;  // the most that was in use at once
  size_t outside = 0;
  ~ThreadBlock() { free(data); }
};
thread_local ThreadBlock block;

void GrowIdleBlock() {
  const size_t wanted = std::min(block.wanted, kMaxKept);
  if (wanted <= block.capacity) return;
  free(block.data);
  block.capacity = wanted <= kSmall ? wanted : std::max(wanted, kReserved);
  block.data = static_cast<char*>(AllocateBlock(block.capacity));
  if (block.data == nullptr && block.capacity > wanted) {
    block.capacity = wanted;
    block.data = static_cast<char*>(AllocateBlock(wanted));
  }
  if (block.data == nullptr) block.capacity = 0;
}

size_t Rounded(size_t bytes) {
  return (bytes + 2 * kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment;
}

}  // namespace

Scratch::Scratch(size_t bytes) : owned_(false), mark_(block.used) {
  const size_t size = Rounded(bytes);
  if (block.used == 0 && block.outside == 0) {
    block.wanted = std::max(block.wanted, size);
    GrowIdleBlock();
  }
  block.wanted = std::max(block.wanted, block.used + block.outside + size);
  if (block.used + size <= block.capacity) {
    data_ = block.data + block.used;
    block.used += size;
    return;
  }
  owned_ = true;
  mark_ = size;
  block.outside += size;
  data_ = AllocateBlock(size);
}

Scratch::~Scratch() {
  if (owned_) {
    free(data_);
    block.outside -= mark_;
  } else {
    block.used = mark_;
  }
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
