// Orders of dimensions through reshapes and transposes; see the header. Linear in the rank.
#include "passes/layouts/layout_orders.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "passes/rewrite/matchers.h"

namespace hlokit {

DimVector RowMajorOrder(int64_t rank) {
  DimVector order;
  for (int64_t d = rank - 1; d >= 0; --d) order.push_back(d);
  return order;
}

Shape InOrder(const Shape& shape, const DimVector& order) {
  Shape result = shape.WithDefaultLayout();
  result.layout.minor_to_major.assign(order.begin(), order.end());
  return result;
}

std::optional<DimVector> OrderAfterReshape(const Shape& from, const DimVector& order,
                                           const Shape& to) {
  const Shape lying = InOrder(from, order);
  const bool row_major = lying.layout.IsDefaultOrder();
  const bool only_ones = SameWithoutOnes(from, to);
  if (row_major && (from.rank() < 2 || (only_ones && from.rank() < to.rank())))
    return RowMajorOrder(to.rank());
  DimVector result;
  if (only_ones) {
    const DimVector where = MapWithoutOnes(from, to);
    for (const int64_t d : order)
      if (where[d] >= 0) result.push_back(where[d]);
  } else if (row_major) {
    for (const int64_t d : RowMajorOrder(to.rank()))
      if (to.dims[d] != 1) result.push_back(d);
  } else {
    return std::nullopt;
  }
  for (const int64_t d : RowMajorOrder(to.rank()))
    if (to.dims[d] == 1) result.push_back(d);
  return result;
}

std::optional<DimVector> OrderBeforeReshape(const Shape& from, const Shape& to,
                                            const DimVector& order) {
  DimVector large;
  for (const int64_t d : order)
    if (to.dims[d] != 1) large.push_back(d);
  if (std::is_sorted(large.rbegin(), large.rend())) return RowMajorOrder(from.rank());
  return std::nullopt;
}

DimVector OrderAfterTranspose(const Instruction& transpose, const DimVector& order) {
  const DimVector& from = transpose.attr<DimensionsAttrs>().dimensions;
  DimVector result;
  for (const int64_t d : order) result.push_back(absl::c_find(from, d) - from.begin());
  return result;
}

DimVector OrderBeforeTranspose(const Instruction& transpose, const DimVector& order) {
  const DimVector& from = transpose.attr<DimensionsAttrs>().dimensions;
  DimVector result;
  for (const int64_t d : order) result.push_back(from[d]);
  return result;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
