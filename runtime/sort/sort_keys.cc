// The one place that calls vqsort; where Highway is not, the standard library sorts.
#include "runtime/sort/sort_keys_internal.h"

#include <string.h>

#if defined(HLOKIT_WITH_HIGHWAY)
#include "hwy/contrib/sort/vqsort.h"
#else
#include <algorithm>
#endif

namespace hlokit {
namespace {

// Short rows: a call of vqsort costs a system call (it asks the kernel for random bits).
constexpr int64_t kMaxInserted = 24;

#if defined(HLOKIT_WITH_HIGHWAY)
template <typename Key>
void SortKeys(Key* keys, int64_t count) {
  hwy::Sorter()(keys, count, hwy::SortAscending());
}
void SortKeys(LongEntry* entries, int64_t count) {
  static_assert(sizeof(LongEntry) == sizeof(hwy::uint128_t));
  SortKeys(reinterpret_cast<hwy::uint128_t*>(entries), count);
}
#else
template <typename Key>
void SortKeys(Key* keys, int64_t count) {
  std::sort(keys, keys + count);
}
#endif

template <typename Key>
void SortRow(Key* keys, int64_t count) {
  if (count <= kMaxInserted)
    InsertionSort(keys, count, [](const Key& a, const Key& b) { return a < b; });
  else
    SortKeys(keys, count);
}

}  // namespace

void SortAscending(uint8_t* keys, int64_t count) {
  int64_t counts[256] = {};
  for (int64_t i = 0; i < count; ++i) ++counts[keys[i]];
  for (int key = 0; key < 256; ++key) {
    memset(keys, key, counts[key]);
    keys += counts[key];
  }
}

void SortAscending(uint16_t* keys, int64_t count) { SortRow(keys, count); }
void SortAscending(uint32_t* keys, int64_t count) { SortRow(keys, count); }
void SortAscending(uint64_t* keys, int64_t count) { SortRow(keys, count); }
void SortAscending(LongEntry* entries, int64_t count) { SortRow(entries, count); }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
