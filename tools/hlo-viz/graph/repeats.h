// Stretches of a sequence that come again and again, such as the layers of a network whose
// instructions have no names that tell of layers.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace hlokit {

// Items [begin, begin + count * period), `period` of them each time.
struct Repeats {
  int begin = 0, period = 0, count = 0;
  int end() const { return begin + count * period; }
};

// At least three repeats of at least kShortestRepeat items each, together at least 30, or two of at
// least 30; about a tenth of the items may differ from one to the next. `tokens[k]` are equal where
// items look alike; `crossing[k]` is how many values cross between items k and k + 1: repeats begin
// where few do. Disjoint, in order, at most kMaxRepeats, the longest ones. Near linear in time.
std::vector<Repeats> FindRepeats(absl::Span<const uint64_t> tokens, absl::Span<const int> crossing);

inline constexpr int kShortestRepeat = 8, kMaxRepeats = 8;

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
