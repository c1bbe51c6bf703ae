// Index maps that own their table, built from a list of strided dimensions.
#pragma once

#include <stdint.h>

#include <vector>

#include "runtime/gemm_internal.h"

namespace hlokit {

struct StridedDim {
  int64_t size, stride;
};

// The positions of several dimensions counted as one, the last dimension fastest.
class OwnedIndexMap {
 public:
  OwnedIndexMap() = default;
  explicit OwnedIndexMap(const std::vector<StridedDim>& dims);

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
