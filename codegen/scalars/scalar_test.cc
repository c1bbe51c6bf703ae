// Operations on floats, preds and complex numbers at special values, bitcasts, refusals.
#include <cmath>
#include <complex>
#include <functional>
#include <random>
#include <vector>

#include "codegen/scalars/harness_internal.h"
#include "gtest/gtest.h"
#include "support/status.h"
#include "types/float_convert.h"

namespace hlokit {
namespace {

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
    Patterns max = RunBinary(Opcode::kMaximum, type, x, y),
             min = RunBinary(Opcode::kMinimum, type, x, y);
    for (size_t i = 0; i < x.size(); ++i) {
      double a = FloatFromBits(type, x[i]), b = FloatFromBits(type, y[i]),
             high = FloatFromBits(type, max[i]), low = FloatFromBits(type, min[i]);
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
        auto emit = [&](auto& b, auto& v, auto& w) {
          return EmitCompare(b, direction, order, type, v, w);
        };
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
    return RunLoop(
        from, from, to, [&](auto& b, auto& v, auto&) { return EmitBitcastConvert(b, from, to, v); },
        in, in);
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
  EXPECT_FALSE(
      EmitBinary(b, Opcode::kAnd, T::kF32, ZeroElement(b, T::kF32), ZeroElement(b, T::kF32)));
  EXPECT_FALSE(
      EmitBinary(b, Opcode::kMaximum, T::kC64, ZeroElement(b, T::kC64), ZeroElement(b, T::kC64)));
}

using Complex = std::complex<long double>;

struct ComplexRow {
  Opcode opcode;
  std::function<Complex(Complex, Complex)> exact;
};

#define COMPLEX_UNARY(opcode, name)                                 \
  {                                                                 \
    Opcode::opcode, [](Complex z, Complex) { return std::name(z); } \
  }

const std::vector<ComplexRow>& ComplexRows() {
  static const auto& rows = *new std::vector<ComplexRow>{
      COMPLEX_UNARY(kExponential, exp),
      COMPLEX_UNARY(kLog, log),
      COMPLEX_UNARY(kSqrt, sqrt),
      COMPLEX_UNARY(kSine, sin),
      COMPLEX_UNARY(kCosine, cos),
      COMPLEX_UNARY(kTan, tan),
      COMPLEX_UNARY(kSinh, sinh),
      COMPLEX_UNARY(kCosh, cosh),
      COMPLEX_UNARY(kTanh, tanh),
      COMPLEX_UNARY(kAsin, asin),
      COMPLEX_UNARY(kAcos, acos),
      COMPLEX_UNARY(kAsinh, asinh),
      COMPLEX_UNARY(kAcosh, acosh),
      COMPLEX_UNARY(kAtanh, atanh),
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
std::vector<std::complex<double>> RunComplex(Opcode opcode, T type,
                                             const std::vector<std::complex<double>>& x,
                                             const std::vector<std::complex<double>>& y) {
  bool unary = Info(opcode).min_operands == 1;
  JitResult jit = JitLoop(
      [&](llvm::LLVMContext& context) {
        llvm::Type* t = MemoryType(context, type);
        return ElementTypes{t, t, t};
      },
      [&](llvm::IRBuilderBase& b, llvm::Value* a, llvm::Value* c, llvm::Value* out) {
        ScalarValue v = LoadElement(b, type, a), w = LoadElement(b, type, c);
        StoreElement(b, type,
                     unary ? EmitUnary(b, opcode, type, v) : EmitBinary(b, opcode, type, v, w),
                     out);
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
        ASSERT_LE(error, tolerance)
            << AsStd(Text(row.opcode)) << " " << Name(type) << " of " << x[i] << ", " << y[i]
            << ": got " << out[i] << " want " << std::complex<double>(want);
      }
    }
  }
}

TEST(Complex, EdgesFollowAnnexG) {
  const double inf = INFINITY;
  auto quotient = RunComplex(Opcode::kDivide, T::kC128, {{1, 0}, {1, 1}, {inf, 1}, {0, 0}},
                             {{0, 0}, {inf, 0}, {2, 0}, {2, 0}});
  EXPECT_EQ(quotient[0].real(), inf);
  EXPECT_EQ(quotient[1], std::complex<double>(0, 0));
  EXPECT_EQ(quotient[2].real(), inf);
  EXPECT_EQ(quotient[3], std::complex<double>(0, 0));
  auto big = RunComplex(Opcode::kDivide, T::kC128, {{1e300, 1e300}}, {{1e300, 1e300}});
  EXPECT_EQ(big[0], std::complex<double>(1, 0));
  auto zero =
      RunComplex(Opcode::kSqrt, T::kC64, {{0, 0}, {-4, 0}, {-4, -0.0}}, {{0, 0}, {0, 0}, {0, 0}});
  EXPECT_EQ(zero[0], std::complex<double>(0, 0));
  EXPECT_EQ(zero[1], std::complex<double>(0, 2));
  EXPECT_EQ(zero[2], std::complex<double>(0, -2));
  auto power =
      RunComplex(Opcode::kPower, T::kC64, {{0, 0}, {0, 0}, {3, 1}}, {{2, 0}, {0, 0}, {0, 0}});
  EXPECT_EQ(power[0], std::complex<double>(0, 0));
  EXPECT_EQ(power[1], std::complex<double>(1, 0));
  EXPECT_EQ(power[2], std::complex<double>(1, 0));
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
