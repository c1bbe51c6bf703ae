// Conversions between element types, and the narrow float formats, against types/.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "codegen/scalars/harness_internal.h"
#include "gtest/gtest.h"
#include "support/status.h"
#include "types/float_convert.h"

namespace hlokit {
namespace {

bool IsNaNPattern(T type, uint64_t bits) { return std::isnan(FloatFromBits(type, bits)); }

TEST(NarrowFloat, DecodesEveryPattern) {
  for (T type : kNarrowFloats) {
    Patterns in = AllPatterns(type), out = RunConvert(type, T::kF32, in);
    for (size_t i = 0; i < in.size(); ++i) {
      float got = Cast<float>(static_cast<uint32_t>(out[i])),
            want = static_cast<float>(FloatFromBits(type, in[i]));
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

// Halfway between neighbours of the type, and next to it: where a second rounding shows.
std::vector<double> Ties(T type) {
  std::vector<double> values;
  for (uint64_t pattern : AllPatterns(type)) {
    if (pattern % 7 != 0 || IsNaNPattern(type, pattern) || IsNaNPattern(type, pattern + 1))
      continue;
    const double tie = (FloatFromBits(type, pattern) + FloatFromBits(type, pattern + 1)) / 2;
    if (std::isfinite(tie))
      for (double nudge : {-0x1p-45, 0.0, 0x1p-45}) values.push_back(tie * (1 + nudge));
  }
  return values;
}

// f16 and bf16 are reached from f64 by way of f32, as in XLA.
TEST(NarrowFloat, RoundsAsXlaFromFloatAndDouble) {
  for (T type : kNarrowFloats) {
    std::vector<double> values = ManyFloats();
    for (double tie : Ties(type)) values.push_back(tie);
    for (T from : {T::kF32, T::kF64}) {
      Patterns in;
      for (double v : values) in.push_back(FloatToBits(from, v));
      Patterns out = RunConvert(from, type, in);
      for (size_t i = 0; i < in.size(); ++i) {
        double v = FloatFromBits(from, in[i]);
        uint64_t want = FloatToBits(type, BitWidth(type) == 16 ? static_cast<float>(v) : v);
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
  const Row rows[] = {{Opcode::kExponential, std::exp},
                      {Opcode::kTanh, std::tanh},
                      {Opcode::kLog, std::log},
                      {Opcode::kSine, std::sin},
                      {Opcode::kErf, std::erf},
                      {Opcode::kLogPlusOne, std::log1p},
                      {Opcode::kSqrt, std::sqrt},
                      {Opcode::kCeil, std::ceil},
                      {Opcode::kFloor, std::floor},
                      {Opcode::kRoundNearestEven, std::nearbyint},
                      {Opcode::kRoundNearestAfz, std::round},
                      {Opcode::kNegate, [](double x) { return -x; }},
                      {Opcode::kAbs, [](double x) { return std::fabs(x); }},
                      {Opcode::kCbrt, std::cbrt},
                      {Opcode::kAsinh, std::asinh}};
  for (T type :
       {T::kF16, T::kBF16, T::kF8E5M2, T::kF8E4M3FN, T::kF8E3M4, T::kF8E4M3FNUZ, T::kF8E8M0FNU}) {
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
        bool fits = out[i] == want || out[i] == FloatToBits(type, low) ||
                    out[i] == FloatToBits(type, high) ||
                    (IsNaNPattern(type, want) && IsNaNPattern(type, out[i]));
        ASSERT_TRUE(fits) << AsStd(Text(row.opcode)) << " " << Name(type) << " of "
                          << FloatFromBits(type, in[i]) << ": got " << FloatFromBits(type, out[i])
                          << " want " << FloatFromBits(type, want);
      }
    }
  }
}

// In fewer steps than the floats' functions, but to the same bits.
TEST(NarrowFloat, QuickFunctionsOfBF16RoundToTheExactResult) {
  const auto logistic = [](double x) {
    return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
  };
  const Patterns in = AllPatterns(T::kBF16);
  for (const Opcode opcode : {Opcode::kLogistic, Opcode::kTanh}) {
    ASSERT_TRUE(IsQuickInBF16(opcode));
    const Patterns out = RunUnary(opcode, T::kBF16, in);
    for (size_t i = 0; i < in.size(); ++i) {
      const double x = FloatFromBits(T::kBF16, in[i]);
      const uint64_t quiet = in[i] | 0x40;  // NaNs propagate
      const double want = static_cast<float>(opcode == Opcode::kTanh ? std::tanh(x) : logistic(x));
      EXPECT_EQ(out[i], std::isnan(x) ? quiet : FloatToBits(T::kBF16, want))
          << AsStd(Text(opcode)) << " " << x;
    }
  }
}

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
      for (double v : {edge, edge - 0.5, edge - 1, edge + 1, std::nextafter(edge, 0.0),
                       std::nextafter(edge, 1e30)})
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
        ASSERT_EQ(out[i], SaturatedPattern(to, v))
            << Name(from) << " to " << Name(to) << " of " << v;
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
        uint64_t want = to == T::kF64 ? FloatToBits(to, static_cast<double>(v))
                                      : FloatToBits(to, static_cast<float>(v));
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
    auto emit = [&](auto& b, auto& v, auto&) {
      return EmitReducePrecision(b, type, exponent, mantissa, v);
    };
    std::vector<double> out;
    for (uint64_t bits : RunLoop(type, type, type, emit, in, in))
      out.push_back(FloatFromBits(type, bits));
    return out;
  };
  std::vector<double> values = {1.0001, 65519, 65520, 1e-8, 2049, 6.2e-5, 6.1e-5, -INFINITY};
  std::vector<double> want = {1, 65504,    INFINITY, 0, 2048, static_cast<float>(6.198883e-5),
                              0, -INFINITY};
  EXPECT_EQ(reduce(T::kF32, 5, 10, values), want);
  EXPECT_EQ(reduce(T::kF64, 5, 10, {1.0001, 65520, 2049}),
            (std::vector<double>{1, INFINITY, 2048}));
  EXPECT_EQ(reduce(T::kF32, 8, 0, {1.5, 1.4, 2.5}), (std::vector<double>{2, 1, 2}));
  EXPECT_EQ(reduce(T::kF32, 8, 23, {1.1}), (std::vector<double>{static_cast<float>(1.1)}));
  const double subnormal = std::ldexp(1, -24);
  EXPECT_EQ(reduce(T::kF16, 5, 10, {subnormal, -3 * subnormal, 1.5}),
            (std::vector<double>{subnormal, -3 * subnormal, 1.5}));
  EXPECT_EQ(reduce(T::kBF16, 5, 3, {1.0625, 1.1875, 1e6}),
            (std::vector<double>{1, 1.25, INFINITY}));
  // As half floats: what is too large for four bits of exponent, or below their normal range.
  EXPECT_EQ(reduce(T::kF8E4M3FN, 4, 1, {1.25, 1.75, 192, 0.0078125}),
            (std::vector<double>{1, 2, 192, 0}));
  EXPECT_TRUE(std::isnan(reduce(T::kF8E4M3FN, 4, 1, {384})[0]));
  EXPECT_EQ(reduce(T::kF8E3M4, 4, 1, {0.015625, 0.046875}),
            (std::vector<double>{0.015625, 0.046875}));
  EXPECT_EQ(reduce(T::kF4E2M1FN, 2, 1, {0.5, 4, 1.5}), (std::vector<double>{0, 6, 1.5}));
  EXPECT_TRUE(std::isnan(reduce(T::kF32, 4, 3, {NAN})[0]));
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
