// Cumulative reductions along rows that lie together in memory: a reduce-window whose window is as
// long as the fastest dimension and padded on one side.
#pragma once

#include <optional>

#include "ir/instruction.h"

namespace hlokit {

struct RowScan {
  int64_t rows = 1, length = 0;
  bool reverse = false;  // from the last element on
};

// Such a scan of one array, of 128 elements a row or more, by an operation that may be regrouped
// and whose identity element it begins with; on types whose steps do not lose digits. Rows of more
// than 8192 elements are scans where there are at least 64 of them: fewer leave a device idle.
std::optional<RowScan> RowScanOf(const Instruction& i);

// Whether only the length of its few rows keeps a reduce-window from being one.
bool IsLongRowScan(const Instruction& i);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
