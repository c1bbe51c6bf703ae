// Accuracy of the elementary functions, measured in ulp against libm in a wider type.
// HLOKIT_SLOW=1 sweeps floats densely; HLOKIT_MATH_REPORT=1 prints the worst errors. For their
// speed see benchmarks/math_benchmark.cc.
#include "codegen/math/functions.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "codegen/math/jit_internal.h"
#include "codegen/math/special_floats.h"
#include "gtest/gtest.h"

namespace hlokit {
namespace {

struct Function {
  const char* name;
  Val (*emit1)(Val);
  Val (*emit2)(Val, Val);
  long double (*exact)(long double, long double);
  double (*wide)(double, double);  // libm, the reference for float
};

#define UNARY(emit, c)                                                                            \
  {                                                                                               \
#emit, emit, nullptr,                                                                         \
        [](long double x,                                                                         \
           long double) -> long double { return c##l(x); }, [](double x,                          \
                                                               double) -> double { return c(x); } \
  }
#define BINARY(emit, c)                                                                        \
  {                                                                                            \
#emit, nullptr, emit,                                                                      \
        [](long double x, long double y)                                                       \
             -> long double { return c##l(x, y); }, [](double x,                               \
                                                       double y) -> double { return c(x, y); } \
  }

template <typename T>
T ExactLogistic(T x) {
  return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
}

// The short form where it holds.
template <Val (*bounded)(Val), Val (*general)(Val)>
Val Quick(Val x) {
  return x.is_f64() ? general(x) : Select(Abs(x) < kTrigBound, bounded(x), general(x));
}

// Where the short form holds, it gives the same bits.
Val UpToZero(Val x) {
  const Val quick = ExpOfNegative(x), general = Exp(x);
  const Val same = Unordered(x, x) | (quick == general);
  return Select(x > 0, general, Select(same, quick, -1));
}

const Function kFunctions[] = {
    UNARY(Exp, exp),
    {"ExpOfNegative", UpToZero, nullptr,
     [](long double x, long double) -> long double { return expl(x); },
     [](double x, double) -> double { return exp(x); }},
    UNARY(Expm1, expm1),
    UNARY(Sinh, sinh),
    UNARY(Cosh, cosh),
    UNARY(Tanh, tanh),
    UNARY(Log, log),
    UNARY(Log1p, log1p),
    UNARY(Asinh, asinh),
    UNARY(Acosh, acosh),
    UNARY(Atanh, atanh),
    UNARY(Sin, sin),
    UNARY(Cos, cos),
    UNARY(Tan, tan),
    UNARY(Asin, asin),
    UNARY(Acos, acos),
    UNARY(Atan, atan),
    UNARY(Cbrt, cbrt),
    UNARY(Erf, erf),
    BINARY(Atan2, atan2),
    BINARY(Pow, pow),
    BINARY(Hypot, hypot),
    {"BoundedSin", Quick<BoundedSin, Sin>, nullptr,
     [](long double x, long double) -> long double { return sinl(x); },
     [](double x, double) -> double { return sin(x); }},
    {"BoundedCos", Quick<BoundedCos, Cos>, nullptr,
     [](long double x, long double) -> long double { return cosl(x); },
     [](double x, double) -> double { return cos(x); }},
    {"Logistic", Logistic, nullptr, [](long double x, long double) { return ExactLogistic(x); },
     [](double x, double) { return ExactLogistic(x); }},
    {"Rsqrt", Rsqrt, nullptr, [](long double x, long double) { return 1 / std::sqrt(x); },
     [](double x, double) { return 1 / std::sqrt(x); }},
};

// A loop over T, or over vectors of T where `lanes` > 1.
template <typename T>
JitResult Compile(const Function& f, unsigned lanes = 1) {
  auto type = [lanes](llvm::LLVMContext& context) -> llvm::Type* {
    llvm::Type* scalar =
        sizeof(T) == 8 ? llvm::Type::getDoubleTy(context) : llvm::Type::getFloatTy(context);
    return lanes == 1 ? scalar : llvm::FixedVectorType::get(scalar, lanes);
  };
  return JitLoop(
      [&](llvm::LLVMContext& context) {
        return ElementTypes{type(context), type(context), type(context)};
      },
      [&](llvm::IRBuilderBase& b, llvm::Value* a, llvm::Value* c, llvm::Value* out) {
        llvm::Type* t = type(b.getContext());
        llvm::Align align(sizeof(T));
        Val x(b, b.CreateAlignedLoad(t, a, align));
        Val y = x.With(b.CreateAlignedLoad(t, c, align));
        b.CreateAlignedStore((f.emit1 ? f.emit1(x) : f.emit2(x, y)).get(), out, align);
      });
}

// Neighbouring values are neighbouring integers, across zero and up to infinity.
template <typename T>
int64_t Rank(T x) {
  using Bits = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;
  Bits bits;
  std::memcpy(&bits, &x, sizeof x);
  return bits < 0 ? int64_t{std::numeric_limits<Bits>::min()} - bits : int64_t{bits};
}

constexpr int64_t kWrong = int64_t{1} << 40;

template <typename T>
int64_t UlpError(T got, T want) {
  if (std::isnan(got) || std::isnan(want)) return std::isnan(got) == std::isnan(want) ? 0 : kWrong;
  if (want == 0 && got == 0) return std::signbit(got) == std::signbit(want) ? 0 : kWrong;
  return std::abs(Rank(got) - Rank(want));
}

template <typename T>
struct Worst {
  int64_t ulp = 0;
  T x = 0, y = 0, got = 0, want = 0;
};

template <typename T, typename Reference>
Worst<T> Measure(const JitResult& jit, const std::vector<T>& x, const std::vector<T>& y,
                 Reference reference) {
  std::vector<T> out(x.size());
  jit.loop(x.data(), y.data(), out.data(), x.size());
  Worst<T> worst;
  for (size_t i = 0; i < x.size(); ++i) {
    T want = static_cast<T>(reference(x[i], y[i]));
    int64_t ulp = UlpError(out[i], want);
    if (ulp > worst.ulp) worst = {ulp, x[i], y[i], out[i], want};
  }
  return worst;
}

template <typename T>
std::string Text(const Worst<T>& w) {
  char text[200];
  std::snprintf(text, sizeof text, "%lld ulp at %.17g, %.17g (%a): got %.17g want %.17g",
                static_cast<long long>(w.ulp), double(w.x), double(w.y), double(w.x), double(w.got),
                double(w.want));
  return text;
}

// Pairs of special values, then bit patterns from everywhere and numbers of everyday size.
template <typename T>
void FillRandom(std::vector<T>& x, std::vector<T>& y, size_t count) {
  const std::vector<T> specials = SpecialFloats<T>();
  for (T a : specials) {
    for (T b : specials) x.push_back(a), y.push_back(b);
  }
  std::mt19937_64 random(7);
  auto any = [&] {
    uint64_t bits = random();
    T value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  };
  std::normal_distribution<double> normal(0, 1);
  for (size_t i = 0; i < count; ++i) {
    double scale = std::ldexp(1.0, static_cast<int>(i % 12) - 4);
    bool everyday = i % 2;
    x.push_back(everyday ? T(normal(random) * scale) : any());
    y.push_back(i % 4 == 2 ? any() : T(normal(random) * scale));
  }
}

bool Flag(const char* name) { return std::getenv(name) != nullptr; }

class MathTest : public testing::TestWithParam<Function> {};

TEST_P(MathTest, FloatWithinTwoUlp) {
  const Function& f = GetParam();
  std::vector<float> x, y;
  uint64_t stride = Flag("HLOKIT_SLOW") ? 257 : 65537;
  for (uint64_t bits = 0; f.emit1 && bits <= UINT32_MAX; bits += stride) {
    uint32_t pattern = static_cast<uint32_t>(bits);
    float value;
    std::memcpy(&value, &pattern, 4);
    x.push_back(value);
  }
  y = x;
  FillRandom(x, y, f.emit1 ? 20000 : 60000);
  Worst<float> worst = Measure(Compile<float>(f), x, y, f.wide);
  EXPECT_LE(worst.ulp, 2) << Text(worst);
  if (Flag("HLOKIT_MATH_REPORT")) std::printf("%-9s f32 %s\n", f.name, Text(worst).c_str());
}

TEST_P(MathTest, DoubleWithinTwoUlp) {
  const Function& f = GetParam();
  std::vector<double> x, y;
  FillRandom(x, y, Flag("HLOKIT_SLOW") ? 2000000 : 60000);
  Worst<double> worst = Measure(Compile<double>(f), x, y, f.exact);
  EXPECT_LE(worst.ulp, 2) << Text(worst);
  if (Flag("HLOKIT_MATH_REPORT")) std::printf("%-9s f64 %s\n", f.name, Text(worst).c_str());
}

template <typename T>
void ExpectVectorsEqualScalars(const Function& f) {
  constexpr unsigned kLanes = 8;
  std::vector<T> x, y;
  FillRandom(x, y, 5000);
  x.resize(x.size() / kLanes * kLanes);
  y.resize(x.size());
  std::vector<T> scalars(x.size()), vectors(x.size());
  Compile<T>(f).loop(x.data(), y.data(), scalars.data(), x.size());
  Compile<T>(f, kLanes).loop(x.data(), y.data(), vectors.data(), x.size() / kLanes);
  for (size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(UlpError(vectors[i], scalars[i]), 0) << f.name << " " << x[i] << " " << y[i];
  }
}

TEST_P(MathTest, VectorFormGivesTheSameValues) {
  ExpectVectorsEqualScalars<float>(GetParam());
  ExpectVectorsEqualScalars<double>(GetParam());
}

// Calls to anything but LLVM's intrinsics would leave the module and stop vectorisation.
bool CallsOut(const std::string& ir) {
  for (size_t at = ir.find("declare "); at != std::string::npos; at = ir.find("declare ", at + 1)) {
    if (ir.substr(at, ir.find('(', at) - at).find("@llvm.") == std::string::npos) return true;
  }
  return false;
}

TEST_P(MathTest, LoopVectorisesWithoutCalls) {
  const Function& f = GetParam();
  for (bool wide : {false, true}) {
    JitResult jit = wide ? Compile<double>(f) : Compile<float>(f);
    EXPECT_NE(jit.ir.find(wide ? " x double>" : " x float>"), std::string::npos) << jit.ir;
    EXPECT_FALSE(CallsOut(jit.ir)) << jit.ir;
  }
}

INSTANTIATE_TEST_SUITE_P(All, MathTest, testing::ValuesIn(kFunctions),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
