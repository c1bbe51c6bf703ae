// The one place that calls vqsort.
#include "runtime/sort_keys_internal.h"

#include <string.h>

#include "hwy/contrib/sort/vqsort.h"

namespace hlokit {

void SortAscending(uint8_t* keys, int64_t count) {
  int64_t counts[256] = {};
  for (int64_t i = 0; i < count; ++i) ++counts[keys[i]];
  for (int key = 0; key < 256; ++key) {
    memset(keys, key, counts[key]);
    keys += counts[key];
  }
}

void SortAscending(uint16_t* keys, int64_t count) {
  hwy::Sorter()(keys, count, hwy::SortAscending());
}
void SortAscending(uint32_t* keys, int64_t count) {
  hwy::Sorter()(keys, count, hwy::SortAscending());
}
void SortAscending(uint64_t* keys, int64_t count) {
  hwy::Sorter()(keys, count, hwy::SortAscending());
}

void SortAscending(LongEntry* entries, int64_t count) {
  static_assert(sizeof(LongEntry) == sizeof(hwy::uint128_t));
  hwy::Sorter()(reinterpret_cast<hwy::uint128_t*>(entries), count, hwy::SortAscending());
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
