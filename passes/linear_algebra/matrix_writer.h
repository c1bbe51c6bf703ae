// Stacks of matrices, column by column.
#pragma once

#include "passes/rewrite/hlo_writer.h"

namespace hlokit {

// Writes arithmetic on arrays [batch, rows, columns], all batch dimensions joined in one.
class MatrixWriter {
 public:
  explicit MatrixWriter(HloWriter& w) : w_(w) {}
  HloWriter& writer() { return w_; }

  // The last two dimensions kept, all before them joined; and split again as in `dims`.
  Instruction* Stacked(Instruction* x);
  Instruction* Unstacked(Instruction* x, absl::Span<const int64_t> dims);
  Instruction* Transposed(Instruction* x);
  Instruction* Conjugate(Instruction* x);
  Instruction* Adjoint(Instruction* x) { return Conjugate(Transposed(x)); }

  // Row or column i (an s32 scalar) as [batch, n]; element i of such; and the matrix with another.
  Instruction* Row(Instruction* x, Instruction* i);
  Instruction* Column(Instruction* x, Instruction* i);
  Instruction* Element(Instruction* x, Instruction* i);  // [batch]
  Instruction* WithRow(Instruction* x, Instruction* row, Instruction* i);
  Instruction* WithColumn(Instruction* x, Instruction* column, Instruction* i);

  // x [batch, m, n] times y [batch, n]; and y [batch, m] times x [batch, m, n].
  Instruction* TimesVector(Instruction* x, Instruction* y);
  Instruction* VectorTimes(Instruction* y, Instruction* x);
  // x [batch, m] and y [batch, n] as [batch, m, n].
  Instruction* Outer(Instruction* x, Instruction* y);
  // [batch] over dimension 1 of [batch, n].
  Instruction* AcrossRow(Instruction* x, int64_t n);
  // Whether position k along `dimension` of `shape` compares so with the scalar i.
  Instruction* Position(const Shape& shape, int64_t dimension, Instruction* i,
                        ComparisonDirection direction);
  // Zero where `which` does not hold.
  Instruction* Masked(Instruction* which, Instruction* x);
  // The triangle of a square stack, the rest zero.
  Instruction* Triangle(Instruction* x, bool lower);

 private:
  Instruction* Zero(Instruction* like) { return w_.Integer(like->shape().type, 0); }
  HloWriter& w_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
