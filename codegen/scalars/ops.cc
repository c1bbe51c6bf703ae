// Which function computes which opcode for which class of element type.
//
//   kAdd:   reals Add     complex ComplexAdd     integers IntegerAdd    truth values Or
//   kTanh:  reals Tanh    complex ComplexTanh    none                   none
// Functions take and give Val, an LLVM value with operators, which may be a scalar or a vector; so
// one function serves both. Integers narrower than their register are wrapped after each step that
// can leave the type (WrapInteger). A static_assert holds the rows equal to the opcodes that
// ir/ops.def says are arithmetic.
#include "codegen/scalars/ops.h"

#include <cmath>

#include "codegen/math/complex.h"
#include "codegen/math/functions.h"
#include "codegen/scalars/float_internal.h"
#include "codegen/scalars/integer_internal.h"
#include "types/float_convert.h"

namespace hlokit {
namespace {

namespace intrinsics = llvm::Intrinsic;

Val Negate(Val x) { return -x; }
Val Ceil(Val x) { return Intrinsic(intrinsics::ceil, x); }
Val RoundAway(Val x) { return Intrinsic(intrinsics::round, x); }
Val Sign(Val x) { return Select((x == 0) | Unordered(x, x), x, CopySign(x.Const(1), x)); }
Val Subtract(Val x, Val y) { return x - y; }
Val Add(Val x, Val y) { return x + y; }
Val Multiply(Val x, Val y) { return x * y; }
Val Divide(Val x, Val y) { return x / y; }
Val Maximum(Val x, Val y) { return Intrinsic(intrinsics::maximum, x, y); }
Val Minimum(Val x, Val y) { return Intrinsic(intrinsics::minimum, x, y); }
Val And(Val x, Val y) { return x & y; }
Val Or(Val x, Val y) { return x | y; }
Val Xor(Val x, Val y) { return x ^ y; }

ComplexVal ComplexNegate(ComplexVal z) { return -z; }
ComplexVal ComplexAdd(ComplexVal x, ComplexVal y) { return x + y; }
ComplexVal ComplexSubtract(ComplexVal x, ComplexVal y) { return x - y; }
ComplexVal ComplexMultiply(ComplexVal x, ComplexVal y) { return x * y; }
ComplexVal ComplexDivide(ComplexVal x, ComplexVal y) { return x / y; }

Val IntegerNegate(ElementType type, Val x) { return WrapInteger(type, -x); }
Val IntegerNot(ElementType type, Val x) { return WrapInteger(type, !x); }
Val IntegerAdd(ElementType type, Val x, Val y) { return WrapInteger(type, x + y); }
Val IntegerSubtract(ElementType type, Val x, Val y) { return WrapInteger(type, x - y); }
Val IntegerMultiply(ElementType type, Val x, Val y) { return WrapInteger(type, x * y); }
Val IntegerAnd(ElementType, Val x, Val y) { return x & y; }
Val IntegerOr(ElementType, Val x, Val y) { return x | y; }
Val IntegerXor(ElementType, Val x, Val y) { return x ^ y; }

Val PredNot(Val x) { return !x; }

// Null where the opcode does not take that class of types.
struct UnaryRow {
  Opcode opcode;
  Val (*real)(Val);
  ComplexVal (*complex)(ComplexVal) = nullptr;
  Val (*integer)(ElementType, Val) = nullptr;
  Val (*pred)(Val) = nullptr;
  Val (*bf16)(Val) = nullptr;  // in place of `real`, to be rounded: propagates an operand's NaN
};

constexpr UnaryRow kUnary[] = {
    {Opcode::kAbs, Abs, nullptr, IntegerAbs},
    {Opcode::kAcos, Acos, ComplexAcos},
    {Opcode::kAcosh, Acosh, ComplexAcosh},
    {Opcode::kAsin, Asin, ComplexAsin},
    {Opcode::kAsinh, Asinh, ComplexAsinh},
    {Opcode::kAtanh, Atanh, ComplexAtanh},
    {Opcode::kCbrt, Cbrt},
    {Opcode::kCeil, Ceil},
    {Opcode::kCosine, Cos, ComplexCos},
    {Opcode::kCosh, Cosh, ComplexCosh},
    {Opcode::kCountLeadingZeros, nullptr, nullptr, IntegerClz},
    {Opcode::kErf, Erf},
    {Opcode::kExponential, Exp, ComplexExp},
    {Opcode::kExponentialMinusOne, Expm1, ComplexExpm1},
    {Opcode::kFloor, Floor},
    {Opcode::kLog, Log, ComplexLog},
    {Opcode::kLogPlusOne, Log1p, ComplexLog1p},
    {Opcode::kLogistic, Logistic, ComplexLogistic, nullptr, nullptr, LogisticOfBF16},
    {Opcode::kNegate, Negate, ComplexNegate, IntegerNegate},
    {Opcode::kNot, nullptr, nullptr, IntegerNot, PredNot},
    {Opcode::kPopulationCount, nullptr, nullptr, IntegerPopcount},
    {Opcode::kRoundNearestAfz, RoundAway},
    {Opcode::kRoundNearestEven, RoundEven},
    {Opcode::kRsqrt, Rsqrt, ComplexRsqrt},
    {Opcode::kSign, Sign, ComplexSign, IntegerSign},
    {Opcode::kSine, Sin, ComplexSin},
    {Opcode::kSinh, Sinh, ComplexSinh},
    {Opcode::kSqrt, Sqrt, ComplexSqrt},
    {Opcode::kTan, Tan, ComplexTan},
    {Opcode::kTanh, Tanh, ComplexTanh, nullptr, nullptr, TanhOfBF16},
};

struct BinaryRow {
  Opcode opcode;
  Val (*real)(Val, Val);
  ComplexVal (*complex)(ComplexVal, ComplexVal) = nullptr;
  Val (*integer)(ElementType, Val, Val) = nullptr;
  Val (*pred)(Val, Val) = nullptr;
};

constexpr BinaryRow kBinary[] = {
    {Opcode::kAdd, Add, ComplexAdd, IntegerAdd, Or},
    {Opcode::kAnd, nullptr, nullptr, IntegerAnd, And},
    {Opcode::kAtan2, Atan2, ComplexAtan2},
    {Opcode::kDivide, Divide, ComplexDivide, IntegerDivide},
    {Opcode::kMaximum, Maximum, nullptr, IntegerMax, Or},
    {Opcode::kMinimum, Minimum, nullptr, IntegerMin, And},
    {Opcode::kMulhi, nullptr, nullptr, IntegerMulhi},
    {Opcode::kMultiply, Multiply, ComplexMultiply, IntegerMultiply, And},
    {Opcode::kOr, nullptr, nullptr, IntegerOr, Or},
    {Opcode::kPower, Pow, ComplexPow, IntegerPower},
    {Opcode::kRemainder, Remainder, nullptr, IntegerRemainder},
    {Opcode::kShiftLeft, nullptr, nullptr, ShiftLeft},
    {Opcode::kShiftRightArithmetic, nullptr, nullptr, ShiftRightArithmetic},
    {Opcode::kShiftRightLogical, nullptr, nullptr, ShiftRightLogical},
    {Opcode::kSubtract, Subtract, ComplexSubtract, IntegerSubtract},
    {Opcode::kXor, nullptr, nullptr, IntegerXor, Xor},
};

template <typename Row, size_t n>
constexpr const Row* Find(const Row (&rows)[n], Opcode opcode) {
  for (const Row& row : rows) {
    if (row.opcode == opcode) return &row;
  }
  return nullptr;
}

// What EmitUnary and EmitBinary take beside the rows of their tables.
constexpr bool IsPartOfComplex(Opcode opcode) {
  return opcode == Opcode::kReal || opcode == Opcode::kImag || opcode == Opcode::kComplex;
}

// The opcodes whose elements ir/ops.def computes by EmitArithmetic or EmitDiscontinuous have a row,
// and no others.
constexpr bool RowsFollowOpsDef() {
  constexpr absl::string_view kEmitters[] = {
#define HLO_OP(enumerator, text, arity, attrs, calls, traits, infer, evaluate, emit, ...) #emit,
#include "ir/ops.def"
#undef HLO_OP
  };
  for (int i = 0; i < kOpcodeCount; ++i) {
    const auto opcode = static_cast<Opcode>(i);
    const bool named = kEmitters[i] == "Arithmetic" || kEmitters[i] == "Discontinuous";
    const bool found = Find(kUnary, opcode) != nullptr || Find(kBinary, opcode) != nullptr ||
                       IsPartOfComplex(opcode) || opcode == Opcode::kIsFinite;
    if (named != found) return false;
  }
  return true;
}
static_assert(RowsFollowOpsDef(), "kUnary, kBinary and the last column of ir/ops.def differ");

// Plain arithmetic on c64 and its sign stay in float; everything else is worked out in double.
bool StaysFloat(Opcode opcode) {
  return opcode == Opcode::kAdd || opcode == Opcode::kSubtract || opcode == Opcode::kMultiply ||
         opcode == Opcode::kNegate || opcode == Opcode::kSign;
}

ComplexVal Widen(llvm::IRBuilderBase& builder, Opcode opcode, const ScalarValue& z) {
  ComplexVal val = {Val(builder, z.re), Val(builder, z.im)};
  return StaysFloat(opcode) ? val : ComplexVal{ToDouble(val.re), ToDouble(val.im)};
}

ScalarValue Narrow(ElementType type, ComplexVal z) {
  if (type == ElementType::kC64) z = {ToFloat(z.re), ToFloat(z.im)};
  return {z.re.get(), z.im.get()};
}

// Whether results are values of a narrow type already.
bool IsExact(Opcode opcode, ElementType type) {
  if (!HasTrait(opcode, kExact)) return false;
  if (type == ElementType::kF16 || type == ElementType::kBF16) return true;
  // Numbers that short have their negatives, but not always the next whole number.
  return type != ElementType::kF8E8M0FNU && FormatOf(type).has_negative_zero &&
         opcode != Opcode::kCeil && opcode != Opcode::kFloor;
}

// Processors propagate an operand's NaN or make the default one.
bool KeepsNaN(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAdd:
    case Opcode::kSubtract:
    case Opcode::kMultiply:
    case Opcode::kDivide:
    case Opcode::kSqrt:
      return true;
    default:
      return false;
  }
}

ScalarValue Rounded(Opcode opcode, ElementType type, Val x) {
  if (!IsNarrowFloat(type)) return {x.get()};
  if (IsExact(opcode, type)) return {x.get()};
  return {KeepsNaN(opcode) ? RoundOwnResult(type, x).get() : RoundFloat(type, x).get()};
}

// The ops whose result has another type than their operand.
ScalarValue EmitProjection(llvm::IRBuilderBase& builder, Opcode opcode, ElementType type,
                           const ScalarValue& x) {
  bool complex = IsComplex(type);
  if (!complex && !IsFloat(type)) return {};
  Val re(builder, x.re);
  switch (opcode) {
    case Opcode::kReal:
      return {x.re};
    case Opcode::kImag:
      return {complex ? x.im : llvm::Constant::getNullValue(x.re->getType())};
    case Opcode::kIsFinite:
      return complex ? ScalarValue{} : ScalarValue{(Abs(re) < re.Infinity()).get()};
    default:
      return {Hypot(re, Val(builder, x.im)).get()};
  }
}

}  // namespace

