// Inference of cholesky and triangular-solve.
#include "ops/infer/infer_internal.h"

namespace hlokit {
namespace {

// c2: floats or complex numbers; c3: square matrices in the last two dimensions.
absl::Status ExpectSquareMatrices(const OpView& op, int64_t i) {
  RETURN_IF_ERROR(ExpectArray(op, i));
  const Shape& a = op.operand(i);
  if (!IsFloat(a.type) && !IsComplex(a.type))
    return Fail(op, 2, "expects floats or complex numbers, found ", Text(a));
  if (a.rank() < 2 || !SizesAgree(a.dims[a.rank() - 1], a.dims[a.rank() - 2]))
    return Fail(op, 3, "expects square matrices in the last two dimensions, found ", Text(a));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Shape> InferCholesky(const OpView& op) {
  RETURN_IF_ERROR(ExpectSquareMatrices(op, 0));
  return op.operand(0).WithoutLayout();
}

// c4: both operands have one type and rank; c5: and the same batch dimensions; c6: the side that a
// multiplies fits; c7: transpose_a is stated.
absl::StatusOr<Shape> InferTriangularSolve(const OpView& op) {
  RETURN_IF_ERROR(ExpectSquareMatrices(op, 0));
  RETURN_IF_ERROR(ExpectArray(op, 1));
  const Shape& a = op.operand(0);
  const Shape& b = op.operand(1);
  const auto& attr = op.attr<TriangularSolveAttrs>();
  if (a.type != b.type || a.rank() != b.rank())
    return Fail(op, 4, "operands differ in type or rank: ", Text(a), " and ", Text(b));
  const int rank = a.rank();
  for (int d = 0; d < rank - 2; ++d)
    if (!SizesAgree(a.dims[d], b.dims[d]))
      return Fail(op, 5, "operands differ in batch dimension ", d, ": ", Text(a), " and ", Text(b));
  const int shared = attr.left_side ? rank - 2 : rank - 1;
  if (!SizesAgree(b.dims[shared], a.dims[rank - 1]))
    return Fail(op, 6, "dimension ", shared, " of ", Text(b), " is not ", a.dims[rank - 1], ", as ",
                Text(a), " needs");
  if (attr.transpose_a == TriangularTranspose::kInvalid)
    return Fail(op, 7, "transpose_a is not stated");
  return b.WithoutLayout();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
