// Elementwise operations on every element type against plain C++ that shares nothing with the emitters.
#include "codegen/scalar_ops.h"

#include <cmath>
#include <complex>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "codegen/math_jit_internal.h"
#include "gtest/gtest.h"
#include "support/status.h"
#include "types/float_convert.h"

namespace hlokit {
namespace {

using T = ElementType;
using Patterns = std::vector<uint64_t>;  // one bit pattern an element, as in memory
using Emit = std::function<ScalarValue(llvm::IRBuilderBase&, const ScalarValue&, const ScalarValue&)>;

constexpr T kNarrowFloats[] = {T::kF16,          T::kBF16,   T::kF8E5M2,       T::kF8E4M3FN, T::kF8E4M3,    T::kF8E3M4,
                               T::kF8E4M3B11FNUZ, T::kF8E5M2FNUZ, T::kF8E4M3FNUZ, T::kF4E2M1FN, T::kF8E8M0FNU};
constexpr T kIntegers[] = {T::kS1, T::kS2, T::kS4, T::kS8, T::kS16, T::kS32, T::kS64,
                           T::kU1, T::kU2, T::kU4, T::kU8, T::kU16, T::kU32, T::kU64};

std::string Name(T type) { return std::string(AsStd(Text(type))); }

template <typename To, typename From>
To Cast(From from) {
  To to{};
  std::memcpy(&to, &from, std::min(sizeof to, sizeof from));
  return to;
}

std::vector<uint8_t> Pack(T type, const Patterns& patterns) {
  int width = ByteWidth(type);
  std::vector<uint8_t> bytes(patterns.size() * width);
  for (size_t i = 0; i < patterns.size(); ++i) std::memcpy(&bytes[i * width], &patterns[i], width);
  return bytes;
}

// out[i] = emit(x[i], y[i]) through compiled code.
Patterns RunLoop(T x_type, T y_type, T out_type, const Emit& emit, const Patterns& x, const Patterns& y) {
  JitResult jit = JitLoop(
      [&](llvm::LLVMContext& context) {
        return ElementTypes{MemoryType(context, x_type), MemoryType(context, y_type), MemoryType(context, out_type)};
      },
      [&](llvm::IRBuilderBase& b, llvm::Value* a, llvm::Value* c, llvm::Value* out) {
        ScalarValue result = emit(b, LoadElement(b, x_type, a), LoadElement(b, y_type, c));
        StoreElement(b, out_type, result, out);
      });
  std::vector<uint8_t> a = Pack(x_type, x), b = Pack(y_type, y);
  int width = ByteWidth(out_type);
  std::vector<uint8_t> bytes(x.size() * width);
  jit.loop(a.data(), b.data(), bytes.data(), static_cast<int64_t>(x.size()));
  Patterns out(x.size());
  for (size_t i = 0; i < out.size(); ++i) std::memcpy(&out[i], &bytes[i * width], width);
  return out;
}

Patterns RunUnary(Opcode opcode, T type, const Patterns& x) {
  return RunLoop(type, type, type, [&](auto& b, auto& v, auto&) { return EmitUnary(b, opcode, type, v); }, x, x);
}

Patterns RunBinary(Opcode opcode, T type, const Patterns& x, const Patterns& y) {
  return RunLoop(type, type, type, [&](auto& b, auto& v, auto& w) { return EmitBinary(b, opcode, type, v, w); }, x, y);
}

Patterns RunConvert(T from, T to, const Patterns& x) {
  return RunLoop(from, from, to, [&](auto& b, auto& v, auto&) { return EmitConvert(b, from, to, v); }, x, x);
}

// Every pattern of a type of up to 16 bits.
Patterns AllPatterns(T type) {
  Patterns all;
  for (uint64_t i = 0; i < uint64_t{1} << BitWidth(type); ++i) all.push_back(i);
  return all;
}

bool IsNaNPattern(T type, uint64_t bits) { return std::isnan(FloatFromBits(type, bits)); }

// Floats from everywhere: random patterns, values near those of narrow formats, ties among them.
std::vector<double> ManyFloats() {
  std::vector<double> values = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1e-320, 3e38, 1e300, -1e300, 0.5, 1.5, 2.5};
  std::mt19937_64 random(11);
  for (int i = 0; i < 30000; ++i) values.push_back(Cast<float>(static_cast<uint32_t>(random())));
  for (int exponent = -40; exponent < 20; ++exponent) {
    for (int m = 16; m < 64; ++m) {
      double v = std::ldexp(m, exponent);
      values.insert(values.end(), {v, -v, std::nextafter(v, INFINITY), std::nextafter(v, 0.0)});
    }
  }
  return values;
}

TEST(NarrowFloat, DecodesEveryPattern) {
  for (T type : kNarrowFloats) {
    Patterns in = AllPatterns(type), out = RunConvert(type, T::kF32, in);
    for (size_t i = 0; i < in.size(); ++i) {
      float got = Cast<float>(static_cast<uint32_t>(out[i])), want = static_cast<float>(FloatFromBits(type, in[i]));
      if (std::isnan(want)) {
        ASSERT_TRUE(std::isnan(got)) << Name(type) << " " << in[i];
      } else {
        ASSERT_EQ(Cast<uint32_t>(got), Cast<uint32_t>(want)) << Name(type) << " " << in[i];
      }
    }
  }
}

TEST(NarrowFloat, KeepsEveryPatternThroughMemory) {
  for (T type : kNarrowFloats) {
    Patterns in = AllPatterns(type), out = RunUnary(Opcode::kCopy, type, in);
    for (size_t i = 0; i < in.size(); ++i) {
      if (IsNaNPattern(type, in[i])) {
        ASSERT_TRUE(IsNaNPattern(type, out[i])) << Name(type) << " " << in[i];
      } else {
        ASSERT_EQ(out[i], in[i]) << Name(type);
      }
    }
  }
}

TEST(NarrowFloat, RoundsOnceFromFloatAndDouble) {
  std::vector<double> values = ManyFloats();
  for (T type : kNarrowFloats) {
    for (T from : {T::kF32, T::kF64}) {
      Patterns in;
      for (double v : values) in.push_back(FloatToBits(from, v));
      Patterns out = RunConvert(from, type, in);
      for (size_t i = 0; i < in.size(); ++i) {
        double v = FloatFromBits(from, in[i]);
        uint64_t want = FloatToBits(type, v);
        if (std::isnan(v) && IsNaNPattern(type, out[i])) continue;
        ASSERT_EQ(out[i], want) << Name(from) << " to " << Name(type) << " of " << v;
      }
    }
  }
}

TEST(NarrowFloat, FunctionsAreRoundedFromNearlyExactFloats) {
  struct Row {
    Opcode opcode;
    double (*exact)(double);
  };
  const Row rows[] = {
      {Opcode::kExponential, std::exp}, {Opcode::kTanh, std::tanh},    {Opcode::kLog, std::log},
      {Opcode::kSine, std::sin},        {Opcode::kErf, std::erf},      {Opcode::kLogPlusOne, std::log1p},
      {Opcode::kSqrt, std::sqrt},       {Opcode::kCeil, std::ceil},    {Opcode::kFloor, std::floor},
      {Opcode::kRoundNearestEven, std::nearbyint}, {Opcode::kRoundNearestAfz, std::round},
      {Opcode::kNegate, [](double x) { return -x; }}, {Opcode::kAbs, [](double x) { return std::fabs(x); }},
      {Opcode::kCbrt, std::cbrt},       {Opcode::kAsinh, std::asinh}};
  for (T type : {T::kF16, T::kBF16, T::kF8E5M2, T::kF8E4M3FN, T::kF8E3M4, T::kF8E4M3FNUZ, T::kF8E8M0FNU}) {
    for (const Row& row : rows) {
      Patterns in = AllPatterns(type), out = RunUnary(row.opcode, type, in);
      for (size_t i = 0; i < in.size(); ++i) {
        float exact = static_cast<float>(row.exact(FloatFromBits(type, in[i])));
        float low = exact, high = exact;
        for (int ulp = 0; ulp < 2; ++ulp) {
          low = std::nextafter(low, -INFINITY);
          high = std::nextafter(high, INFINITY);
        }
        uint64_t want = FloatToBits(type, exact);
        bool fits = out[i] == want || out[i] == FloatToBits(type, low) || out[i] == FloatToBits(type, high) ||
                    (IsNaNPattern(type, want) && IsNaNPattern(type, out[i]));
        ASSERT_TRUE(fits) << AsStd(Text(row.opcode)) << " " << Name(type) << " of " << FloatFromBits(type, in[i])
                          << ": got " << FloatFromBits(type, out[i]) << " want " << FloatFromBits(type, want);
      }
    }
  }
}

// ---- integers ----

// The mathematical value of a pattern, and back by wrapping.
__int128 ValueOf(T type, uint64_t bits) {
  int spare = 64 - BitWidth(type);
  uint64_t top = bits << spare;
  return IsSigned(type) ? __int128{static_cast<int64_t>(top) >> spare} : __int128{top >> spare};
}

uint64_t PatternOf(T type, __int128 value) {
  uint64_t wrapped = static_cast<uint64_t>(ValueOf(type, static_cast<uint64_t>(value)));
  int bytes = ByteWidth(type);
  return bytes == 8 ? wrapped : wrapped & ((uint64_t{1} << (8 * bytes)) - 1);
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
      {Opcode::kMultiply, [](T, auto x, auto y) { return x * y; }},
      {Opcode::kDivide, [](T, auto x, auto y) { return y == 0 ? __int128{-1} : x / y; }},
      {Opcode::kRemainder, [](T, auto x, auto y) { return y == 0 ? x : x % y; }},
      {Opcode::kMaximum, [](T, auto x, auto y) { return x > y ? x : y; }},
      {Opcode::kMinimum, [](T, auto x, auto y) { return x < y ? x : y; }},
      {Opcode::kAnd, [](T, auto x, auto y) { return x & y; }},
      {Opcode::kOr, [](T, auto x, auto y) { return x | y; }},
      {Opcode::kXor, [](T, auto x, auto y) { return x ^ y; }},
      {Opcode::kPower, Power},
      {Opcode::kMulhi, [](T t, auto x, auto y) { return (x * y) >> BitWidth(t); }},
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

// All pairs of small types, special and random pairs of large ones.
void IntegerPairs(T type, Patterns& x, Patterns& y) {
  Patterns values;
  if (BitWidth(type) <= 8) {
    for (uint64_t bits : AllPatterns(type)) values.push_back(PatternOf(type, ValueOf(type, bits)));
  } else {
    std::mt19937_64 random(5);
    for (int64_t v : {0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 65, 1000}) {
      values.push_back(PatternOf(type, v));
      values.push_back(PatternOf(type, -v));
    }
    for (int shift : {1, 0}) {
      uint64_t top = uint64_t{1} << (BitWidth(type) - 1);
      values.push_back(PatternOf(type, top - shift));
      values.push_back(PatternOf(type, ~top + shift));
    }
    for (int i = 0; i < 300; ++i) values.push_back(PatternOf(type, random() >> (i % 64)));
  }
  for (uint64_t a : values) {
    for (uint64_t b : values) x.push_back(a), y.push_back(b);
  }
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
            << AsStd(Text(row.opcode)) << " " << Name(type) << " of " << int64_t(a) << ", " << int64_t(b);
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
        ASSERT_EQ(out[i], static_cast<uint32_t>(opcode == Opcode::kDivide ? quotient : rest)) << a << " " << divisor;
      }
    }
  }
}

