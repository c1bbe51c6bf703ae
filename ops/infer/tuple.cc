// Inference of tuple, get-tuple-element, tokens, and operations that pass a value through.
#include "ops/infer/infer_internal.h"

namespace hlokit {

absl::StatusOr<Shape> InferTuple(const OpView& op) {
  std::vector<Shape> elements;
  elements.reserve(op.operand_count());
  for (int64_t i = 0; i < op.operand_count(); ++i)
    elements.push_back(op.operand(i).WithoutLayout());
  return Shape::Tuple(std::move(elements));
}

// c1: the operand is a tuple; c2: index is one of its elements.
absl::StatusOr<Shape> InferGetTupleElement(const OpView& op) {
  const Shape& tuple = op.operand(0);
  const int64_t index = op.attr<GetTupleElementAttrs>().index;
  if (!tuple.IsTuple()) return Fail(op, 1, "operand is not a tuple: ", Text(tuple));
  if (index < 0 || index >= static_cast<int64_t>(tuple.elements.size()))
    return Fail(op, 2, "index=", index, " is no element of ", Text(tuple));
  return tuple.elements[index].WithoutLayout();
}

absl::StatusOr<Shape> InferPassThrough(const OpView& op) { return op.operand(0).WithoutLayout(); }

// c1: the second operand is a token.
absl::StatusOr<Shape> InferAddDependency(const OpView& op) {
  RETURN_IF_ERROR(ExpectToken(op, 1));
  return op.operand(0).WithoutLayout();
}

// c1: operands are tokens.
absl::StatusOr<Shape> InferAfterAll(const OpView& op) {
  for (int64_t i = 0; i < op.operand_count(); ++i) RETURN_IF_ERROR(ExpectToken(op, i));
  return Shape::Token();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
