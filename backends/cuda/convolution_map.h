// Convolutions as products of matrices: which elements of input and kernel a term multiplies.
#pragma once

#include <vector>

#include "codegen/element_index.h"
#include "ir/attributes.h"
#include "ir/instruction.h"

namespace hlokit {

// An element of an array that may be past its ends, where it counts as zero.
struct MatrixElement {
  std::vector<llvm::Value*> multi;  // clamped to the array
  llvm::Value* inside = nullptr;    // null: always
};

// result (group, row, column) = sum over terms of input (group, row, term) * kernel (group, term,
// column). A row is a batch and a place of the output, a column an output feature of the group, a
// term a place of the window and an input feature of the group, the feature fastest, unless memory
// has spatial dimensions fastest (NCHW).
class ConvolutionMap {
 public:
  explicit ConvolutionMap(const Instruction& convolution);

  int64_t groups() const { return groups_; }
  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  int64_t terms() const { return window_ * features_; }
  int64_t features() const { return features_; }  // of the input, in a group
  const ConvDims& dims() const { return dims_; }
  // Whether the window's places are faster among terms than features.
  bool window_fastest() const { return window_fastest_; }
  // How many neighbours among terms lie next to each other in the kernel's memory, whose fastest
  // dimension is spatial, and among rows in the input's; 1 where that depends on the row.
  int64_t KernelRun() const;
  int64_t InputRun() const;
  // Whether more neighbours of the input are among terms than among rows.
  bool HasWideWindow() const;

  MatrixElement Input(Builder& b, llvm::Value* group, llvm::Value* row, llvm::Value* term) const;
  MatrixElement Kernel(Builder& b, llvm::Value* group, llvm::Value* term,
                       llvm::Value* column) const;
  std::vector<llvm::Value*> Result(Builder& b, llvm::Value* group, llvm::Value* row,
                                   llvm::Value* column) const;

 private:
  // The place in the window, one number a dimension, and the feature.
  std::vector<llvm::Value*> Window(Builder& b, llvm::Value* term, llvm::Value*& feature) const;
  // The batch (in the group) and the place of the output.
  std::vector<llvm::Value*> Output(Builder& b, llvm::Value* row) const;
  // Along spatial dimension `s`; *inside becomes false outside.
  llvm::Value* InputPlace(Builder& b, size_t s, llvm::Value* output, llvm::Value* window,
                          llvm::Value** inside) const;

  Shape input_, kernel_, result_;
  ConvDims dims_;
  hlokit::Window window_dims_;
  bool batch_groups_ = false, window_fastest_ = false;
  int64_t groups_ = 1, rows_ = 1, columns_ = 1, window_ = 1, features_ = 1;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