// ---- conversions ----

// trunc(v) saturated to the type's range, NaN to 0.
uint64_t SaturatedPattern(T type, double v) {
  if (std::isnan(v)) return 0;
  int bits = BitWidth(type) - IsSigned(type);
  double above = std::ldexp(1.0, bits), below = IsSigned(type) ? -above : 0;
  __int128 highest = (__int128{1} << bits) - 1, lowest = IsSigned(type) ? -highest - 1 : 0;
  return PatternOf(type, v >= above ? highest : v <= below ? lowest : static_cast<__int128>(v));
}

TEST(Convert, FloatToIntegerTruncatesAndSaturates) {
  std::vector<double> values = ManyFloats();
  for (T to : kIntegers) {
    for (int bit : {BitWidth(to) - 1, BitWidth(to)}) {
      double edge = std::ldexp(1.0, bit);
      for (double v : {edge, edge - 0.5, edge - 1, edge + 1, std::nextafter(edge, 0.0), std::nextafter(edge, 1e30)})
        values.insert(values.end(), {v, -v});
    }
  }
  for (T from : {T::kF32, T::kF64, T::kBF16, T::kF8E5M2}) {
    for (T to : kIntegers) {
      Patterns in;
      for (double v : values) in.push_back(FloatToBits(from, v));
      Patterns out = RunConvert(from, to, in);
      for (size_t i = 0; i < in.size(); ++i) {
        double v = FloatFromBits(from, in[i]);
        ASSERT_EQ(out[i], SaturatedPattern(to, v)) << Name(from) << " to " << Name(to) << " of " << v;
      }
    }
  }
}

