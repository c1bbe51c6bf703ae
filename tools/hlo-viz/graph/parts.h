// Cutting what is too long to be looked at in one piece: into blocks that come again and again,
// such as layers, and into parts between which few values cross.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"

namespace hlokit {

// A long sequence as its parts see it.
struct PartsInput {
  std::vector<uint64_t> tokens;  // of each item: equal where items look alike; 0: tells nothing
  std::vector<int> crossing;     // [k]: values that cross between items k and k + 1
};

struct ScopePart {
  struct Range {
    int begin, end;  // of items
  };
  int parent;                // another part; -1: of the first one, which is the whole
  std::string label;         // differs from those of its siblings
  std::vector<Range> items;  // directly inside
  bool repeats = false;      // what is inside looks alike
};

// Parents before children; none holds more than kMaxChildren items and parts. What repeats itself
// is `block A, 32 times`, in it `block A, 1 of 32` and so on, other stretches are `part 2 of 7`.
// Parts are cut again while they are too long.
std::vector<ScopePart> CutIntoParts(const PartsInput& input);

// How many neighbours of a sequence of `crossing.size() + 1` items make each part: cuts are where
// few values cross, and no part is longer than three halves of `target`.
std::vector<int> CutWhereFewCross(absl::Span<const int> crossing, int target);

// No scope shows more children than this.
inline constexpr int kMaxChildren = 60;

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
