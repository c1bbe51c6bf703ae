// Allocation of tensor memory: first fit, by granules of 32 columns.
#include "ptxsim/tensor_memory.h"

#include <algorithm>
#include <iterator>

namespace hlokit::ptx {

int TensorMemory::Allocate(int columns) {
  const int count = columns / kLeastColumns, all = static_cast<int>(std::size(granules_));
  for (int first = 0; first + count <= all; ++first) {
    if (std::any_of(granules_ + first, granules_ + first + count, [](int g) { return g != 0; }))
      continue;
    std::fill_n(granules_ + first, count, -1);
    granules_[first] = count;
    return first * kLeastColumns;
  }
  return -1;
}

bool TensorMemory::Free(int first, int columns) {
  if (first % kLeastColumns != 0 || first < 0 || first >= kTensorColumns) return false;
  int* const granule = granules_ + first / kLeastColumns;
  if (columns <= 0 || *granule != columns / kLeastColumns) return false;
  std::fill_n(granule, *granule, 0);
  return true;
}

int TensorMemory::FreeColumns() const {
  return kLeastColumns *
         static_cast<int>(std::count(std::begin(granules_), std::end(granules_), 0));
}

uint32_t* TensorMemory::Cell(int lane, int column) {
  if (lane < 0 || lane >= kTensorLanes || column < 0 || column >= kTensorColumns) return nullptr;
  if (granules_[column / kLeastColumns] == 0) return nullptr;
  return &cells_[static_cast<size_t>(lane) * kTensorColumns + static_cast<size_t>(column)];
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
