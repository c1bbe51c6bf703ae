// Inference of get-dimension-size, set-dimension-size and dynamic-reshape.
#include "ops/infer/infer_internal.h"

namespace hlokit {
namespace {

absl::Status ExpectS32Scalar(const OpView& op, int64_t i, int rule) {
  if (op.operand(i).IsScalar() && op.operand(i).type == ElementType::kS32) return absl::OkStatus();
  return Fail(op, rule, "operand ", i, " is ", Text(op.operand(i)), ", expected s32[]");
}

}  // namespace

// c2: one dimension in range; c3: its size fits s32.
absl::StatusOr<Shape> InferGetDimensionSize(const OpView& op) {
  RETURN_IF_ERROR(ExpectArray(op, 0));
  const Shape& operand = op.operand(0);
  ASSIGN_OR_RETURN(const int d, ExpectOneDimension(op, op.attr<DimensionsAttrs>().dimensions,
                                                   operand.rank(), 2));
  if (operand.dims[d] > std::numeric_limits<int32_t>::max())
    return Fail(op, 3, "dimension ", d, " of ", Text(operand), " does not fit s32");
  return Shape::Scalar(ElementType::kS32);
}

// c2: one dimension in range; c3: the size is s32[]. The stated shape may leave the dimension
// static.
absl::StatusOr<Shape> InferSetDimensionSize(const OpView& op) {
  RETURN_IF_ERROR(ExpectArrays(op));
  Shape result = op.operand(0).WithoutLayout();
  ASSIGN_OR_RETURN(const int d,
                   ExpectOneDimension(op, op.attr<DimensionsAttrs>().dimensions, result.rank(), 2));
  RETURN_IF_ERROR(ExpectS32Scalar(op, 1, 3));
  result.SetDynamic(
      d, op.declared() == nullptr || !op.declared()->IsArray() || op.declared()->IsDynamic(d));
  return result;
}

// c2: an array of the operand's type is stated; c3: of as many elements; c4: one size, s32[], for
// each dimension.
absl::StatusOr<Shape> InferDynamicReshape(const OpView& op) {
  RETURN_IF_ERROR(ExpectArrays(op));
  ASSIGN_OR_RETURN(Shape result, ExpectReshaped(op));
  if (op.operand_count() != result.rank() + 1)
    return Fail(op, 4, "expects a size for each dimension of ", Text(result), ", found ",
                op.operand_count() - 1);
  for (int64_t i = 1; i < op.operand_count(); ++i) RETURN_IF_ERROR(ExpectS32Scalar(op, i, 4));
  return result;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
