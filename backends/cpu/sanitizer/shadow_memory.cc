// One range of addresses for all blocks, given out from the front.
#include "backends/cpu/sanitizer/shadow_memory_internal.h"

#include <cstring>
#include <mutex>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "support/status.h"

namespace hlokit {
namespace {

constexpr int64_t kPage = 4096;
constexpr int64_t kGap = 16 * kPage;

struct Range {
  std::mutex mutex;
  char* first = nullptr;
  int64_t next = 0;    // offset of the next block
  int64_t blocks = 0;  // that live
};

Range& TheRange() {
  static Range* const range = new Range;
  return *range;
}

#if defined(__linux__)
char* Reserve() {
  void* const pages = mmap(nullptr, 2 * kShadowDistance, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return pages == MAP_FAILED ? nullptr : static_cast<char*>(pages);
}
void GiveBack(char* pages, int64_t size) {
  madvise(pages, static_cast<size_t>(size), MADV_DONTNEED);
}
#else
char* Reserve() { return nullptr; }
void GiveBack(char*, int64_t) {}
#endif

int64_t Rounded(int64_t size) { return (size + kPage - 1) / kPage * kPage; }

}  // namespace

absl::StatusOr<std::unique_ptr<ShadowedBlock>> ShadowedBlock::Make(int64_t size) {
  Range& range = TheRange();
  const std::lock_guard<std::mutex> lock(range.mutex);
  if (range.first == nullptr) range.first = Reserve();
  const int64_t space = kShadowDistance - range.next - 2 * kGap;
  if (range.first == nullptr || size > space)
    return ResourceExhausted("the system has no addresses for ", size, " bytes and their state");
  // Not at a page's begin: an address that is a multiple of more than 64 is by chance.
  char* const data = range.first + range.next + kGap + 64;
  range.next += kGap + Rounded(size + 64);
  ++range.blocks;
  return std::unique_ptr<ShadowedBlock>(new ShadowedBlock(data, size));
}

ShadowedBlock::~ShadowedBlock() {
  Range& range = TheRange();
  const std::lock_guard<std::mutex> lock(range.mutex);
  char* const pages = data_ - 64;
  GiveBack(pages, Rounded(size_ + 64));
  GiveBack(pages + kShadowDistance, Rounded(size_ + 64));
  if (--range.blocks == 0) range.next = 0;
}

void ShadowedBlock::SetState(uint8_t state) {
  std::memset(StateOf(data_), state, static_cast<size_t>(size_));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
