// Inference of convert, bitcast-convert and stochastic-convert: the stated shape gives the type.
#include "ops/infer/infer_internal.h"

namespace hlokit {
namespace {

// The operand with the stated type. c2: an array is stated.
absl::StatusOr<Shape> WithDeclaredType(const OpView& op) {
  RETURN_IF_ERROR(ExpectArrays(op));
  ASSIGN_OR_RETURN(Shape declared, ExpectDeclaredArray(op, 2));
  return op.operand(0).WithoutLayout().WithType(declared.type);
}

int StoredBits(ElementType type) { return IsPred(type) ? 8 : BitWidth(type); }

}  // namespace

absl::StatusOr<Shape> InferConvert(const OpView& op) { return WithDeclaredType(op); }

// c3: complex only to complex; c5: a wider result joins the last dimension. All widths are powers
// of two.
absl::StatusOr<Shape> InferBitcastConvert(const OpView& op) {
  ASSIGN_OR_RETURN(Shape shape, WithDeclaredType(op));
  const Shape& from = op.operand(0);
  if (IsComplex(from.type) != IsComplex(shape.type))
    return Fail(op, 3, "cannot reinterpret ", Text(from), " as ", Text(shape.type));
  const int from_bits = StoredBits(from.type);
  const int to_bits = StoredBits(shape.type);
  if (from_bits == to_bits) return shape;
  if (from_bits > to_bits) {
    if (shape.rank() == kMaxRank)
      return Fail(op, 5, "the result has more than ", kMaxRank, " dimensions");
    shape.dims.push_back(from_bits / to_bits);
    return shape;
  }
  const int last = shape.rank() - 1;
  if (last < 0 || !SizesAgree(shape.dims[last], to_bits / from_bits))
    return Fail(op, 5, "the last dimension of ", Text(from), " is not ", to_bits / from_bits,
                ", as ", Text(shape.type), " needs");
  shape.SetDynamic(last, false);
  shape.dims.pop_back();
  return shape;
}

// c3: from floats to floats or integers; c4: one random unsigned number as wide as the operand for
// each element.
absl::StatusOr<Shape> InferStochasticConvert(const OpView& op) {
  ASSIGN_OR_RETURN(Shape shape, WithDeclaredType(op));
  const Shape& from = op.operand(0);
  const Shape& random = op.operand(1);
  if (!IsFloat(from.type) || !(IsFloat(shape.type) || IsInteger(shape.type)))
    return Fail(op, 3, "cannot convert ", Text(from), " to ", Text(shape.type));
  if (!IsUnsigned(random.type) || BitWidth(random.type) != BitWidth(from.type) ||
      !SameDims(random, from))
    return Fail(op, 4, "expects random numbers u", BitWidth(from.type), " shaped like ", Text(from),
                ", found ", Text(random));
  return shape;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
