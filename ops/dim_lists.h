// Lists of dimension numbers, devices and the like: their text and what they may be.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "absl/types/span.h"

namespace hlokit {

// "{0,2}".
std::string ListText(absl::Span<const int64_t> values);

// True if all values are distinct and in [0, bound).
bool DistinctBelow(absl::Span<const int64_t> values, int64_t bound);
// As above and ascending.
bool AscendingBelow(absl::Span<const int64_t> values, int64_t bound);
// True if `values` holds each of 0 .. n-1 once.
bool IsPermutation(absl::Span<const int64_t> values, int64_t n);
bool Contains(absl::Span<const int64_t> values, int64_t value);

// The product of the sizes of those dimensions that stand in none of the lists.
int64_t FreeElements(absl::Span<const int64_t> sizes,
                     std::initializer_list<absl::Span<const int64_t>> lists);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
