// Sizes of dimensions for costs.
#pragma once

#include <cstdint>

#include "types/shape.h"

namespace hlokit {

// 1 where there is no such dimension: modules need not be verified to be looked at.
inline double SizeOfDim(const Shape& shape, int64_t dim) {
  const bool known = dim >= 0 && dim < static_cast<int64_t>(shape.dims.size());
  return known ? static_cast<double>(shape.dims[dim]) : 1;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
