// Where the elements of a sliding window lie in the array under it.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "ir/attribute_types.h"
#include "types/literal.h"

namespace hlokit {

// The index, in a dimension of `size` elements, of window element `w` at output position `out`; -1
// in padding and in the holes of base dilation.
int64_t WindowIndex(const WindowDim& dim, int64_t out, int64_t w, int64_t size);

// The same for all positions of all dimensions, times the array's strides.
class WindowMap {
 public:
  // `window` has a dimension for each of `sizes` and `strides` (the array) and `out_sizes`.
  WindowMap(const Window& window, absl::Span<const int64_t> sizes,
            absl::Span<const int64_t> strides, absl::Span<const int64_t> out_sizes);
  // The offset of window element w at output position `out` in dimension d; negative where there is
  // no element.
  int64_t Offset(int d, int64_t out, int64_t w) const {
    return tables_[d][out * window_sizes_[d] + w];
  }
  // The sum over dimensions 0 .. rank-1; negative where there is no element.
  int64_t Offset(absl::Span<const int64_t> out, absl::Span<const int64_t> w) const;
  const DimVector& window_sizes() const { return window_sizes_; }

 private:
  DimVector window_sizes_;
  std::vector<std::vector<int64_t>> tables_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