TEST(Convert, IntegerToFloatRounds) {
  for (T from : kIntegers) {
    Patterns x, y;
    IntegerPairs(from, x, y);
    for (T to : {T::kF32, T::kF64, T::kBF16, T::kF16, T::kF8E4M3FN, T::kF8E3M4}) {
      Patterns out = RunConvert(from, to, x);
      for (size_t i = 0; i < x.size(); ++i) {
        __int128 v = ValueOf(from, x[i]);
        uint64_t want = to == T::kF32 ? Cast<uint32_t>(static_cast<float>(v)) : FloatToBits(to, static_cast<double>(v));
        ASSERT_EQ(out[i], want) << Name(from) << " to " << Name(to) << " of " << int64_t(v);
      }
    }
  }
}

TEST(Convert, IntegersWrapAndPredAsks) {
  for (T from : kIntegers) {
    Patterns x, y;
    IntegerPairs(from, x, y);
    for (T to : {T::kS1, T::kS4, T::kU4, T::kS8, T::kU16, T::kS32, T::kU64}) {
      Patterns out = RunConvert(from, to, x);
      for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(out[i], PatternOf(to, ValueOf(from, x[i])));
    }
    Patterns preds = RunConvert(from, T::kPred, x);
    for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(preds[i], x[i] != 0);
  }
  Patterns floats = {0, 0x80000000, 0x7fc00000, 0x3f800000, 1};
  EXPECT_EQ(RunConvert(T::kF32, T::kPred, floats), (Patterns{0, 0, 1, 1, 1}));
  EXPECT_EQ(RunConvert(T::kPred, T::kS4, {0, 1}), (Patterns{0, 1}));
  EXPECT_EQ(RunConvert(T::kPred, T::kF32, {0, 1}), (Patterns{0, 0x3f800000}));
  EXPECT_EQ(RunConvert(T::kC64, T::kF32, {0x3f80000040000000}), (Patterns{0x40000000}));
  EXPECT_EQ(RunConvert(T::kS32, T::kC64, {2}), (Patterns{0x40000000}));
}

