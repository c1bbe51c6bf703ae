// Inference of elementwise arithmetic: unary and binary operations and reduce-precision.
// Rules: c1 operands are arrays; c2 the element type is one the op takes; c3 operands agree in
// type; c4 and in dimensions (HLO has no implicit broadcast); c5 on attributes.
#include "ops/infer/infer_internal.h"

namespace hlokit {
namespace {

using TypeTest = bool (*)(ElementType);

bool IsFloatOrComplex(ElementType t) { return IsFloat(t) || IsComplex(t); }
bool IsNumber(ElementType t) { return IsInteger(t) || IsFloatOrComplex(t); }
bool IsSignedNumber(ElementType t) { return IsSigned(t) || IsFloatOrComplex(t); }
bool IsPredOrInteger(ElementType t) { return IsPred(t) || IsInteger(t); }
bool IsAny(ElementType) { return true; }
bool IsReal(ElementType t) { return !IsComplex(t); }
bool IsRealNumber(ElementType t) { return IsInteger(t) || IsFloat(t); }

absl::Status ExpectType(const OpView& op, int64_t i, TypeTest allowed, absl::string_view what) {
  if (allowed(op.operand(i).type)) return absl::OkStatus();
  return Fail(op, 2, "expects ", what, ", found ", Text(op.operand(i)));
}

absl::StatusOr<Shape> InferUnary(const OpView& op, TypeTest allowed, absl::string_view what) {
  RETURN_IF_ERROR(ExpectArray(op, 0));
  RETURN_IF_ERROR(ExpectType(op, 0, allowed, what));
  return op.operand(0).WithoutLayout();
}

absl::StatusOr<Shape> InferBinary(const OpView& op, TypeTest allowed, absl::string_view what) {
  RETURN_IF_ERROR(ExpectArrays(op));
  const Shape& lhs = op.operand(0);
  const Shape& rhs = op.operand(1);
  if (lhs.type != rhs.type)
    return Fail(op, 3, "operands differ in type: ", Text(lhs), " and ", Text(rhs));
  RETURN_IF_ERROR(ExpectType(op, 0, allowed, what));
  return MergeDims(op, lhs, rhs, 4);
}

}  // namespace

absl::StatusOr<Shape> InferUnaryFloat(const OpView& op) {
  return InferUnary(op, IsFloat, "floats");
}

absl::StatusOr<Shape> InferUnaryFloatOrComplex(const OpView& op) {
  return InferUnary(op, IsFloatOrComplex, "floats or complex numbers");
}

absl::StatusOr<Shape> InferUnaryNumber(const OpView& op) {
  if (op.opcode() == Opcode::kSign) return InferUnary(op, IsSignedNumber, "signed numbers");
  return InferUnary(op, IsNumber, "numbers");
}

absl::StatusOr<Shape> InferUnaryInteger(const OpView& op) {
  return InferUnary(op, IsInteger, "integers");
}

absl::StatusOr<Shape> InferNot(const OpView& op) {
  return InferUnary(op, IsPredOrInteger, "pred or integers");
}

absl::StatusOr<Shape> InferAbs(const OpView& op) {
  ASSIGN_OR_RETURN(Shape shape, InferUnary(op, IsSignedNumber, "signed numbers"));
  return shape.WithType(RealComponent(shape.type));
}

absl::StatusOr<Shape> InferRealImag(const OpView& op) {
  ASSIGN_OR_RETURN(Shape shape, InferUnaryFloatOrComplex(op));
  return shape.WithType(RealComponent(shape.type));
}

absl::StatusOr<Shape> InferIsFinite(const OpView& op) {
  ASSIGN_OR_RETURN(Shape shape, InferUnaryFloat(op));
  return shape.WithType(ElementType::kPred);
}

absl::StatusOr<Shape> InferReducePrecision(const OpView& op) {
  const auto& attr = op.attr<ReducePrecisionAttrs>();
  if (attr.exponent_bits < 1)
    return Fail(op, 5, "exponent_bits is ", attr.exponent_bits, ", expected at least 1");
  if (attr.mantissa_bits < 0)
    return Fail(op, 5, "mantissa_bits is ", attr.mantissa_bits, ", expected at least 0");
  return InferUnaryFloat(op);
}

absl::StatusOr<Shape> InferBinaryArithmetic(const OpView& op) {
  switch (op.opcode()) {
    case Opcode::kAdd:
    case Opcode::kMultiply:
      return InferBinary(op, IsAny, "any element type");
    case Opcode::kRemainder:
      return InferBinary(op, IsRealNumber, "integers or floats");
    default:
      return InferBinary(op, IsNumber, "numbers");
  }
}

absl::StatusOr<Shape> InferBinaryBitwise(const OpView& op) {
  return InferBinary(op, IsPredOrInteger, "pred or integers");
}

absl::StatusOr<Shape> InferBinaryFloatOrComplex(const OpView& op) {
  return InferBinary(op, IsFloatOrComplex, "floats or complex numbers");
}

absl::StatusOr<Shape> InferBinaryInteger(const OpView& op) {
  return InferBinary(op, IsInteger, "integers");
}

// Of two floats of different widths it is the wider one.
absl::StatusOr<Shape> InferBinaryOrdered(const OpView& op) {
  if (op.operand(0).IsArray() && op.operand(1).IsArray()) {
    const Shape &x = op.operand(0), &y = op.operand(1);
    const int wide = BitWidth(x.type), narrow = BitWidth(y.type);
    if (IsFloat(x.type) && IsFloat(y.type) && wide != narrow)
      return MergeDims(op, wide > narrow ? x : x.WithType(y.type), y, 4);
  }
  return InferBinary(op, IsReal, "pred or real numbers");
}

absl::StatusOr<Shape> InferComplex(const OpView& op) {
  ASSIGN_OR_RETURN(Shape shape, InferBinary(op, IsFloat, "f32 or f64"));
  const ElementType type = ComplexOf(shape.type);
  if (type == ElementType::kInvalid) return Fail(op, 2, "expects f32 or f64, found ", Text(shape));
  return shape.WithType(type);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
