// Inference of compare, select and clamp.
#include "ops/infer/infer_internal.h"

namespace hlokit {

// c2: both operands have one type; c3: one set of dimensions; c4: complex numbers compare EQ or NE
// only.
absl::StatusOr<Shape> InferCompare(const OpView& op) {
  RETURN_IF_ERROR(ExpectArrays(op));
  const Shape& lhs = op.operand(0);
  const Shape& rhs = op.operand(1);
  if (lhs.type != rhs.type)
    return Fail(op, 2, "operands differ in type: ", Text(lhs), " and ", Text(rhs));
  const ComparisonDirection direction = op.attr<CompareAttrs>().direction;
  if (IsComplex(lhs.type) && direction != ComparisonDirection::kEq &&
      direction != ComparisonDirection::kNe)
    return Fail(op, 4, "complex numbers have no order: direction=", Text(direction), " of ",
                Text(lhs));
  ASSIGN_OR_RETURN(Shape shape, MergeDims(op, lhs, rhs, 3));
  return shape.WithType(ElementType::kPred);
}

// c2: the selector is pred; c3: the two values have one type; c4: and one set of dimensions; c5:
// the selector is a scalar or has those dimensions too.
absl::StatusOr<Shape> InferSelect(const OpView& op) {
  RETURN_IF_ERROR(ExpectArrays(op));
  const Shape& which = op.operand(0);
  const Shape& on_true = op.operand(1);
  const Shape& on_false = op.operand(2);
  if (!IsPred(which.type)) return Fail(op, 2, "expects pred as selector, found ", Text(which));
  if (on_true.type != on_false.type)
    return Fail(op, 3, "values differ in type: ", Text(on_true), " and ", Text(on_false));
  ASSIGN_OR_RETURN(Shape shape, MergeDims(op, on_true, on_false, 4));
  if (!which.IsScalar() && !SameDims(which, shape))
    return Fail(op, 5, "selector is neither a scalar nor shaped like the values: ", Text(which),
                " and ", Text(shape));
  if (which.IsScalar()) return shape;
  ASSIGN_OR_RETURN(const Shape merged, MergeDims(op, shape, which, 5));
  return merged;
}

// c1: each bound is a scalar or is shaped like the operand; c2: all three have one type. Complex
// numbers are clamped by their real parts.
absl::StatusOr<Shape> InferClamp(const OpView& op) {
  RETURN_IF_ERROR(ExpectArrays(op));
  const Shape& x = op.operand(1);
  for (int i : {0, 2}) {
    const Shape& bound = op.operand(i);
    if (bound.type != x.type)
      return Fail(op, 2, "bound and operand differ in type: ", Text(bound), " and ", Text(x));
    if (!bound.IsScalar() && !SameDims(bound, x))
      return Fail(op, 1, "bound is neither a scalar nor shaped like the operand: ", Text(bound),
                  " and ", Text(x));
  }
  return x.WithoutLayout();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
