// Integer operations of every width against arithmetic in 128 bits.
#include <algorithm>
#include <functional>
#include <vector>

#include "codegen/scalars/harness_internal.h"
#include "gtest/gtest.h"
#include "support/status.h"

namespace hlokit {
namespace {

// The low 128 bits, without overflow in C++'s eyes.
__int128 Product(__int128 x, __int128 y) {
  return static_cast<__int128>(static_cast<unsigned __int128>(x) *
                               static_cast<unsigned __int128>(y));
}

__int128 Power(T type, __int128 x, __int128 y) {
  if (y < 0) return x == 1 ? 1 : x == -1 ? (y % 2 == 0 ? 1 : -1) : 0;
  unsigned __int128 result = 1, factor = static_cast<unsigned __int128>(x);
  for (; y > 0; y /= 2, factor *= factor) {
    if (y % 2 == 1) result *= factor;
  }
  return ValueOf(type, static_cast<uint64_t>(result));
}

struct IntegerRow {
  Opcode opcode;
  std::function<__int128(T, __int128, __int128)> exact;
};

__int128 Amount(T type, __int128 y) { return y & ((__int128{1} << BitWidth(type)) - 1); }

const std::vector<IntegerRow>& IntegerRows() {
  static const auto& rows = *new std::vector<IntegerRow>{
      {Opcode::kAdd, [](T, auto x, auto y) { return x + y; }},
      {Opcode::kSubtract, [](T, auto x, auto y) { return x - y; }},
      {Opcode::kMultiply, [](T, auto x, auto y) { return Product(x, y); }},
      {Opcode::kDivide, [](T, auto x, auto y) { return y == 0 ? __int128{-1} : x / y; }},
      {Opcode::kRemainder, [](T, auto x, auto y) { return y == 0 ? x : x % y; }},
      {Opcode::kMaximum, [](T, auto x, auto y) { return x > y ? x : y; }},
      {Opcode::kMinimum, [](T, auto x, auto y) { return x < y ? x : y; }},
      {Opcode::kAnd, [](T, auto x, auto y) { return x & y; }},
      {Opcode::kOr, [](T, auto x, auto y) { return x | y; }},
      {Opcode::kXor, [](T, auto x, auto y) { return x ^ y; }},
      {Opcode::kPower, Power},
      {Opcode::kMulhi,
       [](T t, auto x, auto y) {
         __int128 product = Product(x, y);
         return IsSigned(t) ? product >> BitWidth(t)
                            : __int128(static_cast<unsigned __int128>(product) >> BitWidth(t));
       }},
      {Opcode::kShiftLeft,
       [](T t, auto x, auto y) { return Amount(t, y) >= BitWidth(t) ? __int128{0} : x << int(Amount(t, y)); }},
      {Opcode::kShiftRightLogical,
       [](T t, auto x, auto y) { return Amount(t, y) >= BitWidth(t) ? __int128{0} : Amount(t, x) >> int(Amount(t, y)); }},
      {Opcode::kShiftRightArithmetic,
       [](T t, auto x, auto y) {
         int spare = 128 - BitWidth(t);
         __int128 extended = static_cast<__int128>(static_cast<unsigned __int128>(x) << spare) >> spare;
         return extended >> int(std::min<__int128>(Amount(t, y), BitWidth(t) - 1));
       }},
      {Opcode::kAbs, [](T, auto x, auto) { return x < 0 ? -x : x; }},
      {Opcode::kNegate, [](T, auto x, auto) { return -x; }},
      {Opcode::kNot, [](T, auto x, auto) { return ~x; }},
      {Opcode::kSign, [](T, auto x, auto) { return __int128{(x > 0) - (x < 0)}; }},
      {Opcode::kPopulationCount,
       [](T t, auto x, auto) { return __int128{__builtin_popcountll(static_cast<uint64_t>(Amount(t, x)))}; }},
      {Opcode::kCountLeadingZeros, [](T t, auto x, auto) {
         uint64_t bits = static_cast<uint64_t>(Amount(t, x));
         return __int128{bits == 0 ? BitWidth(t) : __builtin_clzll(bits) - (64 - BitWidth(t))};
       }}};
  return rows;
}

TEST(Integer, OperationsMatchWideArithmetic) {
  for (T type : kIntegers) {
    Patterns x, y;
    IntegerPairs(type, x, y);
    for (const IntegerRow& row : IntegerRows()) {
      bool unary = Info(row.opcode).min_operands == 1;
      Patterns out = unary ? RunUnary(row.opcode, type, x) : RunBinary(row.opcode, type, x, y);
      for (size_t i = 0; i < x.size(); ++i) {
        __int128 a = ValueOf(type, x[i]), b = ValueOf(type, y[i]);
        ASSERT_EQ(out[i], PatternOf(type, row.exact(type, a, b)))
            << AsStd(Text(row.opcode)) << " " << Name(type) << " of " << int64_t(a) << ", "
            << int64_t(b);
      }
    }
  }
}

TEST(Integer, DividesByConstants) {
  for (int64_t divisor : {0, 1, -1, 7, -7, 256}) {
    Patterns x, y;
    IntegerPairs(T::kS32, x, y);
    for (Opcode opcode : {Opcode::kDivide, Opcode::kRemainder}) {
      auto emit = [&](llvm::IRBuilderBase& b, const ScalarValue& v, const ScalarValue&) {
        int32_t constant = static_cast<int32_t>(divisor);
        return EmitBinary(b, opcode, T::kS32, v, ConstantElement(b, T::kS32, &constant));
      };
      Patterns out = RunLoop(T::kS32, T::kS32, T::kS32, emit, x, y);
      for (size_t i = 0; i < x.size(); ++i) {
        int64_t a = static_cast<int32_t>(x[i]);
        int64_t quotient = divisor == 0 ? -1 : a / divisor, rest = divisor == 0 ? a : a % divisor;
        ASSERT_EQ(out[i], static_cast<uint32_t>(opcode == Opcode::kDivide ? quotient : rest))
            << a << " " << divisor;
      }
    }
  }
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