TEST(Convert, ReducePrecisionFollowsTheExample) {
  auto reduce = [](T type, int exponent, int mantissa, const std::vector<double>& values) {
    Patterns in;
    for (double v : values) in.push_back(FloatToBits(type, v));
    auto emit = [&](auto& b, auto& v, auto&) { return EmitReducePrecision(b, type, exponent, mantissa, v); };
    std::vector<double> out;
    for (uint64_t bits : RunLoop(type, type, type, emit, in, in)) out.push_back(FloatFromBits(type, bits));
    return out;
  };
  std::vector<double> values = {1.0001, 65519, 65520, 1e-8, 2049, 6.2e-5, 6.1e-5, -INFINITY};
  std::vector<double> want = {1, 65504, INFINITY, 0, 2048, static_cast<float>(6.198883e-5), 0, -INFINITY};
  EXPECT_EQ(reduce(T::kF32, 5, 10, values), want);
  EXPECT_EQ(reduce(T::kF64, 5, 10, {1.0001, 65520, 2049}), (std::vector<double>{1, INFINITY, 2048}));
  EXPECT_EQ(reduce(T::kF32, 8, 0, {1.5, 1.4, 2.5}), (std::vector<double>{2, 1, 2}));
  EXPECT_EQ(reduce(T::kF32, 8, 23, {1.1}), (std::vector<double>{static_cast<float>(1.1)}));
  EXPECT_TRUE(std::isnan(reduce(T::kF32, 4, 3, {NAN})[0]));
}

// ---- float and pred operations ----

// A number that orders small values as total order does.
double TotalOrderRank(double v) {
  double rank = std::isnan(v) ? 1e9 : std::isinf(v) ? 1e8 : v == 0 ? 1e-9 : std::fabs(v);
  return std::copysign(rank, v);
}

