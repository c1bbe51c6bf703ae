// The tensor memory of a block: 128 lanes of 512 columns of 32 bits, in which tcgen05 keeps sums.
//
// An address has the lane in its upper and the column in its lower 16 bits. Columns are taken and
// given back by 32 and more, a power of two (Allocate, Free).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hlokit::ptx {

class TensorMemory {
 public:
  static constexpr int kTensorLanes = 128, kTensorColumns = 512, kLeastColumns = 32;

  TensorMemory() : cells_(size_t{kTensorLanes} * kTensorColumns) {}

  // The first of `columns` columns in a row; -1 where no such run is free.
  int Allocate(int columns);
  // False where Allocate gave no such columns.
  bool Free(int first, int columns);
  int FreeColumns() const;
  // Null outside the memory, or where nobody allocated the column.
  uint32_t* Cell(int lane, int column);

 private:
  std::vector<uint32_t> cells_;
  // By granule of 32 columns: how many granules the allocation has that begins there, -1 inside
  // one, 0 free.
  int granules_[kTensorColumns / kLeastColumns] = {};
};

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
