// Inference of sort and topk.
#include "ops/infer/infer_internal.h"

namespace hlokit {

// c2: operands agree in dimensions; c3: one dimension in range; c4: the comparator takes two
// scalars of each operand; c5: and returns pred[].
absl::StatusOr<Shape> InferSort(const OpView& op) {
  RETURN_IF_ERROR(ExpectArrays(op));
  std::vector<Shape> results;
  std::vector<Shape> scalars;
  for (int64_t i = 0; i < op.operand_count(); ++i) {
    if (!SameDims(op.operand(i), op.operand(0)))
      return Fail(op, 2, "operands differ in dimensions: ", Text(op.operand(0)), " and ",
                  Text(op.operand(i)));
    results.push_back(op.operand(i).WithoutLayout());
    scalars.push_back(Shape::Scalar(op.operand(i).type));
  }
  RETURN_IF_ERROR(
      ExpectOneDimension(op, op.attr<SortAttrs>().dimensions, op.operand(0).rank(), 3).status());
  ASSIGN_OR_RETURN(Signature comparator, SignatureOf(op, 0));
  std::vector<const Shape*> expected;
  for (const Shape& scalar : scalars) expected.insert(expected.end(), 2, &scalar);
  RETURN_IF_ERROR(ExpectParameters(op, comparator, expected, 4));
  if (!comparator.result->IsScalar() || !IsPred(comparator.result->type))
    return Fail(op, 5, comparator.computation->name(), " returns ", Text(*comparator.result),
                ", expected pred[]");
  return OneOrTuple(std::move(results));
}

// c2: the operand has a last dimension of k elements at least.
absl::StatusOr<Shape> InferTopK(const OpView& op) {
  RETURN_IF_ERROR(ExpectArray(op, 0));
  const Shape& operand = op.operand(0);
  const int64_t k = op.attr<TopKAttrs>().k;
  if (operand.rank() == 0 || k < 0 || Exceeds(k, operand.dims.back()))
    return Fail(op, 2, "k=", k, " exceeds the last dimension of ", Text(operand));
  Shape values = operand.WithoutLayout();
  values.dims.back() = k;
  values.SetDynamic(operand.rank() - 1, false);
  Shape indices = values.WithType(ElementType::kS32);
  return Shape::Tuple({std::move(values), std::move(indices)});
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
