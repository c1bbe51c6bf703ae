// The elements that a kernel computes, in memory order, as units of work that threads can share.
#pragma once

#include "codegen/element_index.h"
#include "codegen/target_info.h"

namespace hlokit {

// The elements of a shape. A target's TilingPolicy cuts them into `units` of equal length; unit u
// holds the elements at positions u * elements_per_unit() and following. A range of units is a
// thread's share on a CPU; on a GPU, thread t computes the units from t to t + 1.
class IterationSpace {
 public:
  // What indices are needed: of each dimension, or positions in memory only.
  enum class Walk : uint8_t { kDimensions, kPositions };

  // element_cost (in simple float operations): elements that are much work, as those of a
  // reduction, make shorter units.
  IterationSpace(const Shape& shape, Walk walk, const TilingPolicy& policy,
                 double element_cost = 1);

  // Unrolls the fastest dimension where it is short and little work (TilingPolicy::max_unrolled),
  // so that LLVM makes vectors along the next: for elements whose operands are contiguous in it.
  // Longer ones below a vector's length become vectors of four and eight and single elements, above
  // all those of arrays that the kernel overwrites.
  void UnrollShortRows(double element_cost, bool overwrites = false);

  int64_t units() const { return units_; }
  int64_t elements_per_unit() const { return unit_elements_; }

  // Emits loops that call body for each element of the units begin .. end-1, in memory order.
  void Emit(Builder& b, llvm::Value* begin, llvm::Value* end,
            absl::FunctionRef<void(const ElementIndex&)> body) const;
  // The same; body gets the elements of an unrolled row together, others alone.
  using Elements = absl::Span<const ElementIndex>;
  void EmitRows(Builder& b, llvm::Value* begin, llvm::Value* end,
                absl::FunctionRef<void(Elements)> body) const;

 private:
  void CutLongUnit(double element_cost);
  void EmitPositions(Builder& b, llvm::Value* unit, absl::FunctionRef<void(Elements)> body) const;
  void EmitUnit(Builder& b, llvm::Value* unit, absl::FunctionRef<void(Elements)> body) const;

  Shape shape_;
  Walk walk_;
  TilingPolicy policy_;
  // Dimension numbers, slowest first; dimensions of size one are in neither. A unit is one index of
  // the outer ones and all of the inner ones.
  DimVector outer_, inner_;
  int64_t units_ = 1, unit_elements_ = 1;
  bool unrolled_ = false;   // the fastest dimension is
  bool in_pieces_ = false;  // ... is vectors of four and eight, and single elements
  int64_t row_ = 1;  // elements of a unit of the one dimension that there is, where it is cut
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