bool IsQuickInBF16(Opcode opcode) {
  const UnaryRow* row = Find(kUnary, opcode);
  return row != nullptr && row->bf16 != nullptr;
}

ScalarValue EmitUnary(llvm::IRBuilderBase& builder, Opcode opcode, ElementType type,
                      const ScalarValue& x) {
  if (opcode == Opcode::kCopy) return x;
  if (opcode == Opcode::kReal || opcode == Opcode::kImag || opcode == Opcode::kIsFinite ||
      (opcode == Opcode::kAbs && IsComplex(type))) {
    return EmitProjection(builder, opcode, type, x);
  }
  const UnaryRow* row = Find(kUnary, opcode);
  if (row == nullptr) return {};
  if (IsComplex(type)) {
    return row->complex ? Narrow(type, row->complex(Widen(builder, opcode, x))) : ScalarValue{};
  }
  Val val(builder, x.re);
  if (type == ElementType::kBF16 && row->bf16) return {RoundOwnResult(type, row->bf16(val)).get()};
  if (IsFloat(type)) return row->real ? Rounded(opcode, type, row->real(val)) : ScalarValue{};
  if (IsInteger(type))
    return row->integer ? ScalarValue{row->integer(type, val).get()} : ScalarValue{};
  return row->pred ? ScalarValue{row->pred(val).get()} : ScalarValue{};
}

