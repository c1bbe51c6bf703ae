// Integer operations on scalars and vectors, with HLO's results where C++ has none: x / 0 is -1,
// shifts by the width or more give 0 or the sign, the least integer / -1 is itself.
//
// Two choices are for vector units, which have neither integer division nor branches:
// - up to 32 bits a quotient is one of floats or doubles, truncated, which is exact;
// - x^y is the binomial series of an odd x's power: x^(2^k) = 1 + u, u a multiple of 2^(k + 2), so
//   that (1 + u)^m has few terms that are not 0 modulo 2^width (PlanPower chooses k).
// Types narrower than a register are extended from their own bits first.
#include "codegen/scalars/integer_internal.h"

#include <vector>

namespace hlokit {
namespace {

// Only the logical bits, zero-extended.
Val LogicalBits(ElementType type, Val x) {
  return IsSubByte(type) ? x & ((1 << BitWidth(type)) - 1) : x;
}

// The logical bits, sign-extended whatever the type.
Val SignExtended(ElementType type, Val x) {
  int spare = x.bits() - BitWidth(type);
  return spare == 0 ? x : ShiftArithmetic(x << spare, spare);
}

int64_t Lowest(ElementType type) {
  return static_cast<int64_t>(~uint64_t{0} << (BitWidth(type) - 1));
}

// x / y for y that is neither 0 nor an overflow. Vector units have no integer division; up to 32
// bits a float quotient that is truncated is exact, as the distance from the next integer is at
// least 1 / y.
Val SafeQuotient(ElementType type, Val x, Val y) {
  auto& b = x.builder();
  bool is_signed = IsSigned(type);
  if (x.bits() == 64 || llvm::isa<llvm::Constant>(y.get())) {
    return x.With(is_signed ? b.CreateSDiv(x.get(), y.get()) : b.CreateUDiv(x.get(), y.get()));
  }
  llvm::Type* wide = x.bits() == 32 ? x.DoubleType() : x.FloatType();
  auto to_float = [&](Val v) {
    return v.With(is_signed ? b.CreateSIToFP(v.get(), wide) : b.CreateUIToFP(v.get(), wide));
  };
  Val quotient = to_float(x) / to_float(y);
  if (is_signed || x.bits() < 32)
    return Resize(x.With(b.CreateFPToSI(quotient.get(), x.IntType(32))), x.bits());
  return x.With(b.CreateFPToUI(quotient.get(), x.IntType(32)));
}

// The divisor with 1 in place of 0 and of the -1 that would overflow.
Val SafeDivisor(ElementType type, Val x, Val y) {
  Val bad = y == 0;
  if (IsSigned(type)) bad = bad | ((x == Lowest(type)) & (y == -1));
  return Select(bad, 1, y);
}

// x^y by squaring, one step for each bit that the exponent may have.
Val PowerBySteps(ElementType type, Val x, Val y) {
  int exponent_bits = BitWidth(type) - IsSigned(type);
  if (auto* known = llvm::dyn_cast<llvm::ConstantInt>(y.get()))
    exponent_bits = known->getValue().getActiveBits();
  Val result = x.Const(1), factor = x;
  for (int bit = 0; bit < exponent_bits; ++bit) {
    result = Select(((y >> bit) & 1) == 0, result, result * factor);
    if (bit + 1 < exponent_bits) factor = factor * factor;
  }
  return result;
}

// How powers modulo 2^width are computed: so many squarings, and so many terms of a series.
struct PowerPlan {
  int squarings, terms;
};

PowerPlan PlanPower(int width) {
  switch (width) {
    case 8:
      return {3, 1};
    case 16:
      return {4, 2};
    case 32:
      return {6, 3};
    default:
      return {9, 5};
  }
}

// The inverse of an odd number modulo 2^64.
uint64_t InverseOfOdd(uint64_t odd) {
  uint64_t inverse = odd;  // to three bits; each step doubles them
  for (int step = 0; step < 5; ++step) inverse *= 2 - odd * inverse;
  return inverse;
}

// (1 + u)^m - 1 modulo 2^width by `terms` terms of the binomial series. u is a multiple of 2^(k +
// 2), so that the few bits which the divisions by j! lose at the upper end of a coefficient do not
// count.
Val BinomialSeries(Val u, Val m, int terms) {
  std::vector<Val> coefficients = {m};
  for (int j = 2; j <= terms; ++j) {
    const int twos = __builtin_ctz(j);
    Val product = coefficients.back() * (m - (j - 1));
    if (j >> twos > 1) product = product * InverseOfOdd(j >> twos);
    coefficients.push_back(product >> twos);
  }
  Val sum = coefficients.back();
  for (int j = terms - 1; j-- > 0;) sum = sum * u + coefficients[j];
  return sum * u;
}

// x^y without a branch. After k squarings an odd x has become x^(2^k) = 1 + u with u a multiple of
// 2^(k + 2), whose powers are a short series; an even x has become 0.
Val PowerBySeries(int width, Val x, Val y) {
  const PowerPlan plan = PlanPower(width);
  Val result = x.Const(1), factor = x;
  for (int bit = 0; bit < plan.squarings; ++bit) {
    result = Select(((y >> bit) & 1) == 0, result, result * factor);
    factor = factor * factor;
  }
  Val rest = y >> plan.squarings;
  Val series = result + result * BinomialSeries(factor - 1, rest, plan.terms);
  Val vanishes = ((x & 1) == 0) & !(rest == 0);
  return Select(vanishes, 0, series);
}

Val WrappingPower(ElementType type, Val x, Val y) {
  const auto power = [&](Val base, Val exponent) {
    const bool series = !IsSubByte(type) && !llvm::isa<llvm::Constant>(y.get());
    return series ? PowerBySeries(x.bits(), base, exponent) : PowerBySteps(type, base, exponent);
  };
  if (x.bits() > 8) return power(x, y);
  // Vectors have no products of bytes.
  return Resize(power(ResizeUnsigned(x, 16), ResizeUnsigned(y, 16)), 8);
}

}  // namespace

Val WrapInteger(ElementType type, Val x) {
  if (!IsSubByte(type)) return x;
  return IsSigned(type) ? SignExtended(type, x) : LogicalBits(type, x);
}

Val IntegerAbs(ElementType type, Val x) {
  return IsSigned(type) ? WrapInteger(type, Select(x < 0, -x, x)) : x;
}

Val IntegerSign(ElementType type, Val x) {
  Val positive = Select(x == 0, 0, x.Const(1));
  return IsSigned(type) ? WrapInteger(type, Select(x < 0, -1, positive)) : positive;
}

Val IntegerClz(ElementType type, Val x) {
  auto& b = x.builder();
  Val count = x.With(b.CreateIntrinsic(llvm::Intrinsic::ctlz, {x.type()},
                                       {LogicalBits(type, x).get(), b.getFalse()}));
  return WrapInteger(type, count - (x.bits() - BitWidth(type)));
}

Val IntegerPopcount(ElementType type, Val x) {
  return WrapInteger(type, Intrinsic(llvm::Intrinsic::ctpop, LogicalBits(type, x)));
}

Val IntegerDivide(ElementType type, Val x, Val y) {
  Val quotient = SafeQuotient(type, x, SafeDivisor(type, x, y));
  return WrapInteger(type, Select(y == 0, quotient.Const(-1), quotient));
}

Val IntegerRemainder(ElementType type, Val x, Val y) {
  Val divisor = SafeDivisor(type, x, y);
  Val rest = x - SafeQuotient(type, x, divisor) * divisor;
  return WrapInteger(type, Select(y == 0, x, rest));
}

Val IntegerPower(ElementType type, Val x, Val y) {
  Val result = WrapInteger(type, WrappingPower(type, x, y));
  if (!IsSigned(type)) return result;
  Val odd = !((y & 1) == 0);
  Val of_unit = Select(x == 1, 1, Select(x == -1, Select(odd, -1, x.Const(1)), 0));
  return Select(y < 0, WrapInteger(type, of_unit), result);
}

Val IntegerMulhi(ElementType type, Val x, Val y) {
  int width = BitWidth(type), wide = 2 * x.bits();
  auto widen = [&](Val v) { return IsSigned(type) ? Resize(v, wide) : ResizeUnsigned(v, wide); };
  return WrapInteger(type, Resize((widen(x) * widen(y)) >> width, x.bits()));
}

Val IntegerMax(ElementType type, Val x, Val y) {
  return Intrinsic(IsSigned(type) ? llvm::Intrinsic::smax : llvm::Intrinsic::umax, x, y);
}

Val IntegerMin(ElementType type, Val x, Val y) {
  return Intrinsic(IsSigned(type) ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, x, y);
}

Val ShiftLeft(ElementType type, Val x, Val amount) {
  Val shifted = x.With(x.builder().CreateShl(x.get(), amount.get()));
  Val count = LogicalBits(type, amount);
  return WrapInteger(type, Select(UnsignedLess(count, x.Const(BitWidth(type))), shifted, 0));
}

Val ShiftRightLogical(ElementType type, Val x, Val amount) {
  Val count = LogicalBits(type, amount);
  Val shifted = x.With(x.builder().CreateLShr(LogicalBits(type, x).get(), count.get()));
  return WrapInteger(type, Select(UnsignedLess(count, x.Const(BitWidth(type))), shifted, 0));
}

Val ShiftRightArithmetic(ElementType type, Val x, Val amount) {
  Val count =
      Intrinsic(llvm::Intrinsic::umin, LogicalBits(type, amount), x.Const(BitWidth(type) - 1));
  Val shifted = x.With(x.builder().CreateAShr(SignExtended(type, x).get(), count.get()));
  return WrapInteger(type, shifted);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
