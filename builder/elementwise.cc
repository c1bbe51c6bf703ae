// Functions of one array, of two, and comparisons.
//
// Most are one opcode under XLA's name, written as rows of a macro. Functions of two arrays
// broadcast as XLA's builder does, not as numpy does: a scalar goes with any array, and an array of
// lower rank needs broadcast_dimensions, which name its dimensions in the other one:
//   Add(f32[2,3], f32[3], {1})  ->  add(x, broadcast(y), dimensions={1})
#include "builder/elementwise.h"

#include "builder/broadcast_internal.h"
#include "builder/constants.h"
#include "builder/control.h"
#include "builder/emit_internal.h"
#include "types/literal.h"

namespace hlokit {
namespace {

AccuracyAttrs AccuracyOf(const MaybeAccuracy& accuracy) {
  return {accuracy.value_or(ResultAccuracy())};
}

XlaOp PowerOf(XlaOp operand, float exponent, const Where& where) {
  if (operand.builder() == nullptr) return XlaOp();
  return Pow(operand, ConstantR0<float>(operand.builder(), exponent, where), {}, where);
}

}  // namespace

#define HLOKIT_UNARY(name, opcode) \
  XlaOp name(XlaOp operand, Where where) { return Emit(where, Opcode::k##opcode, {operand}); }
HLOKIT_UNARY(Abs, Abs)
HLOKIT_UNARY(Ceil, Ceil)
HLOKIT_UNARY(Clz, CountLeadingZeros)
HLOKIT_UNARY(Floor, Floor)
HLOKIT_UNARY(Imag, Imag)
HLOKIT_UNARY(IsFinite, IsFinite)
HLOKIT_UNARY(Not, Not)
HLOKIT_UNARY(Neg, Negate)
HLOKIT_UNARY(PopulationCount, PopulationCount)
HLOKIT_UNARY(Real, Real)
HLOKIT_UNARY(RoundNearestAfz, RoundNearestAfz)
HLOKIT_UNARY(RoundNearestEven, RoundNearestEven)
HLOKIT_UNARY(Sign, Sign)
HLOKIT_UNARY(Round, RoundNearestAfz)
HLOKIT_UNARY(LogicalNot, Not)
#undef HLOKIT_UNARY

#define HLOKIT_FUNCTION(name, opcode)                                       \
  XlaOp name(XlaOp operand, const MaybeAccuracy& accuracy, Where where) {   \
    return Emit(where, Opcode::k##opcode, {operand}, AccuracyOf(accuracy)); \
  }
HLOKIT_FUNCTION(Cbrt, Cbrt)
HLOKIT_FUNCTION(Cos, Cosine)
HLOKIT_FUNCTION(Cosh, Cosh)
HLOKIT_FUNCTION(Erf, Erf)
HLOKIT_FUNCTION(Exp, Exponential)
HLOKIT_FUNCTION(Expm1, ExponentialMinusOne)
HLOKIT_FUNCTION(Log, Log)
HLOKIT_FUNCTION(Log1p, LogPlusOne)
HLOKIT_FUNCTION(Logistic, Logistic)
HLOKIT_FUNCTION(Rsqrt, Rsqrt)
HLOKIT_FUNCTION(Sin, Sine)
HLOKIT_FUNCTION(Sqrt, Sqrt)
HLOKIT_FUNCTION(Tan, Tan)
HLOKIT_FUNCTION(Tanh, Tanh)
HLOKIT_FUNCTION(Acos, Acos)
HLOKIT_FUNCTION(Acosh, Acosh)
HLOKIT_FUNCTION(Asin, Asin)
HLOKIT_FUNCTION(Asinh, Asinh)
HLOKIT_FUNCTION(Atanh, Atanh)
HLOKIT_FUNCTION(Sinh, Sinh)
#undef HLOKIT_FUNCTION

XlaOp BinaryOp(Opcode opcode, XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions, Where where) {
  XlaBuilder* builder = BuilderOf({lhs, rhs});
  if (builder == nullptr) return XlaOp();
  const OpInfo& info = Info(opcode);
  const bool of_two = info.exact && info.min_operands == 2 && (info.traits & kElementwise) != 0;
  if (!of_two || opcode == Opcode::kCompare)
    return builder->ReportError(
        InvalidArgument(Text(opcode), " is no elementwise function of two arrays"), where);
  return EmitBroadcasting(where, opcode, lhs, rhs, broadcast_dimensions);
}

#define HLOKIT_BINARY(name, opcode)                                                    \
  XlaOp name(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions, Where where) {        \
    return EmitBroadcasting(where, Opcode::k##opcode, lhs, rhs, broadcast_dimensions); \
  }
HLOKIT_BINARY(Add, Add)
HLOKIT_BINARY(Sub, Subtract)
HLOKIT_BINARY(Mul, Multiply)
HLOKIT_BINARY(Div, Divide)
HLOKIT_BINARY(Rem, Remainder)
HLOKIT_BINARY(Max, Maximum)
HLOKIT_BINARY(Min, Minimum)
HLOKIT_BINARY(Pow, Power)
HLOKIT_BINARY(Atan2, Atan2)
HLOKIT_BINARY(And, And)
HLOKIT_BINARY(Or, Or)
HLOKIT_BINARY(Xor, Xor)
HLOKIT_BINARY(ShiftLeft, ShiftLeft)
HLOKIT_BINARY(ShiftRightArithmetic, ShiftRightArithmetic)
HLOKIT_BINARY(ShiftRightLogical, ShiftRightLogical)
HLOKIT_BINARY(Complex, Complex)
HLOKIT_BINARY(MulHi, Mulhi)
HLOKIT_BINARY(LogicalAnd, And)
HLOKIT_BINARY(LogicalOr, Or)
HLOKIT_BINARY(LogicalXor, Xor)
#undef HLOKIT_BINARY

XlaOp Compare(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions, ComparisonDirection direction,
              ComparisonType type, Where where) {
  return EmitCompare(where, lhs, rhs, broadcast_dimensions, {direction, type});
}

XlaOp Compare(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions, ComparisonDirection direction,
              Where where) {
  return Compare(lhs, rhs, broadcast_dimensions, direction, ComparisonType::kDefault, where);
}

XlaOp Compare(XlaOp lhs, XlaOp rhs, ComparisonDirection direction, Where where) {
  return Compare(lhs, rhs, {}, direction, ComparisonType::kDefault, where);
}

#define HLOKIT_COMPARE(name)                                                                \
  XlaOp name(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions, Where where) {             \
    return Compare(lhs, rhs, broadcast_dimensions, ComparisonDirection::k##name, where);    \
  }                                                                                         \
  XlaOp name##TotalOrder(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions, Where where) { \
    return Compare(lhs, rhs, broadcast_dimensions, ComparisonDirection::k##name,            \
                   ComparisonType::kTotalOrder, where);                                     \
  }
HLOKIT_COMPARE(Eq)
HLOKIT_COMPARE(Ne)
HLOKIT_COMPARE(Ge)
HLOKIT_COMPARE(Gt)
HLOKIT_COMPARE(Le)
HLOKIT_COMPARE(Lt)
#undef HLOKIT_COMPARE

XlaOp SqrtF32(XlaOp operand, Where where) { return PowerOf(operand, 0.5F, where); }
XlaOp SquareF32(XlaOp operand, Where where) { return PowerOf(operand, 2, where); }
XlaOp ReciprocalF32(XlaOp operand, Where where) { return PowerOf(operand, -1, where); }
XlaOp Square(XlaOp operand, Where where) { return Mul(operand, operand, {}, where); }

XlaOp Reciprocal(XlaOp operand, Where where) {
  return WithShapes(
      where, {operand}, [&](const std::vector<Shape>& shapes) -> absl::StatusOr<XlaOp> {
        if (!shapes[0].IsArray()) return InvalidArgument("reciprocal of ", Text(shapes[0]));
        return Div(ScalarLike(operand.builder(), shapes[0].type, 1, where), operand, {}, where);
      });
}

XlaOp Conj(XlaOp operand, Where where) {
  return WithShapes(
      where, {operand}, [&](const std::vector<Shape>& shapes) -> absl::StatusOr<XlaOp> {
        if (!IsComplex(shapes[0].type)) return operand;
        return Complex(Real(operand, where), Neg(Imag(operand, where), where), {}, where);
      });
}

XlaOp Clamp(XlaOp min, XlaOp operand, XlaOp max, Where where) {
  return Emit(where, Opcode::kClamp, {min, operand, max});
}

XlaOp Select(XlaOp pred, XlaOp on_true, XlaOp on_false, Where where) {
  return WithShapes(where, {pred, on_true, on_false},
                    [&](const std::vector<Shape>& shapes) -> absl::StatusOr<XlaOp> {
                      if (shapes[1].IsTuple())
                        return SelectTuple(pred, on_true, on_false, shapes[1], where);
                      XlaOp chosen = on_true, other = on_false;
                      if (shapes[1].IsScalar() && !shapes[2].IsScalar())
                        chosen = StretchTo(chosen, shapes[2], where);
                      if (shapes[2].IsScalar() && !shapes[1].IsScalar())
                        other = StretchTo(other, shapes[1], where);
                      if (shapes[1].IsScalar() && shapes[2].IsScalar() && !shapes[0].IsScalar()) {
                        chosen = StretchTo(chosen, shapes[0], where);
                        other = StretchTo(other, shapes[0], where);
                      }
                      return Emit(where, Opcode::kSelect, {pred, chosen, other});
                    });
}

XlaOp ConvertElementType(XlaOp operand, ElementType type, Where where) {
  return WithShapes(
      where, {operand}, [&](const std::vector<Shape>& shapes) -> absl::StatusOr<XlaOp> {
        const bool drops_imaginary = IsComplex(shapes[0].type) && !IsComplex(type);
        const XlaOp from = drops_imaginary ? Real(operand, where) : operand;
        return Emit(where, Opcode::kConvert, {from}, NoAttrs(), {shapes[0].WithType(type)});
      });
}

XlaOp BitcastConvertType(XlaOp operand, ElementType type, Where where) {
  return Emit(where, Opcode::kBitcastConvert, {operand}, NoAttrs(), {Shape::Scalar(type)});
}

XlaOp StochasticConvertType(XlaOp operand, XlaOp random, ElementType type, Where where) {
  return Emit(where, Opcode::kStochasticConvert, {operand, random}, NoAttrs(),
              {Shape::Scalar(type)});
}

XlaOp ReducePrecision(XlaOp operand, int exponent_bits, int mantissa_bits, Where where) {
  return Emit(where, Opcode::kReducePrecision, {operand},
              ReducePrecisionAttrs{exponent_bits, mantissa_bits});
}

XlaOp operator-(LocatedOp operand) { return Neg(operand.op, operand.where); }
XlaOp operator~(LocatedOp operand) { return Not(operand.op, operand.where); }

#define HLOKIT_OPERATOR(symbol, name) \
  XlaOp operator symbol(LocatedOp lhs, XlaOp rhs) { return name(lhs.op, rhs, {}, lhs.where); }
HLOKIT_OPERATOR(+, Add)
HLOKIT_OPERATOR(-, Sub)
HLOKIT_OPERATOR(*, Mul)
HLOKIT_OPERATOR(/, Div)
HLOKIT_OPERATOR(%, Rem)
HLOKIT_OPERATOR(&, And)
HLOKIT_OPERATOR(|, Or)
HLOKIT_OPERATOR(^, Xor)
HLOKIT_OPERATOR(<<, ShiftLeft)
#undef HLOKIT_OPERATOR

XlaOp operator>>(LocatedOp lhs, XlaOp rhs) {
  return WithShapes(lhs.where, {lhs.op}, [&](const std::vector<Shape>& s) -> absl::StatusOr<XlaOp> {
    return IsSigned(s[0].type) ? ShiftRightArithmetic(lhs.op, rhs, {}, lhs.where)
                               : ShiftRightLogical(lhs.op, rhs, {}, lhs.where);
  });
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
