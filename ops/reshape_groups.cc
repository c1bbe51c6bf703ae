// Walks both lists of dimensions until their products meet.
#include "ops/reshape_groups.h"

#include <algorithm>

namespace hlokit {

std::vector<ReshapeGroup> ReshapeGroups(absl::Span<const int64_t> from,
                                        absl::Span<const int64_t> to) {
  const int from_rank = static_cast<int>(from.size()), to_rank = static_cast<int>(to.size());
  const auto is_zero = [](int64_t size) { return size == 0; };
  if (std::any_of(from.begin(), from.end(), is_zero)) return {{0, from_rank, 0, to_rank, true}};
  std::vector<ReshapeGroup> groups;
  int a = 0, b = 0;
  while (a < from_rank && b < to_rank) {
    ReshapeGroup group{a, a, b, b, false};
    int64_t x = from[a++], y = to[b++];
    while (x != y) {
      if (x < y) {
        x *= from[a++];
      } else {
        y *= to[b++];
      }
    }
    group.from_end = a;
    group.to_end = b;
    groups.push_back(group);
  }
  if (groups.empty()) groups.emplace_back();
  groups.back().from_end = from_rank;
  groups.back().to_end = to_rank;
  return groups;
}

DimVector ReshapedSizes(absl::Span<const ReshapeGroup> groups,
                        absl::Span<const int64_t> operand_sizes, const Shape& result) {
  DimVector sizes = result.dims;
  for (const ReshapeGroup& group : groups) {
    if (group.empty) continue;
    int64_t count = 1;
    for (int d = group.from; d < group.from_end; ++d) count *= operand_sizes[d];
    for (int d = group.to_end; d-- > group.to;) {
      if (!result.IsDynamic(d)) continue;
      int64_t rest = 1;
      for (int other = group.to; other < group.to_end; ++other)
        if (other != d) rest *= sizes[other];
      sizes[d] = std::min(sizes[d], count / std::max<int64_t>(rest, 1));
    }
  }
  return sizes;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