TEST(Float, MinMaxCompareAndClampOnSpecialValues) {
  std::vector<double> values = {0.0, -0.0, 1, -1, INFINITY, -INFINITY, NAN, -NAN, 2.5, -2.5};
  for (T type : {T::kF32, T::kF64, T::kBF16, T::kF8E5M2}) {
    Patterns x, y;
    for (double a : values) {
      for (double b : values) x.push_back(FloatToBits(type, a)), y.push_back(FloatToBits(type, b));
    }
    Patterns max = RunBinary(Opcode::kMaximum, type, x, y), min = RunBinary(Opcode::kMinimum, type, x, y);
    for (size_t i = 0; i < x.size(); ++i) {
      double a = FloatFromBits(type, x[i]), b = FloatFromBits(type, y[i]), high = FloatFromBits(type, max[i]), low = FloatFromBits(type, min[i]);
      if (std::isnan(a) || std::isnan(b)) {
        EXPECT_TRUE(std::isnan(high) && std::isnan(low));
        continue;
      }
      bool a_first = a < b || (a == b && std::signbit(a));
      EXPECT_EQ(max[i], a_first ? y[i] : x[i]);
      EXPECT_EQ(min[i], a_first ? x[i] : y[i]);
    }
    for (int d = 0; d < 6; ++d) {
      auto direction = static_cast<ComparisonDirection>(d);
      for (ComparisonType order : {ComparisonType::kDefault, ComparisonType::kTotalOrder}) {
        auto emit = [&](auto& b, auto& v, auto& w) { return EmitCompare(b, direction, order, type, v, w); };
        Patterns out = RunLoop(type, type, T::kPred, emit, x, y);
        for (size_t i = 0; i < x.size(); ++i) {
          double a = FloatFromBits(type, x[i]), b = FloatFromBits(type, y[i]);
          if (order == ComparisonType::kTotalOrder) a = TotalOrderRank(a), b = TotalOrderRank(b);
          bool want[] = {a == b, a != b, a >= b, a > b, a <= b, a < b};
          EXPECT_EQ(out[i], want[d]) << Name(type) << " " << d << " " << a << " " << b;
        }
      }
    }
  }
}

TEST(Float, SignAndRemainder) {
  auto f = [](float v) { return uint64_t{Cast<uint32_t>(v)}; };
  EXPECT_EQ(RunUnary(Opcode::kSign, T::kF32, {f(-3), f(-0.f), f(0), f(7), f(INFINITY)}),
            (Patterns{f(-1), f(-0.f), f(0), f(1), f(1)}));
  EXPECT_EQ(RunBinary(Opcode::kRemainder, T::kF32, {f(5.5), f(-5.5), f(5.5), f(-0.f), f(1e30f)},
                      {f(2), f(2), f(-2), f(3), f(7)}),
            (Patterns{f(1.5), f(-1.5), f(1.5), f(-0.f), f(std::fmod(1e30f, 7.f))}));
  auto finite = [](auto& b, auto& v, auto&) { return EmitUnary(b, Opcode::kIsFinite, T::kF32, v); };
  Patterns in = {f(1), f(INFINITY), f(-INFINITY), f(NAN), 1};
  EXPECT_EQ(RunLoop(T::kF32, T::kF32, T::kPred, finite, in, in), (Patterns{1, 0, 0, 0, 1}));
}

TEST(Pred, ArithmeticIsLogic) {
  Patterns x = {0, 0, 1, 1}, y = {0, 1, 0, 1};
  EXPECT_EQ(RunBinary(Opcode::kAdd, T::kPred, x, y), (Patterns{0, 1, 1, 1}));
  EXPECT_EQ(RunBinary(Opcode::kMultiply, T::kPred, x, y), (Patterns{0, 0, 0, 1}));
  EXPECT_EQ(RunBinary(Opcode::kMaximum, T::kPred, x, y), (Patterns{0, 1, 1, 1}));
  EXPECT_EQ(RunBinary(Opcode::kXor, T::kPred, x, y), (Patterns{0, 1, 1, 0}));
  EXPECT_EQ(RunUnary(Opcode::kNot, T::kPred, x), (Patterns{1, 1, 0, 0}));
  auto less = [](auto& b, auto& v, auto& w) {
    return EmitCompare(b, ComparisonDirection::kLt, ComparisonType::kDefault, T::kPred, v, w);
  };
  EXPECT_EQ(RunLoop(T::kPred, T::kPred, T::kPred, less, x, y), (Patterns{0, 1, 0, 0}));
}

