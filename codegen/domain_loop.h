// Loops over all elements of an array, in its memory order, over a range that threads can share.
#pragma once

#include "codegen/element_index.h"

namespace hlokit {

// How the elements of a shape are walked: `units` steps of an outer range, each `inner` elements
// long.
class DomainLoop {
 public:
  // linear: indices carry positions only; a unit is one element, or a row of up to 1024 where the
  // number of elements is a multiple of 64. Otherwise the fastest dimensions are
  // loops of their own inside each unit. element_cost (in simple float operations): elements that
  // are much work, as those of a reduction, make shorter units.
  DomainLoop(const Shape& shape, bool linear, double element_cost = 1);

  // Writes the fastest dimension out where it is short and little work, so that LLVM makes vectors
  // along the next: for elements that are stored side by side.
  void WriteOutShortRows(double element_cost);

  int64_t units() const { return units_; }
  int64_t elements_per_unit() const { return inner_; }

  // Emits loops that call body for each element of the units begin .. end-1.
  void Emit(Builder& b, llvm::Value* begin, llvm::Value* end,
            absl::FunctionRef<void(const ElementIndex&)> body) const;

 private:
  Shape shape_;
  bool linear_;
  DimVector outer_,
      inner_dims_;  // dimension numbers, slowest first; dimensions of size one are in neither
  int64_t units_ = 1, inner_ = 1;
  bool written_out_ = false;  // the fastest dimension is
  int64_t row_ = 1;  // elements of a unit of the one dimension that there is, where it is cut
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