ScalarValue EmitBinary(llvm::IRBuilderBase& builder, Opcode opcode, ElementType type,
                       const ScalarValue& x, const ScalarValue& y) {
  if (opcode == Opcode::kComplex) return {x.re, y.re};
  const BinaryRow* row = Find(kBinary, opcode);
  if (row == nullptr) return {};
  if (IsComplex(type)) {
    if (!row->complex) return {};
    return Narrow(type, row->complex(Widen(builder, opcode, x), Widen(builder, opcode, y)));
  }
  Val a(builder, x.re), b(builder, y.re);
  if (IsFloat(type)) {
    if (!row->real) return {};
    Val result = row->real(a, b);
    // LLVM 19 narrows these to vectors of halves, whose code on x86 loses NaN.
    const bool from_halves = type == ElementType::kF16 || type == ElementType::kF8E5M2;
    if (from_halves && (opcode == Opcode::kMaximum || opcode == Opcode::kMinimum))
      result = Select(Unordered(a, b), a + b, result);
    return Rounded(opcode, type, result);
  }
  if (IsInteger(type))
    return row->integer ? ScalarValue{row->integer(type, a, b).get()} : ScalarValue{};
  return row->pred ? ScalarValue{row->pred(a, b).get()} : ScalarValue{};
}

namespace {

using Predicate = llvm::CmpInst::Predicate;

// Rows in the order of ComparisonDirection.
struct Predicates {
  Predicate on_float;
  Predicate on_signed;
  Predicate on_unsigned;
};
constexpr Predicates kPredicates[] = {
    {Predicate::FCMP_OEQ, Predicate::ICMP_EQ, Predicate::ICMP_EQ},
    {Predicate::FCMP_UNE, Predicate::ICMP_NE, Predicate::ICMP_NE},
    {Predicate::FCMP_OGE, Predicate::ICMP_SGE, Predicate::ICMP_UGE},
    {Predicate::FCMP_OGT, Predicate::ICMP_SGT, Predicate::ICMP_UGT},
    {Predicate::FCMP_OLE, Predicate::ICMP_SLE, Predicate::ICMP_ULE},
    {Predicate::FCMP_OLT, Predicate::ICMP_SLT, Predicate::ICMP_ULT},
};

// Whether the bits of a narrow float that GPUs widen by an instruction are known as they were
// loaded.
bool IsLoadedNarrow(ElementType type, const ScalarValue& x) {
  const bool is_widened = type == ElementType::kF16 || type == ElementType::kBF16 ||
                          type == ElementType::kF8E5M2 || type == ElementType::kF8E4M3FN;
  return is_widened && x.memory != nullptr && x.memory_type == type;
}

}  // namespace