TEST(Bitcast, KeepsBitsOfEqualWidth) {
  auto cast = [](T from, T to, const Patterns& in) {
    return RunLoop(from, from, to, [&](auto& b, auto& v, auto&) { return EmitBitcastConvert(b, from, to, v); }, in, in);
  };
  EXPECT_EQ(cast(T::kF32, T::kS32, {0x7f812345, 0x80000000}), (Patterns{0x7f812345, 0x80000000}));
  EXPECT_EQ(cast(T::kU64, T::kF64, {0x3ff0000000000001}), (Patterns{0x3ff0000000000001}));
  EXPECT_EQ(cast(T::kBF16, T::kU16, {0x7f81, 0x8000, 1}), (Patterns{0x7f81, 0x8000, 1}));
  EXPECT_EQ(cast(T::kU8, T::kF8E4M3FN, {0x7e, 0x80, 1}), (Patterns{0x7e, 0x80, 1}));
  EXPECT_EQ(cast(T::kS4, T::kU4, {0xff, 7}), (Patterns{0x0f, 7}));
  EXPECT_EQ(cast(T::kU4, T::kF4E2M1FN, {0x0f, 7}), (Patterns{0x0f, 7}));
}

TEST(Types, UnfitOperationsGiveNothing) {
  llvm::LLVMContext context;
  llvm::IRBuilder<> b(context);
  EXPECT_FALSE(EmitUnary(b, Opcode::kTanh, T::kS32, {b.getInt32(1)}));
  EXPECT_FALSE(EmitUnary(b, Opcode::kTranspose, T::kS32, {b.getInt32(1)}));
  EXPECT_FALSE(EmitBinary(b, Opcode::kAnd, T::kF32, ZeroElement(b, T::kF32), ZeroElement(b, T::kF32)));
  EXPECT_FALSE(EmitBinary(b, Opcode::kMaximum, T::kC64, ZeroElement(b, T::kC64), ZeroElement(b, T::kC64)));
}

// ---- complex ----

using Complex = std::complex<long double>;

struct ComplexRow {
  Opcode opcode;
  std::function<Complex(Complex, Complex)> exact;
};

#define COMPLEX_UNARY(opcode, name) \
  { Opcode::opcode, [](Complex z, Complex) { return std::name(z); } }

const std::vector<ComplexRow>& ComplexRows() {
  static const auto& rows = *new std::vector<ComplexRow>{
      COMPLEX_UNARY(kExponential, exp), COMPLEX_UNARY(kLog, log),   COMPLEX_UNARY(kSqrt, sqrt),
      COMPLEX_UNARY(kSine, sin),        COMPLEX_UNARY(kCosine, cos), COMPLEX_UNARY(kTan, tan),
      COMPLEX_UNARY(kSinh, sinh),       COMPLEX_UNARY(kCosh, cosh), COMPLEX_UNARY(kTanh, tanh),
      COMPLEX_UNARY(kAsin, asin),       COMPLEX_UNARY(kAcos, acos), COMPLEX_UNARY(kAsinh, asinh),
      COMPLEX_UNARY(kAcosh, acosh),     COMPLEX_UNARY(kAtanh, atanh),
      {Opcode::kRsqrt, [](Complex z, Complex) { return 1.0L / std::sqrt(z); }},
      {Opcode::kLogistic, [](Complex z, Complex) { return 1.0L / (1.0L + std::exp(-z)); }},
      {Opcode::kExponentialMinusOne, [](Complex z, Complex) { return std::exp(z) - 1.0L; }},
      {Opcode::kLogPlusOne, [](Complex z, Complex) { return std::log(1.0L + z); }},
      {Opcode::kSign, [](Complex z, Complex) { return z / std::abs(z); }},
      {Opcode::kNegate, [](Complex z, Complex) { return -z; }},
      {Opcode::kAdd, [](Complex z, Complex w) { return z + w; }},
      {Opcode::kSubtract, [](Complex z, Complex w) { return z - w; }},
      {Opcode::kMultiply, [](Complex z, Complex w) { return z * w; }},
      {Opcode::kDivide, [](Complex z, Complex w) { return z / w; }},
      {Opcode::kPower, [](Complex z, Complex w) { return std::pow(z, w); }}};
  return rows;
}

