// What kernels of rows share: which arrays have rows, which reductions can be split among threads.
#pragma once

#include <optional>

#include "analysis/row_form.h"
#include "codegen/accumulators.h"
#include "codegen/kernel_strategies.h"

namespace hlokit {

inline constexpr int64_t kEnoughThreads = 128 << 10;  // for the memory of a device to be busy

struct GroupRows {
  Expression e;
  RowForm form;
  std::vector<size_t> full_roots, row_roots;  // by result
  int64_t threads = 1;                        // of a row
  int64_t vector = 1;                         // neighbours that a thread takes at a time
  bool kept = false;                          // elements stay in registers from pass to pass
  int64_t part = 0;                           // elements that are there at a time; 0: the row

  // Vectors of one thread of a row, or of a part, at most.
  int64_t LaneVectors() const {
    const int64_t vectors = (part == 0 ? form.length : part) / vector;
    return (vectors + threads - 1) / threads;
  }

  // Whether a row is read again after its reductions.
  bool FeedsBack() const { return form.passes > 2 || !full_roots.empty(); }
  // Whether threads may combine partial results of all reductions in any order.
  bool CanRegroup() const;
};

// The rows of an expression whose roots have an element a row or a row's elements; threads and
// vector are left to the caller. Nothing for others, for rows without elements, and without rows.
std::optional<GroupRows> FindRows(const Expression& expression);

// The accumulator that changes nothing when it is combined with another.
llvm::Value* IdentityOf(const Accumulators& reduction, llvm::Type* type);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
