// Kernels on real floating-point elements, in double.
#include <cmath>
#include <limits>

#include "ops/eval_kernels.h"

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

KernelCall::Function UnaryKernel(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAbs:
      return kUnary<Abs>;
    case Opcode::kAcos:
      return kUnary<Acos>;
    case Opcode::kAcosh:
      return kUnary<Acosh>;
    case Opcode::kAsin:
      return kUnary<Asin>;
    case Opcode::kAsinh:
      return kUnary<Asinh>;
    case Opcode::kAtanh:
      return kUnary<Atanh>;
    case Opcode::kCbrt:
      return kUnary<Cbrt>;
    case Opcode::kCeil:
      return kUnary<Ceil>;
    case Opcode::kCosine:
      return kUnary<Cos>;
    case Opcode::kCosh:
      return kUnary<Cosh>;
    case Opcode::kErf:
      return kUnary<Erf>;
    case Opcode::kExponential:
      return kUnary<Exp>;
    case Opcode::kExponentialMinusOne:
      return kUnary<Expm1>;
    case Opcode::kFloor:
      return kUnary<Floor>;
    case Opcode::kImag:
      return kUnary<Imag>;
    case Opcode::kIsFinite:
      return RunUnary<double, uint64_t, IsFinite>;
    case Opcode::kLog:
      return kUnary<Log>;
    case Opcode::kLogPlusOne:
      return kUnary<Log1p>;
    case Opcode::kLogistic:
      return kUnary<Logistic>;
    case Opcode::kNegate:
      return kUnary<Negate>;
    case Opcode::kReal:
      return kUnary<Real>;
    case Opcode::kRoundNearestAfz:
      return kUnary<RoundAway>;
    case Opcode::kRoundNearestEven:
      return kUnary<RoundEven>;
    case Opcode::kRsqrt:
      return kUnary<Rsqrt>;
    case Opcode::kSign:
      return kUnary<Sign>;
    case Opcode::kSine:
      return kUnary<Sin>;
    case Opcode::kSinh:
      return kUnary<Sinh>;
    case Opcode::kSqrt:
      return kUnary<Sqrt>;
    case Opcode::kTan:
      return kUnary<Tan>;
    case Opcode::kTanh:
      return kUnary<Tanh>;
    default:
      return nullptr;
  }
}

}  // namespace

KernelCall::Function RealKernel(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAdd:
      return kBinary<Add>;
    case Opcode::kAtan2:
      return kBinary<Atan2>;
    case Opcode::kComplex:
      return MakeComplex;
    case Opcode::kDivide:
      return kBinary<Divide>;
    case Opcode::kMaximum:
      return kBinary<Maximum>;
    case Opcode::kMinimum:
      return kBinary<Minimum>;
    case Opcode::kMultiply:
      return kBinary<Multiply>;
    case Opcode::kPower:
      return kBinary<Power>;
    case Opcode::kRemainder:
      return kBinary<Remainder>;
    case Opcode::kSubtract:
      return kBinary<Subtract>;
    default:
      return UnaryKernel(opcode);
  }
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
