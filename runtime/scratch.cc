// Scratch memory of kernels: a bump allocator per thread.
//
// A Scratch takes the next bytes of its thread's block and gives them back when it is destroyed;
// they nest like stack frames. What does not fit is allocated separately, and the block grows when
// it is next idle, so that a steady program allocates nothing. Blocks above kMaxKept are not kept.
#include "runtime/scratch.h"

#include <stdlib.h>

#include <algorithm>

#include "runtime/first_use_internal.h"
#include "support/allocate.h"

namespace hlokit {
namespace {

constexpr size_t kMaxKept = size_t{256} << 20;  // larger blocks go back to the system
constexpr size_t kSmall = size_t{512} << 10;    // blocks up to here are as large as asked for
// Larger ones take address space for more at once: growing bit by bit, the first run of a large
// program would touch new pages, which the system clears, at each step.
constexpr size_t kReserved = size_t{32} << 20;
constexpr size_t kSmallPages = size_t{4} << 20;  // of a block, in a program's first run
constexpr int kSettled = 4096;                   // uses after which a block is in steady use

struct ThreadBlock {
  char* data = nullptr;
  size_t capacity = 0;
  size_t used = 0;
  size_t wanted = 0;  // the most that was in use at once
  size_t outside = 0;
  int uses = 0;  // of the idle block
  ~ThreadBlock() { free(data); }
};
thread_local ThreadBlock block;

void GrowIdleBlock() {
  const size_t wanted = std::min(block.wanted, kMaxKept);
  if (block.uses < kSettled && ++block.uses == kSettled)
    PreferHugePages(block.data, block.capacity);
  if (wanted <= block.capacity) return;
  free(block.data);
  block.uses = 0;
  block.capacity = wanted <= kSmall ? wanted : std::max(wanted, kReserved);
  block.data = static_cast<char*>(AllocateForFirstUse(block.capacity, kSmallPages));
  if (block.data == nullptr && block.capacity > wanted) {
    block.capacity = wanted;
    block.data = static_cast<char*>(AllocateForFirstUse(wanted, kSmallPages));
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
