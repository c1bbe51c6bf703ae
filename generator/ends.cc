// Recipes at the ends of ranges: zeros of both signs, subnormals, the least and the largest number
// of a type, infinities, NaN. The other recipes keep to where functions are smooth and so never
// meet them.
//
//   e = f16[4] constant({inf, -0, 6e-08, -nan})   o = f16[4] constant({65504, 1, nan, 0})
//   x = f16[4] select(which, e, o)                 so that no folding sees the values
//   y = f16[4] sqrt(x)                             a step that IEEE rounds exactly
//   u = u16[4] bitcast-convert(y)                  after NaN was replaced: what is kept, equal bit
//   for bit
//
// What is kept is an integer or a truth value, or a float cut to a small range, so that later steps
// find their operands within the bounds that they rely on.
#include <algorithm>
#include <cmath>
#include <limits>

#include "generator/scope_internal.h"
#include "types/float_convert.h"

namespace hlokit {
namespace {

// The largest finite number: where all exponents but the last are finite, with all ones below it;
// else the last pattern that is no NaN.
double LargestOf(ElementType type) {
  const FloatFormat& format = FormatOf(type);
  const int bits = format.exponent_bits + format.mantissa_bits;
  uint64_t pattern = (uint64_t{1} << bits) - 1;
  if (format.has_infinity) pattern -= uint64_t{1} << format.mantissa_bits;
  while (std::isnan(FloatFromBits(type, pattern))) --pattern;
  return FloatFromBits(type, pattern);
}

// One of the numbers where a float type's arithmetic changes, or a plain one.
double EndOf(Random& random, ElementType type) {
  const FloatFormat& format = FormatOf(type);
  const double sign = format.has_sign && random.Chance(0.5) ? -1 : 1;
  const double least = std::exp2(1 - format.bias);
  switch (random.Between(0, 11)) {
    case 0:
      return format.has_infinity ? sign * std::numeric_limits<double>::infinity() : sign;
    case 1:
      return format.has_nan ? std::copysign(std::numeric_limits<double>::quiet_NaN(), sign) : sign;
    case 2:
      return type == ElementType::kF8E8M0FNU ? least : sign * 0.0;
    case 3:
      return sign * LargestOf(type);
    case 4:
      return sign * least;  // the least normal number
    case 5:
      return sign * SmallestStep(type);  // the least subnormal
    case 6:
      return sign * (1 + EpsilonOf(type));
    case 7:
      return sign * 0.5;
    default:
      return sign * static_cast<double>(random.Between(1, 12)) / 4;
  }
}

int64_t EndOfIntegers(Random& random, ElementType type) {
  const int bits = BitWidth(type);
  const uint64_t top = uint64_t{1} << std::max(0, bits - 1);
  switch (random.Between(0, 7)) {
    case 0:
      return static_cast<int64_t>(top);
    case 1:
      return static_cast<int64_t>(top - 1);
    case 2:
      return -1;
    case 3:
      return 0;
    case 4:
      return bits + random.Between(-1, 1);  // shifts by the width
    default:
      return static_cast<int64_t>(random.Bits() >> random.Between(0, 63));
  }
}

// What simplification may multiply by the inverse of: powers of two near 1, zeros, infinities, NaN.
// The inverse of a subnormal number overflows.
double DivisorOf(Random& random, ElementType type) {
  const double end = EndOf(random, type);
  if (end == 0 || !std::isfinite(end)) return end;
  return std::copysign(std::exp2(static_cast<double>(random.Between(-1, 1))), end);
}

enum class Use : uint8_t { kAny, kDivisor };

Literal LiteralOfEnds(GeneratedCode& s, ElementType type, absl::Span<const int64_t> dims, Use use) {
  Literal literal(Shape::Array(type, dims));
  for (int64_t i = 0; i < literal.element_count(); ++i) {
    if (IsFloat(type) && use == Use::kDivisor)
      literal.SetDouble(i, DivisorOf(s.random(), type));
    else if (IsFloat(type))
      literal.SetDouble(i, EndOf(s.random(), type));
    else if (IsPred(type))
      literal.SetInt(i, s.random().Between(0, 1));
    else
      literal.SetInt(i, EndOfIntegers(s.random(), type));
  }
  return literal;
}

// An array of ends: a constant, a scalar in all places, or what only the run knows.
Instruction* Ends(GeneratedCode& s, ElementType type, absl::Span<const int64_t> dims,
                  Use use = Use::kAny) {
  const Shape shape = Shape::Array(type, dims);
  if (s.random().Chance(0.2)) return s.Constant(LiteralOfEnds(s, type, dims, use));
  if (!dims.empty() && s.random().Chance(0.2))
    return s.Spread(s.Constant(LiteralOfEnds(s, type, {}, use)), shape);
  const RandomValue which =
      s.Get(ElementType::kPred,
            s.random().Chance(0.1) ? DimVector() : DimVector(dims.begin(), dims.end()));
  Instruction* a = s.Constant(LiteralOfEnds(s, type, dims, use));
  Instruction* b = s.Constant(LiteralOfEnds(s, type, dims, use));
  return s.Make(Opcode::kSelect, {which.instruction, a, b});
}

// x, with `number` where it is NaN.
Instruction* WithoutNan(GeneratedCode& s, Instruction* x, double number) {
  Instruction* constant = s.Spread(s.ScalarConstant(x->shape().type, number), x->shape());
  return s.Make(Opcode::kSelect, {Compared(s, ComparisonDirection::kNe, x, x), constant, x});
}

ElementType UnsignedOf(ElementType type) {
  switch (BitWidth(type)) {
    case 4:
      return ElementType::kU4;
    case 8:
      return ElementType::kU8;
    case 16:
      return ElementType::kU16;
    case 32:
      return ElementType::kU32;
    default:
      return ElementType::kU64;
  }
}

void KeepBits(GeneratedCode& s, Instruction* x) {
  const Shape shape = x->shape().WithoutLayout().WithType(UnsignedOf(x->shape().type));
  s.Keep(s.Make(Opcode::kBitcastConvert, {x}, &shape));
}

// Its bits, those of NaN aside, of which none is the right one; `sign_of_zero` false: -0 counts as
// 0.
void KeepBitsOfNumbers(GeneratedCode& s, Instruction* x, bool sign_of_zero = true) {
  if (x == nullptr) return;
  const ElementType type = x->shape().type;
  if (!IsFloat(type)) return s.Keep(x);
  x = WithoutNan(s, x, 0.75);
  if (!sign_of_zero) {
    Instruction* zero = s.Spread(s.ScalarConstant(type, 0), x->shape());
    x = s.Make(Opcode::kSelect, {Compared(s, ComparisonDirection::kEq, x, zero), zero, x});
  }
  KeepBits(s, x);
}

// Whether it is finite, and its value cut to a small range.
void KeepClass(GeneratedCode& s, Instruction* x) {
  if (x == nullptr) return;
  const ElementType type = x->shape().type;
  const double most = BitWidth(type) >= 32 && s.random().Chance(0.5) ? 512 : 2;
  // A narrower type's overflow may be seen or not, as rounding may be left out.
  if (BitWidth(type) >= 32) s.Keep(s.Make(Opcode::kIsFinite, {x}));
  Instruction* cut = s.Make(Opcode::kClamp, {s.ScalarConstant(type, -most), WithoutNan(s, x, 0.5),
                                             s.ScalarConstant(type, most)});
  s.Keep(cut, {-most, most, RoundingError(type, most)});
}

}  // namespace

// Steps that IEEE rounds exactly.
void EndsOfArithmetic(GeneratedCode& s) {
  constexpr Opcode kUnary[] = {
      Opcode::kAbs,     Opcode::kNegate, Opcode::kFloor,           Opcode::kCeil,
      Opcode::kSqrt,    Opcode::kSign,   Opcode::kRoundNearestAfz, Opcode::kRoundNearestEven,
      Opcode::kIsFinite};
  constexpr Opcode kBinary[] = {Opcode::kAdd,      Opcode::kSubtract, Opcode::kMultiply,
                                Opcode::kDivide,   Opcode::kMaximum,  Opcode::kMinimum,
                                Opcode::kRemainder};
  const ElementType type = s.FloatType();
  const DimVector dims = s.AnyDims();
  Instruction* x = Ends(s, type, dims);
  if (s.random().Chance(0.35)) {
    Opcode opcode = s.random().OneOf(kUnary);
    // Of roots alone f16, in which float-normalization computes, has a bit too few for its type.
    if (opcode == Opcode::kSqrt && type == ElementType::kF8E3M4) opcode = Opcode::kNegate;
    return KeepBitsOfNumbers(s, s.Make(opcode, {x}));
  }
  Instruction* y = s.random().Chance(0.1) ? x : Ends(s, type, dims);
  if (s.random().Chance(0.2)) {
    using D = ComparisonDirection;
    CompareAttrs attributes;
    attributes.direction = s.random().OneOf({D::kEq, D::kNe, D::kGe, D::kGt, D::kLe, D::kLt});
    if (s.random().Chance(0.5)) attributes.type = ComparisonType::kTotalOrder;
    return s.Keep(s.Make(Opcode::kCompare, {x, y}, attributes));
  }
  if (s.random().Chance(0.1))
    return KeepBitsOfNumbers(s, s.Make(Opcode::kClamp, {x, Ends(s, type, dims), y}), false);
  const Opcode opcode = s.random().OneOf(kBinary);
  if (opcode == Opcode::kDivide) y = Ends(s, type, dims, Use::kDivisor);
  const bool either_zero = opcode == Opcode::kMaximum || opcode == Opcode::kMinimum;
  KeepBitsOfNumbers(s, s.Make(opcode, {x, y}), !either_zero);
}

// Functions that are approximated: their class, and their value where it is small.
void EndsOfFunctions(GeneratedCode& s) {
  constexpr Opcode kUnary[] = {
      Opcode::kAcos,     Opcode::kAcosh,       Opcode::kAsin,
      Opcode::kAsinh,    Opcode::kAtanh,       Opcode::kCbrt,
      Opcode::kCosh,     Opcode::kExponential, Opcode::kExponentialMinusOne,
      Opcode::kErf,      Opcode::kLog,         Opcode::kSinh,
      Opcode::kLogistic, Opcode::kLogPlusOne,  Opcode::kRsqrt,
      Opcode::kTanh,     Opcode::kSine,        Opcode::kCosine,
      Opcode::kTan};
  const ElementType type = s.FloatType();
  const DimVector dims = s.AnyDims();
  Instruction* x = Ends(s, type, dims);
  if (s.random().Chance(0.7)) return KeepClass(s, s.Make(s.random().OneOf(kUnary), {x}));
  KeepClass(s,
            s.Make(s.random().OneOf({Opcode::kPower, Opcode::kAtan2}), {x, Ends(s, type, dims)}));
}

// Between all pairs of types.
void EndsConverted(GeneratedCode& s) {
  const ElementType from = s.AnyType(), to = s.AnyType();
  if (IsComplex(from) || IsComplex(to)) return;
  Instruction* x = Ends(s, from, s.AnyDims());
  const Shape shape = x->shape().WithoutLayout().WithType(to);
  KeepBitsOfNumbers(s, s.Make(Opcode::kConvert, {x}, &shape));
}

void EndsOfIntegers(GeneratedCode& s) {
  constexpr Opcode kUnary[] = {Opcode::kAbs,  Opcode::kNegate,          Opcode::kNot,
                               Opcode::kSign, Opcode::kPopulationCount, Opcode::kCountLeadingZeros};
  const ElementType type = s.IntegerType();
  const DimVector dims = s.AnyDims();
  Instruction* x = Ends(s, type, dims);
  if (s.random().Chance(0.3)) {
    const Opcode opcode = s.random().OneOf(kUnary);
    if (!IsSigned(type) && (opcode == Opcode::kAbs || opcode == Opcode::kSign)) return;
    return s.Keep(s.Make(opcode, {x}));
  }
  Instruction* y = s.random().Chance(0.1) ? x : Ends(s, type, dims);
  if (s.random().Chance(0.1)) return s.Keep(s.Make(Opcode::kClamp, {x, Ends(s, type, dims), y}));
  s.Keep(s.Make(s.random().OneOf(kIntegerBinaryOpcodes), {x, y}));
}

// reduce-precision to every width, wider ones than the type's own among them.
void EndsOfPrecision(GeneratedCode& s) {
  const ElementType type = s.FloatType();
  Instruction* x = Ends(s, type, s.AnyDims());
  const bool wide = type == ElementType::kF64;
  const ReducePrecisionAttrs attributes{s.random().Between(1, wide ? 12 : 9),
                                        s.random().Between(0, wide ? 54 : 24)};
  KeepBitsOfNumbers(s, s.Make(Opcode::kReducePrecision, {x}, attributes));
}

// Bits that only move stay as they are, the sign of NaN too.
void EndsMoved(GeneratedCode& s) {
  using Step = void (*)(GeneratedCode&);
  constexpr Step kSteps[] = {BroadcastValue, ReshapeValue,      TransposeValue,
                             ReverseValue,   SliceValue,        PadValue,
                             CopyValue,      ConcatenateValues, DynamicUpdateSliceValue,
                             GatherValue,    SelectValues,      DynamicSliceValue,
                             BitcastValue,   RegroupValue};
  const ElementType type = s.AnyType();
  if (!IsFloat(type)) return;
  Instruction* x = Ends(s, type, s.AnyDims());
  if (x == nullptr) return;
  const size_t before = s.values().size();
  s.StartChain({x, {-2, 2, 0}});
  for (int64_t steps = s.random().Between(1, 3); steps > 0; --steps) s.random().OneOf(kSteps)(s);
  const RandomValue moved = s.EndChain();
  s.ForgetFloats(before);  // the rest relies on finite ones
  // Another array that a step put beside them may have been rounded on the way.
  if (moved.bounds.Exact()) KeepBits(s, moved.instruction);
}

// By the total order, in which every NaN has its place.
void EndsSorted(GeneratedCode& s) {
  const ElementType type = s.FloatType();
  const DimVector dims = s.AnyDims();
  if (dims.empty() || BitWidth(type) < 16) return;
  Instruction* keys = Ends(s, type, dims);
  const int64_t dimension = s.random().Between(0, static_cast<int64_t>(dims.size()) - 1);
  const Shape numbers = keys->shape().WithoutLayout().WithType(ElementType::kS32);
  Instruction* places = s.Make(Opcode::kIota, {}, IotaAttrs{dimension}, &numbers);
  Computation* order = s.module().AddComputation("total_order");
  const Shape key = Shape::Scalar(type).WithDefaultLayout(),
              place = Shape::Scalar(ElementType::kS32).WithDefaultLayout();
  Instruction* a = order->AddParameter(0, key);
  Instruction* b = order->AddParameter(1, key);
  order->AddParameter(2, place);
  order->AddParameter(3, place);
  CompareAttrs attributes;
  attributes.direction = s.random().OneOf({ComparisonDirection::kLt, ComparisonDirection::kGt});
  attributes.type = ComparisonType::kTotalOrder;
  order->set_root(order->Add(
      Opcode::kCompare, Shape::Scalar(ElementType::kPred).WithDefaultLayout(), {a, b}, attributes));
  Instruction* sorted =
      s.MakeCalling(Opcode::kSort, {keys, places}, {order}, SortAttrs{{dimension}, true});
  if (sorted == nullptr) return;
  KeepBits(s, ElementOf(s, sorted, 0));
  s.Keep(ElementOf(s, sorted, 1));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
