// Kernels on real floating-point elements, in double.
#include <cmath>
#include <limits>

#include "ops/evaluate/kernels.h"

namespace hlokit {
namespace {

// glibc's double versions of these err by more than one ulp; the long double ones, rounded, do not.
double Cbrt(double x) { return static_cast<double>(cbrtl(x)); }
double Sinh(double x) { return static_cast<double>(sinhl(x)); }
double Cosh(double x) { return static_cast<double>(coshl(x)); }
double Tanh(double x) { return static_cast<double>(tanhl(x)); }
double Asinh(double x) { return static_cast<double>(asinhl(x)); }
double Acosh(double x) { return static_cast<double>(acoshl(x)); }
double Atanh(double x) { return static_cast<double>(atanhl(x)); }

double Abs(double x) { return std::fabs(x); }
double Negate(double x) { return -x; }
double Ceil(double x) { return std::ceil(x); }
double Floor(double x) { return std::floor(x); }
double RoundEven(double x) { return std::nearbyint(x); }
double RoundAway(double x) { return std::round(x); }
double Sign(double x) { return std::isnan(x) || x == 0 ? x : std::copysign(1.0, x); }
double Sqrt(double x) { return std::sqrt(x); }
double Rsqrt(double x) { return 1 / std::sqrt(x); }
double Exp(double x) { return std::exp(x); }
double Expm1(double x) { return std::expm1(x); }
double Log(double x) { return std::log(x); }
double Log1p(double x) { return std::log1p(x); }
double Sin(double x) { return std::sin(x); }
double Cos(double x) { return std::cos(x); }
double Tan(double x) { return std::tan(x); }
double Asin(double x) { return std::asin(x); }
double Acos(double x) { return std::acos(x); }
double Erf(double x) { return std::erf(x); }
double Real(double x) { return x; }
double Imag(double) { return 0; }
// Three roundings would be more than 2 ulp just below powers of two.
double Logistic(double x) {
  const long double e = std::exp(-std::fabs(static_cast<long double>(x)));
  return static_cast<double>((x < 0 ? e : 1) / (1 + e));
}
uint64_t IsFinite(double x) { return std::isfinite(x); }

double Add(double x, double y) { return x + y; }
double Subtract(double x, double y) { return x - y; }
double Multiply(double x, double y) { return x * y; }
double Divide(double x, double y) { return x / y; }
double Remainder(double x, double y) { return std::fmod(x, y); }
// libm gives NaN for a signalling NaN to the power of 0.
double Power(double x, double y) { return y == 0 ? 1 : std::pow(x, y); }
double Atan2(double x, double y) { return std::atan2(x, y); }
double Maximum(double x, double y) {
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) ? x : y;
  if (x == y) return std::signbit(x) ? y : x;  // +0 above -0
  return x > y ? x : y;
}
double Minimum(double x, double y) {
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) ? x : y;
  if (x == y) return std::signbit(x) ? x : y;
  return x < y ? x : y;
}

void MakeComplex(const KernelCall&, const void* const* in, void* out, int64_t n) {
  const double* re = static_cast<const double*>(in[0]);
  const double* im = static_cast<const double*>(in[1]);
  for (int64_t i = 0; i < n; ++i) static_cast<Complex*>(out)[i] = Complex(re[i], im[i]);
}

template <double (*F)(double)>
constexpr KernelCall::Function kUnary = RunUnary<double, double, F>;
template <double (*F)(double, double)>
constexpr KernelCall::Function kBinary = RunBinary<double, F>;

constexpr KernelRow kKernels[] = {
    {Opcode::kAbs, kUnary<Abs>},
    {Opcode::kAcos, kUnary<Acos>},
    {Opcode::kAcosh, kUnary<Acosh>},
    {Opcode::kAdd, kBinary<Add>},
    {Opcode::kAsin, kUnary<Asin>},
    {Opcode::kAsinh, kUnary<Asinh>},
    {Opcode::kAtan2, kBinary<Atan2>},
    {Opcode::kAtanh, kUnary<Atanh>},
    {Opcode::kCbrt, kUnary<Cbrt>},
    {Opcode::kCeil, kUnary<Ceil>},
    {Opcode::kComplex, MakeComplex},
    {Opcode::kCosh, kUnary<Cosh>},
    {Opcode::kCosine, kUnary<Cos>},
    {Opcode::kDivide, kBinary<Divide>},
    {Opcode::kErf, kUnary<Erf>},
    {Opcode::kExponential, kUnary<Exp>},
    {Opcode::kExponentialMinusOne, kUnary<Expm1>},
    {Opcode::kFloor, kUnary<Floor>},
    {Opcode::kImag, kUnary<Imag>},
    {Opcode::kIsFinite, RunUnary<double, uint64_t, IsFinite>},
    {Opcode::kLog, kUnary<Log>},
    {Opcode::kLogPlusOne, kUnary<Log1p>},
    {Opcode::kLogistic, kUnary<Logistic>},
    {Opcode::kMaximum, kBinary<Maximum>},
    {Opcode::kMinimum, kBinary<Minimum>},
    {Opcode::kMultiply, kBinary<Multiply>},
    {Opcode::kNegate, kUnary<Negate>},
    {Opcode::kPower, kBinary<Power>},
    {Opcode::kReal, kUnary<Real>},
    {Opcode::kRemainder, kBinary<Remainder>},
    {Opcode::kRoundNearestAfz, kUnary<RoundAway>},
    {Opcode::kRoundNearestEven, kUnary<RoundEven>},
    {Opcode::kRsqrt, kUnary<Rsqrt>},
    {Opcode::kSign, kUnary<Sign>},
    {Opcode::kSine, kUnary<Sin>},
    {Opcode::kSinh, kUnary<Sinh>},
    {Opcode::kSqrt, kUnary<Sqrt>},
    {Opcode::kSubtract, kBinary<Subtract>},
    {Opcode::kTan, kUnary<Tan>},
    {Opcode::kTanh, kUnary<Tanh>},
};

}  // namespace

KernelCall::Function RealKernel(Opcode opcode) { return KernelIn(kKernels, opcode); }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
