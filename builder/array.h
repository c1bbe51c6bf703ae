// Dense arrays of two to four dimensions on the host, for constants.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "absl/types/span.h"

namespace hlokit {

// Row-major: the last dimension varies fastest.
template <typename T, int kRank>
class HostArray {
 public:
  // Counts of elements, one a dimension.
  using Sizes = std::array<int64_t, kRank>;
  // All elements are `value`.
  explicit HostArray(const Sizes& sizes, T value = T()) : sizes_(sizes) {
    int64_t count = 1;
    for (int64_t size : sizes) count *= size;
    values_.assign(static_cast<size_t>(count), value);
  }

  // Counts of elements, of all dimensions and of one.
  const Sizes& sizes() const { return sizes_; }
  int64_t dim(int d) const { return sizes_[d]; }
  // All elements, row by row.
  std::vector<T>& values() { return values_; }
  const std::vector<T>& values() const { return values_; }
  // The element at one index a dimension, each below its size.
  template <typename... Index>
  typename std::vector<T>::reference operator()(Index... index) {
    static_assert(sizeof...(Index) == kRank);
    return values_[Offset({static_cast<int64_t>(index)...})];
  }
  template <typename... Index>
  typename std::vector<T>::const_reference operator()(Index... index) const {
    static_assert(sizeof...(Index) == kRank);
    return values_[Offset({static_cast<int64_t>(index)...})];
  }

 private:
  size_t Offset(const Sizes& index) const {
    int64_t offset = 0;
    for (int d = 0; d < kRank; ++d) offset = offset * sizes_[d] + index[d];
    return static_cast<size_t>(offset);
  }
  Sizes sizes_;
  std::vector<T> values_;
};

// HostArrays of two, three and four dimensions.
template <typename T>
using Array2D = HostArray<T, 2>;
template <typename T>
using Array3D = HostArray<T, 3>;
template <typename T>
using Array4D = HostArray<T, 4>;

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
