// Shorthands for matrices.
#include "passes/linear_algebra/matrix_writer.h"

namespace hlokit {

Instruction* MatrixWriter::Stacked(Instruction* x) {
  const DimVector& dims = x->shape().dims;
  const int64_t rank = dims.size();
  int64_t batch = 1;
  for (int64_t d = 0; d < rank - 2; ++d) batch *= dims[d];
  return w_.Reshape(x, {batch, dims[rank - 2], dims[rank - 1]});
}

Instruction* MatrixWriter::Unstacked(Instruction* x, absl::Span<const int64_t> dims) {
  return w_.Reshape(x, dims);
}

Instruction* MatrixWriter::Transposed(Instruction* x) { return w_.Transpose(x, {0, 2, 1}); }

Instruction* MatrixWriter::Conjugate(Instruction* x) {
  if (!IsComplex(x->shape().type)) return x;
  const Shape part = RetypedLike(x->shape(), RealComponent(x->shape().type));
  Instruction* real = w_.rewriter().Add(Opcode::kReal, part, {x});
  Instruction* imaginary = w_.rewriter().Add(Opcode::kImag, part, {x});
  return w_.rewriter().Add(Opcode::kComplex, x->shape(),
                           {real, w_.Unary(Opcode::kNegate, imaginary)});
}

Instruction* MatrixWriter::Row(Instruction* x, Instruction* i) {
  const DimVector dims = x->shape().dims;
  Instruction* zero = Zero(i);
  return w_.Reshape(w_.DynamicSlice(x, {zero, i, zero}, {dims[0], 1, dims[2]}), {dims[0], dims[2]});
}

Instruction* MatrixWriter::Column(Instruction* x, Instruction* i) {
  const DimVector dims = x->shape().dims;
  Instruction* zero = Zero(i);
  return w_.Reshape(w_.DynamicSlice(x, {zero, zero, i}, {dims[0], dims[1], 1}), {dims[0], dims[1]});
}

Instruction* MatrixWriter::Element(Instruction* x, Instruction* i) {
  const int64_t batch = x->shape().dims[0];
  return w_.Reshape(w_.DynamicSlice(x, {Zero(i), i}, {batch, 1}), {batch});
}

Instruction* MatrixWriter::WithRow(Instruction* x, Instruction* row, Instruction* i) {
  Instruction* zero = Zero(i);
  const DimVector dims = row->shape().dims;
  return w_.DynamicUpdateSlice(x, w_.Reshape(row, {dims[0], 1, dims[1]}), {zero, i, zero});
}

Instruction* MatrixWriter::WithColumn(Instruction* x, Instruction* column, Instruction* i) {
  Instruction* zero = Zero(i);
  const DimVector dims = column->shape().dims;
  return w_.DynamicUpdateSlice(x, w_.Reshape(column, {dims[0], dims[1], 1}), {zero, zero, i});
}

Instruction* MatrixWriter::TimesVector(Instruction* x, Instruction* y) {
  return w_.Dot(x, y, 2, 1, 1);
}
Instruction* MatrixWriter::VectorTimes(Instruction* y, Instruction* x) {
  return w_.Dot(y, x, 1, 1, 1);
}

Instruction* MatrixWriter::Outer(Instruction* x, Instruction* y) {
  const DimVector dims = {x->shape().dims[0], x->shape().dims[1], y->shape().dims[1]};
  return w_.Binary(Opcode::kMultiply, w_.Broadcast(x, dims, {0, 1}), w_.Broadcast(y, dims, {0, 2}));
}

Instruction* MatrixWriter::AcrossRow(Instruction* x, int64_t n) {
  return w_.Broadcast(x, {x->shape().dims[0], n}, {0});
}

Instruction* MatrixWriter::Position(const Shape& shape, int64_t dimension, Instruction* i,
                                    ComparisonDirection direction) {
  Instruction* at = w_.Iota(i->shape().type, shape.dims, dimension);
  return w_.Compare(at, w_.Fill(at->shape(), i), direction);
}

Instruction* MatrixWriter::Masked(Instruction* which, Instruction* x) {
  return w_.Select(which, x, w_.FillInteger(x->shape(), 0));
}

Instruction* MatrixWriter::Triangle(Instruction* x, bool lower) {
  const DimVector& dims = x->shape().dims;
  Instruction* row = w_.Iota(ElementType::kS32, dims, 1);
  Instruction* column = w_.Iota(ElementType::kS32, dims, 2);
  return Masked(
      w_.Compare(row, column, lower ? ComparisonDirection::kGe : ComparisonDirection::kLe), x);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
