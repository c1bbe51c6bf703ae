// Checks of lists of dimension numbers.
#include "ops/dim_lists.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace hlokit {

std::string ListText(absl::Span<const int64_t> values) {
  return absl::StrCat("{", absl::StrJoin(values, ","), "}");
}

bool DistinctBelow(absl::Span<const int64_t> values, int64_t bound) {
  if (static_cast<int64_t>(values.size()) > bound) return values.empty();
  absl::InlinedVector<int64_t, 8> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return AscendingBelow(sorted, bound);
}

bool AscendingBelow(absl::Span<const int64_t> values, int64_t bound) {
  int64_t previous = -1;
  for (int64_t v : values) {
    if (v <= previous || v >= bound) return false;
    previous = v;
  }
  return true;
}

bool IsPermutation(absl::Span<const int64_t> values, int64_t n) {
  return static_cast<int64_t>(values.size()) == n && DistinctBelow(values, n);
}

bool Contains(absl::Span<const int64_t> values, int64_t value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

int64_t FreeElements(absl::Span<const int64_t> sizes,
                     std::initializer_list<absl::Span<const int64_t>> lists) {
  int64_t count = 1;
  for (size_t d = 0; d < sizes.size(); ++d) {
    const bool listed = absl::c_any_of(lists, [d](absl::Span<const int64_t> list) {
      return Contains(list, static_cast<int64_t>(d));
    });
    if (!listed) count *= sizes[d];
  }
  return count;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
