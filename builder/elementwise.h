// Operations on each element: functions of one and two arrays, comparisons, conversions, choices.
//
// Functions of two arrays take them in one shape, or stretch them as "Broadcasting semantics" says:
// a scalar goes with anything; sizes of 1 stretch; an operand of lower rank names, strictly
// increasing, the dimension of the other one for each of its own in broadcast_dimensions.
// Errors, unless said otherwise: InvalidArgument, kept in the builder, where operands are no arrays
// (OP-c1), of a type that the operation does not take (OP-c2), or do not fit each other.
// Source: XLA Operation Semantics.
#pragma once

#include <optional>

#include "builder/op_types.h"
#include "builder/xla_op.h"
#include "ir/opcode.h"
#include "types/element_type.h"

namespace hlokit {

// Nothing: as exact as the platform does it anyway.
using MaybeAccuracy = std::optional<ResultAccuracy>;

// The magnitude; of complex numbers a real array. Signed integers, floats, complex numbers.
XlaOp Abs(XlaOp operand, Where where = Where::current());
// Rounds up to an integer. Floats.
XlaOp Ceil(XlaOp operand, Where where = Where::current());
// Zeros before the first 1 bit; all bits for 0. Integers.
XlaOp Clz(XlaOp operand, Where where = Where::current());
// Rounds down to an integer. Floats.
XlaOp Floor(XlaOp operand, Where where = Where::current());
// The imaginary part, a real array; 0 for floats.
XlaOp Imag(XlaOp operand, Where where = Where::current());
// pred: neither infinite nor NaN. Floats.
XlaOp IsFinite(XlaOp operand, Where where = Where::current());
// Each bit the other way; of pred the logical not. Integers and pred.
XlaOp Not(XlaOp operand, Where where = Where::current());
// Signed numbers of all kinds; integers wrap.
XlaOp Neg(XlaOp operand, Where where = Where::current());
// 1 bits. Integers.
XlaOp PopulationCount(XlaOp operand, Where where = Where::current());
// The real part, a real array; floats unchanged.
XlaOp Real(XlaOp operand, Where where = Where::current());
// Rounds to the nearest integer, halves away from 0. Floats.
XlaOp RoundNearestAfz(XlaOp operand, Where where = Where::current());
// Rounds to the nearest integer, halves to even. Floats.
XlaOp RoundNearestEven(XlaOp operand, Where where = Where::current());
// -1, 0 or 1; zeros and NaN as they are; x / |x| of complex numbers.
XlaOp Sign(XlaOp operand, Where where = Where::current());
// RoundNearestAfz by an older name.
XlaOp Round(XlaOp operand, Where where = Where::current());
// Not by an older name.
XlaOp LogicalNot(XlaOp operand, Where where = Where::current());

// Functions that may be had more or less exact; `accuracy` says how exact the result must be.
// The cube root. Floats.
XlaOp Cbrt(XlaOp operand, const MaybeAccuracy& accuracy = std::nullopt,
           Where where = Where::current());
// Floats and complex numbers, in radians.
XlaOp Cos(XlaOp operand, const MaybeAccuracy& accuracy = std::nullopt,
          Where where = Where::current());
// The hyperbolic cosine. Floats and complex numbers.
XlaOp Cosh(XlaOp operand, const MaybeAccuracy& accuracy = std::nullopt,
           Where where = Where::current());
// The error function. Floats.
XlaOp Erf(XlaOp operand, const MaybeAccuracy& accuracy = std::nullopt,
          Where where = Where::current());
// e to the operand. Floats and complex numbers.
XlaOp Exp(XlaOp operand, const MaybeAccuracy& accuracy = std::nullopt,
          Where where = Where::current());
// Exp(x) - 1, exact near 0. Floats and complex numbers.
XlaOp Expm1(XlaOp operand, const MaybeAccuracy& accuracy = std::nullopt,
            Where where = Where::current());
// The natural logarithm. Floats and complex numbers.
XlaOp Log(XlaOp operand, const MaybeAccuracy& accuracy = std::nullopt,
          Where where = Where::current());
// Log(1 + x), exact near 0. Floats and complex numbers.
XlaOp Log1p(XlaOp operand, const MaybeAccuracy& accuracy = std::nullopt,
            Where where = Where::current());
// 1 / (1 + Exp(-x)). Floats and complex numbers.
XlaOp Logistic(XlaOp operand, const MaybeAccuracy& accuracy = std::nullopt,
               Where where = Where::current());
// 1 / Sqrt(x). Floats and complex numbers.
XlaOp Rsqrt(XlaOp operand, const MaybeAccuracy& accuracy = std::nullopt,
            Where where = Where::current());
// Floats and complex numbers, in radians.
XlaOp Sin(XlaOp operand, const MaybeAccuracy& accuracy = std::nullopt,
          Where where = Where::current());
// The square root. Floats and complex numbers.
XlaOp Sqrt(XlaOp operand, const MaybeAccuracy& accuracy = std::nullopt,
           Where where = Where::current());
// Floats and complex numbers, in radians.
XlaOp Tan(XlaOp operand, const MaybeAccuracy& accuracy = std::nullopt,
          Where where = Where::current());
// The hyperbolic tangent. Floats and complex numbers.
XlaOp Tanh(XlaOp operand, const MaybeAccuracy& accuracy = std::nullopt,
           Where where = Where::current());
// The arc cosine, in radians. Floats and complex numbers.
XlaOp Acos(XlaOp operand, const MaybeAccuracy& accuracy = std::nullopt,
           Where where = Where::current());
// Floats and complex numbers.
XlaOp Acosh(XlaOp operand, const MaybeAccuracy& accuracy = std::nullopt,
            Where where = Where::current());
// The arc sine, in radians. Floats and complex numbers.
XlaOp Asin(XlaOp operand, const MaybeAccuracy& accuracy = std::nullopt,
           Where where = Where::current());
// Floats and complex numbers.
XlaOp Asinh(XlaOp operand, const MaybeAccuracy& accuracy = std::nullopt,
            Where where = Where::current());
// Floats and complex numbers.
XlaOp Atanh(XlaOp operand, const MaybeAccuracy& accuracy = std::nullopt,
            Where where = Where::current());
// The hyperbolic sine. Floats and complex numbers.
XlaOp Sinh(XlaOp operand, const MaybeAccuracy& accuracy = std::nullopt,
           Where where = Where::current());
// Power by a constant: 0.5, 2 and -1. f32. Source: the oldest builder.
XlaOp SqrtF32(XlaOp operand, Where where = Where::current());
XlaOp SquareF32(XlaOp operand, Where where = Where::current());
XlaOp ReciprocalF32(XlaOp operand, Where where = Where::current());
// Complex numbers with the imaginary part negated; floats as they are.
XlaOp Conj(XlaOp operand, Where where = Where::current());
// x * x, and 1 / x.
XlaOp Square(XlaOp operand, Where where = Where::current());
XlaOp Reciprocal(XlaOp operand, Where where = Where::current());

// The function of two arrays that `opcode` names, such as Opcode::kAdd: what the functions below
// do, for code that finds out late which one it wants. Errors: as theirs; InvalidArgument for an
// opcode that is no elementwise function of two arrays, and for kCompare.
XlaOp BinaryOp(Opcode opcode, XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions = {},
               Where where = Where::current());
// Integers wrap; of pred the logical or.
XlaOp Add(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions = {}, Where where = Where::current());
// lhs - rhs; integers wrap.
XlaOp Sub(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions = {}, Where where = Where::current());
// Integers wrap; of pred the logical and.
XlaOp Mul(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions = {}, Where where = Where::current());
// lhs / rhs; integers round towards 0, and x / 0 gives -1 (all bits set).
XlaOp Div(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions = {}, Where where = Where::current());
// What Div leaves, with the sign of lhs; x % 0 gives x.
XlaOp Rem(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions = {}, Where where = Where::current());
// NaN where either is NaN.
XlaOp Max(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions = {}, Where where = Where::current());
// NaN where either is NaN.
XlaOp Min(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions = {}, Where where = Where::current());
// lhs to the power of rhs.
XlaOp Pow(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions = {}, Where where = Where::current());
// The angle of the point (x = rhs, y = lhs), in radians. Floats.
XlaOp Atan2(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions = {},
            Where where = Where::current());
// Bit by bit, or logical. Integers and pred.
XlaOp And(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions = {}, Where where = Where::current());
// Bit by bit, or logical. Integers and pred.
XlaOp Or(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions = {}, Where where = Where::current());
// Bit by bit, or logical. Integers and pred.
XlaOp Xor(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions = {}, Where where = Where::current());
// By rhs bits; 0 where rhs is not below the width. Integers.
XlaOp ShiftLeft(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions = {},
                Where where = Where::current());
// By rhs bits, the sign shifted in. Integers.
XlaOp ShiftRightArithmetic(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions = {},
                           Where where = Where::current());
// By rhs bits, zeros shifted in. Integers.
XlaOp ShiftRightLogical(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions = {},
                        Where where = Where::current());
// Numbers with real part lhs and imaginary part rhs. f32 and f64.
XlaOp Complex(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions = {},
              Where where = Where::current());
// The upper half of the product of twice the width. Integers.
XlaOp MulHi(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions = {},
            Where where = Where::current());
// And, Or and Xor by older names.
XlaOp LogicalAnd(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions = {},
                 Where where = Where::current());
XlaOp LogicalOr(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions = {},
                Where where = Where::current());
XlaOp LogicalXor(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions = {},
                 Where where = Where::current());

// pred: whether lhs stands in `direction` to rhs. `type` kDefault is the operands' own order;
// kTotalOrder orders floats -NaN < -inf < .. < -0 < +0 < .. < +inf < +NaN. Errors: compare-c1 to
// c4.
XlaOp Compare(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions, ComparisonDirection direction,
              ComparisonType type, Where where = Where::current());
XlaOp Compare(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions, ComparisonDirection direction,
              Where where = Where::current());
XlaOp Compare(XlaOp lhs, XlaOp rhs, ComparisonDirection direction, Where where = Where::current());
// Compare with the direction of the name.
XlaOp Eq(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions = {}, Where where = Where::current());
XlaOp Ne(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions = {}, Where where = Where::current());
XlaOp Ge(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions = {}, Where where = Where::current());
XlaOp Gt(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions = {}, Where where = Where::current());
XlaOp Le(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions = {}, Where where = Where::current());
XlaOp Lt(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions = {}, Where where = Where::current());
// The same in the total order of floats.
XlaOp EqTotalOrder(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions = {},
                   Where where = Where::current());
XlaOp NeTotalOrder(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions = {},
                   Where where = Where::current());
XlaOp GeTotalOrder(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions = {},
                   Where where = Where::current());
XlaOp GtTotalOrder(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions = {},
                   Where where = Where::current());
XlaOp LeTotalOrder(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions = {},
                   Where where = Where::current());
XlaOp LtTotalOrder(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions = {},
                   Where where = Where::current());

// Each element held between min and max, which are shaped like it or scalars. Result: operand's.
XlaOp Clamp(XlaOp min, XlaOp operand, XlaOp max, Where where = Where::current());
// on_true's elements where `pred` is true, else on_false's. pred is shaped like them or a scalar,
// which chooses the whole; scalar values stretch. Tuples are chosen whole, by a conditional.
XlaOp Select(XlaOp pred, XlaOp on_true, XlaOp on_false, Where where = Where::current());

// The values as another type: towards 0 and saturating from float to integer, rounded to nearest
// even otherwise; of complex numbers the real part where the type is real.
XlaOp ConvertElementType(XlaOp operand, ElementType type, Where where = Where::current());
// The bits as another type. A narrower type adds a dimension at the end, a wider one takes the
// last.
XlaOp BitcastConvertType(XlaOp operand, ElementType type, Where where = Where::current());
// Floats rounded up or down by random numbers: `random` is unsigned, of the operand's width.
XlaOp StochasticConvertType(XlaOp operand, XlaOp random, ElementType type,
                            Where where = Where::current());
// Floats rounded to what a type of so many bits of exponent and mantissa holds.
XlaOp ReducePrecision(XlaOp operand, int exponent_bits, int mantissa_bits,
                      Where where = Where::current());

// Operators: Neg, Not, Add, Sub, Mul, Div, Rem, And, Or, Xor, ShiftLeft; `>>` is arithmetic for
// signed operands and logical otherwise.
XlaOp operator-(LocatedOp operand);
XlaOp operator~(LocatedOp operand);
XlaOp operator+(LocatedOp lhs, XlaOp rhs);
XlaOp operator-(LocatedOp lhs, XlaOp rhs);
XlaOp operator*(LocatedOp lhs, XlaOp rhs);
XlaOp operator/(LocatedOp lhs, XlaOp rhs);
XlaOp operator%(LocatedOp lhs, XlaOp rhs);
XlaOp operator&(LocatedOp lhs, XlaOp rhs);
XlaOp operator|(LocatedOp lhs, XlaOp rhs);
XlaOp operator^(LocatedOp lhs, XlaOp rhs);
XlaOp operator<<(LocatedOp lhs, XlaOp rhs);
XlaOp operator>>(LocatedOp lhs, XlaOp rhs);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
