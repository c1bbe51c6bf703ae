// Recursion over tuples; nothing is allocated.
#include "types/shape_leaves.h"

namespace hlokit {

int64_t NumLeaves(const Shape& shape) {
  return shape.IsTuple() ? LeafOffset(shape, static_cast<int64_t>(shape.elements.size())) : 1;
}

int64_t LeafOffset(const Shape& tuple, int64_t i) {
  int64_t count = 0;
  for (int64_t k = 0; k < i; ++k) count += NumLeaves(tuple.elements[k]);
  return count;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
