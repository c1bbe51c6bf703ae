// Rules of shapes.
#include "ops/array_shape.h"

#include <limits>

#include "ops/dim_lists.h"
#include "support/diagnostics.h"
#include "support/status.h"

namespace hlokit {
namespace {

constexpr int64_t kMaxBytesOfAnElement = 16;

}  // namespace

absl::Status CheckArrayShape(const Shape& array, bool allow_unbounded) {
  if (!array.IsArray()) return absl::OkStatus();
  const bool unbounded = array.HasUnboundedDims();
  if (unbounded && !allow_unbounded)
    return LabeledError("shape-c1", "dimension of unknown size in ", Text(array));
  for (const int64_t size : array.dims)
    if (size < 0 && size != kUnbounded)
      return LabeledError("shape-c2", "dimension of negative size in ", Text(array));
  if (!unbounded &&
      array.ElementCount() > std::numeric_limits<int64_t>::max() / kMaxBytesOfAnElement)
    return LabeledError("shape-c2", "too many elements in ", Text(array));
  if (!array.has_layout) return absl::OkStatus();
  const DimVector order(array.layout.minor_to_major.begin(), array.layout.minor_to_major.end());
  if (IsPermutation(order, array.rank())) return absl::OkStatus();
  return LabeledError("shape-c3", "layout ", ListText(order),
                      " is not a permutation of the dimensions of ", Text(array));
}

absl::Status CheckArrayShapes(const Shape& shape, bool allow_unbounded) {
  for (const Shape& element : shape.elements)
    RETURN_IF_ERROR(CheckArrayShapes(element, allow_unbounded));
  return CheckArrayShape(shape, allow_unbounded);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