// c64 occupies one pattern; c128 needs two words, so it has its own runner.
std::vector<std::complex<double>> RunComplex(Opcode opcode, T type, const std::vector<std::complex<double>>& x,
                                             const std::vector<std::complex<double>>& y) {
  bool unary = Info(opcode).min_operands == 1;
  JitResult jit = JitLoop(
      [&](llvm::LLVMContext& context) {
        llvm::Type* t = MemoryType(context, type);
        return ElementTypes{t, t, t};
      },
      [&](llvm::IRBuilderBase& b, llvm::Value* a, llvm::Value* c, llvm::Value* out) {
        ScalarValue v = LoadElement(b, type, a), w = LoadElement(b, type, c);
        StoreElement(b, type, unary ? EmitUnary(b, opcode, type, v) : EmitBinary(b, opcode, type, v, w), out);
      });
  auto run = [&](auto sample) {
    using C = std::complex<decltype(sample)>;
    std::vector<C> a(x.begin(), x.end()), b(y.begin(), y.end()), out(x.size());
    jit.loop(a.data(), b.data(), out.data(), static_cast<int64_t>(x.size()));
    return std::vector<std::complex<double>>(out.begin(), out.end());
  };
  return type == T::kC64 ? run(0.0f) : run(0.0);
}

TEST(Complex, FunctionsMatchLongDouble) {
  std::mt19937_64 random(3);
  std::normal_distribution<float> normal;
  std::vector<std::complex<double>> x, y;
  for (int i = 0; i < 2000; ++i) {
    float scale = std::ldexp(1.0f, i % 9 - 5);
    x.emplace_back(normal(random) * scale, normal(random) * scale);
    y.emplace_back(normal(random), normal(random));
  }
  for (T type : {T::kC64, T::kC128}) {
    double tolerance = type == T::kC64 ? 4e-7 : 3e-14;
    for (const ComplexRow& row : ComplexRows()) {
      std::vector<std::complex<double>> out = RunComplex(row.opcode, type, x, y);
      for (size_t i = 0; i < x.size(); ++i) {
        Complex want = row.exact(x[i], y[i]);
        long double error = std::abs(Complex(out[i]) - want) / std::abs(want);
        ASSERT_LE(error, tolerance) << AsStd(Text(row.opcode)) << " " << Name(type) << " of " << x[i] << ", " << y[i]
                                    << ": got " << out[i] << " want " << std::complex<double>(want);
      }
    }
  }
}

TEST(Complex, EdgesFollowAnnexG) {
  const double inf = INFINITY;
  auto quotient = RunComplex(Opcode::kDivide, T::kC128, {{1, 0}, {1, 1}, {inf, 1}, {0, 0}}, {{0, 0}, {inf, 0}, {2, 0}, {2, 0}});
  EXPECT_EQ(quotient[0].real(), inf);
  EXPECT_EQ(quotient[1], std::complex<double>(0, 0));
  EXPECT_EQ(quotient[2].real(), inf);
  EXPECT_EQ(quotient[3], std::complex<double>(0, 0));
  auto big = RunComplex(Opcode::kDivide, T::kC128, {{1e300, 1e300}}, {{1e300, 1e300}});
  EXPECT_EQ(big[0], std::complex<double>(1, 0));
  auto zero = RunComplex(Opcode::kSqrt, T::kC64, {{0, 0}, {-4, 0}, {-4, -0.0}}, {{0, 0}, {0, 0}, {0, 0}});
  EXPECT_EQ(zero[0], std::complex<double>(0, 0));
  EXPECT_EQ(zero[1], std::complex<double>(0, 2));
  EXPECT_EQ(zero[2], std::complex<double>(0, -2));
  auto power = RunComplex(Opcode::kPower, T::kC64, {{0, 0}, {0, 0}, {3, 1}}, {{2, 0}, {0, 0}, {0, 0}});
  EXPECT_EQ(power[0], std::complex<double>(0, 0));
  EXPECT_EQ(power[1], std::complex<double>(1, 0));
  EXPECT_EQ(power[2], std::complex<double>(1, 0));
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
