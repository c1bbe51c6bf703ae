// Indices of array elements as LLVM values: by dimension, by position in memory, or both.
#pragma once

#include <vector>

#include "codegen/loops.h"
#include "types/shape.h"

namespace hlokit {

// The place of one element of an array of a given shape. At least one of the two forms is there:
// `multi` has a value for each dimension; `linear` is the position in memory order of the shape's
// layout.
struct ElementIndex {
  std::vector<llvm::Value*> multi;
  llvm::Value* linear = nullptr;
  bool has_multi = false;

  static ElementIndex Multi(std::vector<llvm::Value*> multi, llvm::Value* linear = nullptr) {
    return {std::move(multi), linear, true};
  }
  static ElementIndex Linear(llvm::Value* linear) { return {{}, linear, false}; }
  bool operator==(const ElementIndex&) const = default;
  template <typename H>
  friend H AbslHashValue(H h, const ElementIndex& i) {
    return H::combine(std::move(h), i.multi, i.linear);
  }
};

// The index of element `at` in row-major order, in constants.
std::vector<llvm::Value*> ConstantIndex(Builder& b, const Shape& shape, int64_t at);

// The index with `multi` filled in (by division where only `linear` is known).
ElementIndex WithMulti(Builder& b, const ElementIndex& index, const Shape& shape);
// Sets multi[d] for the dimensions `order` (slowest first) of sizes dims[d], from the position
// among their elements, by division.
void Delinearize(Builder& b, llvm::Value* position, absl::Span<const int64_t> order,
                 absl::Span<const int64_t> dims, std::vector<llvm::Value*>& multi);
// Position in memory of the element under the shape's layout.
llvm::Value* LinearOffset(Builder& b, const ElementIndex& index, const Shape& shape);

// Index of the operand element that a reshape or bitcast moves to `index` of `to`. A bitcast goes
// by memory position, a reshape by row-major logical position.
ElementIndex ReshapedIndex(Builder& b, const ElementIndex& index, const Shape& to,
                           const Shape& from);
ElementIndex BitcastIndex(Builder& b, const ElementIndex& index, const Shape& to,
                          const Shape& from);

// index * constant, folding 0 and 1.
llvm::Value* Scale(Builder& b, llvm::Value* index, int64_t factor);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
