// Inference of batch-norm-training, -inference and -grad.
#include "ops/infer/infer_internal.h"

namespace hlokit {
namespace {

// c2: the operand is made of floats; c3: feature_index is one of its dimensions; c4: operands
// `first` to `last` are vectors of one value a feature, of the operand's type. Returns the vector's
// shape.
absl::StatusOr<Shape> CheckFeatures(const OpView& op, int first, int last) {
  RETURN_IF_ERROR(ExpectArrays(op));
  const Shape& operand = op.operand(0);
  const int64_t feature = op.attr<BatchNormAttrs>().feature_index;
  if (!IsFloat(operand.type)) return Fail(op, 2, "expects floats, found ", Text(operand));
  if (feature < 0 || feature >= operand.rank())
    return Fail(op, 3, "feature_index=", feature, " is no dimension of ", Text(operand));
  Shape expected = Shape::Array(operand.type, {operand.dims[feature]});
  expected.SetDynamic(0, operand.IsDynamic(static_cast<int>(feature)));
  for (int i = first; i <= last; ++i)
    if (!Compatible(op.operand(i), expected))
      return Fail(op, 4, "operand ", i, " is ", Text(op.operand(i)), ", expected ", Text(expected));
  return expected;
}

}  // namespace

absl::StatusOr<Shape> InferBatchNormTraining(const OpView& op) {
  ASSIGN_OR_RETURN(Shape features, CheckFeatures(op, 1, 2));
  return Shape::Tuple({op.operand(0).WithoutLayout(), features, features});
}

absl::StatusOr<Shape> InferBatchNormInference(const OpView& op) {
  RETURN_IF_ERROR(CheckFeatures(op, 1, 4).status());
  return op.operand(0).WithoutLayout();
}

// c5: the output's gradient is shaped like the operand.
absl::StatusOr<Shape> InferBatchNormGrad(const OpView& op) {
  ASSIGN_OR_RETURN(Shape features, CheckFeatures(op, 1, 3));
  if (!Compatible(op.operand(4), op.operand(0)))
    return Fail(op, 5, "the output's gradient is ", Text(op.operand(4)), ", expected ",
                Text(op.operand(0)));
  return Shape::Tuple({op.operand(0).WithoutLayout(), features, features});
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
