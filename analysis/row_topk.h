// The k first of rows that lie together in memory, where k is small: what a GPU selects in one
// kernel instead of sorting the rows.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/instruction.h"

namespace hlokit {

struct RowTopK {
  int64_t rows = 1, length = 0, k = 0;
  bool largest = true;
};

// Such a topk: rows of 33 to 4096 elements of at most 32 bits, of which at most 16 are wanted.
std::optional<RowTopK> RowTopKOf(const Instruction& i);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
