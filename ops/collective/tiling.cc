// Cuts into equal tiles, one a device.
#include "ops/collective/tiling.h"

#include <algorithm>

namespace hlokit {

bool Tiling::IsTrivial() const {
  return std::all_of(tiles.begin(), tiles.end(), [](int64_t n) { return n == 1; });
}

Tiling WholeOn(const Shape& shape, int64_t devices) {
  return {DimVector(shape.rank(), 1), std::vector<int64_t>(devices, 0)};
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
