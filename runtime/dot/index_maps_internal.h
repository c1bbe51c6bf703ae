// Index maps that own their table, built from a list of strided dimensions.
#pragma once

#include <stdint.h>

#include <span>
#include <vector>

#include "runtime/dot/dot_desc.h"
#include "runtime/dot/gemm_internal.h"

namespace hlokit {

// A list of dimensions in place: small dots would spend most of their time on memory for them.
template <typename T>
class DimList {
 public:
  void push_back(const T& dim) { dims_[size_++] = dim; }
  int64_t size() const { return size_; }
  T* begin() { return dims_; }
  T* end() { return dims_ + size_; }
  const T* begin() const { return dims_; }
  const T* end() const { return dims_ + size_; }
  T* last() { return size_ == 0 ? nullptr : dims_ + size_ - 1; }

 private:
  T dims_[HLOKIT_MAX_DOT_DIMS + 1];  // one more for the parts of complex numbers
  int64_t size_ = 0;
};

struct StridedDim {
  int64_t size, stride;
};

// The positions of several dimensions counted as one, the last dimension fastest.
class OwnedIndexMap {
 public:
  OwnedIndexMap() = default;
  explicit OwnedIndexMap(std::span<const StridedDim> dims);  // up to HLOKIT_MAX_DOT_DIMS + 1

  // Valid while this object lives; the table moves with it.
  IndexMap map() const {
    IndexMap map = map_;
    if (!table_.empty()) map.table = table_.data();
    return map;
  }

 private:
  IndexMap map_{1, 1, nullptr, 1};
  std::vector<int64_t> table_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
