// Functions of elements: one row a line.
#include "client/op_cases_internal.h"

namespace hlokit {
namespace {

constexpr ElementType kPred = ElementType::kPred;
constexpr ElementType kC64 = ElementType::kC64;
Shape S4() { return S32({4}); }
Shape Pred4() { return Shape::Array(kPred, {4}); }

#define HLOKIT_CASE(name, ...)                 \
  OpCase {                                     \
#name, [](XlaBuilder & b) { __VA_ARGS__; } \
  }
#define HLOKIT_UNARY(name) HLOKIT_CASE(name, name(P(b, 0, F32({3}))))
#define HLOKIT_BINARY(name, shape) HLOKIT_CASE(name, name(P(b, 0, shape), P(b, 1, shape)))

}  // namespace

std::vector<OpCase> ElementCases() {
  return {
      HLOKIT_UNARY(Abs),
      HLOKIT_UNARY(Cbrt),
      HLOKIT_UNARY(Ceil),
      HLOKIT_UNARY(Cos),
      HLOKIT_UNARY(Cosh),
      HLOKIT_UNARY(Erf),
      HLOKIT_UNARY(Exp),
      HLOKIT_UNARY(Expm1),
      HLOKIT_UNARY(Floor),
      HLOKIT_UNARY(IsFinite),
      HLOKIT_UNARY(Log),
      HLOKIT_UNARY(Log1p),
      HLOKIT_UNARY(Logistic),
      HLOKIT_UNARY(Neg),
      HLOKIT_UNARY(Round),
      HLOKIT_UNARY(RoundNearestAfz),
      HLOKIT_UNARY(RoundNearestEven),
      HLOKIT_UNARY(Rsqrt),
      HLOKIT_UNARY(Sign),
      HLOKIT_UNARY(Sin),
      HLOKIT_UNARY(Sqrt),
      HLOKIT_UNARY(Tan),
      HLOKIT_UNARY(Tanh),
      HLOKIT_UNARY(SqrtF32),
      HLOKIT_UNARY(SquareF32),
      HLOKIT_UNARY(ReciprocalF32),
      HLOKIT_CASE(Exp, Exp(P(b, 0, F32({3})), ResultAccuracy{ResultAccuracy::Kind::kHighest})),
      HLOKIT_CASE(Tanh, Tanh(P(b, 0, F32({3})),
                             ResultAccuracy{ResultAccuracy::Kind::kTolerance, 0, 1e-6, 2})),
      HLOKIT_CASE(Clz, Clz(P(b, 0, S4()))),
      HLOKIT_CASE(PopulationCount, PopulationCount(P(b, 0, S4()))),
      HLOKIT_CASE(Not, Not(P(b, 0, Pred4()))),
      HLOKIT_CASE(LogicalNot, LogicalNot(P(b, 0, Pred4()))),
      HLOKIT_CASE(Imag, Imag(P(b, 0, Shape::Array(kC64, {3})))),
      HLOKIT_CASE(Real, Real(P(b, 0, Shape::Array(kC64, {3})))),
      HLOKIT_CASE(Abs, Abs(P(b, 0, Shape::Array(kC64, {3})))),
      HLOKIT_CASE(ConvertElementType, ConvertElementType(P(b, 0, S4()), ElementType::kF32)),
      HLOKIT_CASE(ConvertElementType,
                  ConvertElementType(P(b, 0, Shape::Array(kC64, {3})), ElementType::kF32)),
      HLOKIT_CASE(BitcastConvertType, BitcastConvertType(P(b, 0, F32({10})), ElementType::kF16)),
      HLOKIT_CASE(
          BitcastConvertType,
          BitcastConvertType(P(b, 0, Shape::Array(ElementType::kU16, {10, 2})), ElementType::kU32)),
      HLOKIT_CASE(ReducePrecision, ReducePrecision(P(b, 0, F32({4})), 5, 10)),
      HLOKIT_BINARY(Add, F32({2, 3})),
      HLOKIT_BINARY(Sub, F32({2, 3})),
      HLOKIT_BINARY(Mul, F32({2, 3})),
      HLOKIT_BINARY(Div, F32({2, 3})),
      HLOKIT_BINARY(Rem, F32({2, 3})),
      HLOKIT_BINARY(Max, F32({2, 3})),
      HLOKIT_BINARY(Min, F32({2, 3})),
      HLOKIT_BINARY(Pow, F32({2, 3})),
      HLOKIT_BINARY(Atan2, F32({2, 3})),
      HLOKIT_BINARY(And, S4()),
      HLOKIT_BINARY(Or, S4()),
      HLOKIT_BINARY(Xor, S4()),
      HLOKIT_BINARY(LogicalAnd, Pred4()),
      HLOKIT_BINARY(LogicalOr, Pred4()),
      HLOKIT_BINARY(LogicalXor, Pred4()),
      HLOKIT_BINARY(ShiftLeft, S4()),
      HLOKIT_BINARY(ShiftRightArithmetic, S4()),
      HLOKIT_BINARY(ShiftRightLogical, S4()),
      HLOKIT_BINARY(Complex, F32({3})),
      HLOKIT_CASE(Add, Add(P(b, 0, F32({2, 3})), P(b, 1, F32({3})), {1})),
      HLOKIT_CASE(Mul, Mul(P(b, 0, F32({2, 1})), P(b, 1, F32({1, 3})))),
      HLOKIT_CASE(Sub, Sub(P(b, 0, F32({4})), P(b, 1, F32({1, 2})), {0})),
      HLOKIT_CASE(Div, Div(P(b, 0, F32({})), P(b, 1, F32({2, 2})))),
      HLOKIT_CASE(Compare, Compare(P(b, 0, F32({4})), P(b, 1, F32({4})), {},
                                   ComparisonDirection::kLt, ComparisonType::kTotalOrder)),
      HLOKIT_CASE(Compare, Compare(P(b, 0, F32({4})), P(b, 1, F32({4})), {},
                                   ComparisonDirection::kLt, ComparisonType::kFloat)),
      HLOKIT_BINARY(Eq, F32({4})),
      HLOKIT_BINARY(EqTotalOrder, F32({4})),
      HLOKIT_BINARY(Ne, F32({4})),
      HLOKIT_BINARY(NeTotalOrder, F32({4})),
      HLOKIT_BINARY(Ge, F32({4})),
      HLOKIT_BINARY(GeTotalOrder, F32({4})),
      HLOKIT_BINARY(Gt, F32({4})),
      HLOKIT_BINARY(GtTotalOrder, F32({4})),
      HLOKIT_BINARY(Le, F32({4})),
      HLOKIT_BINARY(LeTotalOrder, F32({4})),
      HLOKIT_BINARY(Lt, F32({4})),
      HLOKIT_BINARY(LtTotalOrder, F32({4})),
      HLOKIT_CASE(Clamp, Clamp(P(b, 0, S32({})), P(b, 1, S32({3})), P(b, 2, S32({})))),
      HLOKIT_CASE(Select, Select(P(b, 0, Pred4()), P(b, 1, S4()), P(b, 2, S4()))),
      HLOKIT_CASE(Select, Select(P(b, 0, Shape::Scalar(kPred)), P(b, 1, S4()), P(b, 2, S4()))),
      HLOKIT_CASE(Select, Select(P(b, 0, Pred4()), P(b, 1, S4()), P(b, 2, S32({})))),
      {"Select (tuples)",
       [](XlaBuilder& b) {
         const Shape tuple = Shape::Tuple({F32({2}), S32({})});
         Select(P(b, 0, Shape::Scalar(kPred)), P(b, 1, tuple), P(b, 2, tuple));
       }},
  };
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
