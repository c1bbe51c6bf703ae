// How much memory the values of a shape take.
#include "types/shape_bytes.h"

#include <limits>

namespace hlokit {

int64_t TotalBytes(const Shape& shape) {
  if (!shape.IsTuple()) return shape.IsArray() ? shape.ByteSize() : 0;
  int64_t bytes = 0;
  for (const Shape& element : shape.elements)
    if (__builtin_add_overflow(bytes, TotalBytes(element), &bytes))
      return std::numeric_limits<int64_t>::max();
  return bytes;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