ScalarValue EmitCompare(llvm::IRBuilderBase& builder, ComparisonDirection direction,
                        ComparisonType order, ElementType type, const ScalarValue& x,
                        const ScalarValue& y) {
  const Predicates& row = kPredicates[static_cast<int>(direction)];
  if (IsComplex(type)) {
    bool equal = direction == ComparisonDirection::kEq;
    if (!equal && direction != ComparisonDirection::kNe) return {};
    llvm::Value* re = builder.CreateFCmp(row.on_float, x.re, y.re);
    llvm::Value* im = builder.CreateFCmp(row.on_float, x.im, y.im);
    return {equal ? builder.CreateAnd(re, im) : builder.CreateOr(re, im)};
  }
  if (IsFloat(type) && order == ComparisonType::kTotalOrder) {
    // GPUs drop a NaN's sign when they widen it.
    const bool loaded = IsLoadedNarrow(type, x) && IsLoadedNarrow(type, y);
    Val a = TotalOrderKey(Val(builder, loaded ? x.memory : x.re));
    Val b = TotalOrderKey(Val(builder, loaded ? y.memory : y.re));
    return {builder.CreateICmp(row.on_signed, a.get(), b.get())};
  }
  if (IsFloat(type)) return {builder.CreateFCmp(row.on_float, x.re, y.re)};
  return {builder.CreateICmp(IsSigned(type) ? row.on_signed : row.on_unsigned, x.re, y.re)};
}

ScalarValue EmitSelect(llvm::IRBuilderBase& builder, const ScalarValue& pred,
                       const ScalarValue& on_true, const ScalarValue& on_false) {
  ScalarValue result = {builder.CreateSelect(pred.re, on_true.re, on_false.re)};
  if (on_true.im) result.im = builder.CreateSelect(pred.re, on_true.im, on_false.im);
  if (on_true.memory && on_false.memory && on_true.memory_type == on_false.memory_type) {
    result.memory = builder.CreateSelect(pred.re, on_true.memory, on_false.memory);
    result.memory_type = on_true.memory_type;
  }
  return result;
}

ScalarValue EmitClamp(llvm::IRBuilderBase& builder, ElementType type, const ScalarValue& low,
                      const ScalarValue& x, const ScalarValue& high) {
  if (IsComplex(type)) {  // by their real parts alone, as XLA's CPU
    const ScalarValue raised = EmitSelect(builder, {builder.CreateFCmpOGE(low.re, x.re)}, low, x);
    return EmitSelect(builder, {builder.CreateFCmpOLE(raised.re, high.re)}, raised, high);
  }
  ScalarValue raised = EmitBinary(builder, Opcode::kMaximum, type, low, x);
  return EmitBinary(builder, Opcode::kMinimum, type, raised, high);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
