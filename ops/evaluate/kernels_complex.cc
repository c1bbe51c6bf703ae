// Kernels on complex elements, in complex<double>.
#include <cmath>
#include <complex>

#include "ops/evaluate/kernels.h"

namespace hlokit {
namespace {

Complex Add(Complex x, Complex y) { return {x.real() + y.real(), x.imag() + y.imag()}; }
Complex Subtract(Complex x, Complex y) { return {x.real() - y.real(), x.imag() - y.imag()}; }
// By the definition, as compiled code does: no recovery of infinities from NaN parts.
Complex Multiply(Complex x, Complex y) {
  return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
}
Complex Power(Complex x, Complex y) {
  if (y == Complex(0)) return 1;
  if (x == Complex(0)) return y.real() > 0 ? Complex(0) : std::pow(x, y);
  using Long = std::complex<long double>;
  return Complex(std::exp(Long(y) * std::log(Long(x))));
}
// Turned and divided by hand: products with i, and the library's quotient, would lose the signs of
// zeros, which choose the side of the cut.
Complex Atan2(Complex x, Complex y) {
  const Complex turned(-x.imag(), x.real());
  const Complex length = std::sqrt(Multiply(x, x) + Multiply(y, y));
  const Complex angle = std::log(Multiply(y + turned, std::conj(length)) / std::norm(length));
  return {angle.imag(), -angle.real()};
}

double Abs(Complex x) { return std::hypot(x.real(), x.imag()); }
double Real(Complex x) { return x.real(); }
double Imag(Complex x) { return x.imag(); }
Complex Negate(Complex x) { return -x; }
// The magnitude of large parts may be no double, that of subnormal ones is rounded.
Complex Sign(Complex x) {
  const long double size = std::hypot(static_cast<long double>(x.real()), x.imag());
  if (size == 0) return 0;
  return {static_cast<double>(x.real() / size), static_cast<double>(x.imag() / size)};
}
Complex Sqrt(Complex x) { return std::sqrt(x); }
Complex Rsqrt(Complex x) { return 1.0 / std::sqrt(x); }
Complex Exp(Complex x) {
  if (x.imag() == 0) return {std::exp(x.real()), x.imag()};
  return std::exp(x);
}
// e^a cos(b) - 1 without the loss near 0: expm1(a) cos(b) - 2 sin(b/2)^2.
Complex Expm1(Complex x) {
  const double half = std::sin(x.imag() / 2);
  return {std::expm1(x.real()) * std::cos(x.imag()) - 2 * half * half, Exp(x).imag()};
}
Complex Log(Complex x) { return std::log(x); }
// log|1 + x| from log1p of |1 + x|^2 - 1 where that is near 0.
Complex Log1p(Complex x) {
  const double a = x.real(), b = x.imag();
  const double angle = std::atan2(b, 1 + a);
  if (std::fabs(a) > 0.5 || std::fabs(b) > 0.5) return {std::log(Complex(1 + a, b)).real(), angle};
  const long double la = a, lb = b;
  return {static_cast<double>(0.5L * std::log1p(2 * la + la * la + lb * lb)), angle};
}
Complex Sin(Complex x) { return std::sin(x); }
Complex Cos(Complex x) { return std::cos(x); }
Complex Tan(Complex x) { return std::tan(x); }
Complex Sinh(Complex x) { return std::sinh(x); }
Complex Cosh(Complex x) { return std::cosh(x); }
Complex Tanh(Complex x) { return std::tanh(x); }
Complex Asin(Complex x) { return std::asin(x); }
Complex Acos(Complex x) { return std::acos(x); }
Complex Asinh(Complex x) { return std::asinh(x); }
Complex Acosh(Complex x) { return std::acosh(x); }
Complex Atanh(Complex x) { return std::atanh(x); }
// The right-hand form would overflow far on the left before it is small.
Complex Logistic(Complex x) {
  const Complex power = std::exp(x.real() < 0 ? x : -x);
  return (x.real() < 0 ? power : 1.0) / (1.0 + power);
}

// c64 products overflow where those of floats do.
void RunMultiply(const KernelCall& call, const void* const* in, void* out, int64_t n) {
  if (call.in != ElementType::kC64) return RunBinary<Complex, Multiply>(call, in, out, n);
  const Complex* x = static_cast<const Complex*>(in[0]);
  const Complex* y = static_cast<const Complex*>(in[1]);
  for (int64_t i = 0; i < n; ++i) {
    const float a = x[i].real(), b = x[i].imag(), c = y[i].real(), d = y[i].imag();
    static_cast<Complex*>(out)[i] = Complex(a * c - b * d, a * d + b * c);
  }
}

Complex Divide(Complex x, Complex y) { return x / y; }

template <Complex (*F)(Complex)>
constexpr KernelCall::Function kUnary = RunUnary<Complex, Complex, F>;
template <double (*F)(Complex)>
constexpr KernelCall::Function kToReal = RunUnary<Complex, double, F>;
template <Complex (*F)(Complex, Complex)>
constexpr KernelCall::Function kBinary = RunBinary<Complex, F>;

constexpr KernelRow kKernels[] = {
    {Opcode::kAbs, kToReal<Abs>},
    {Opcode::kAcos, kUnary<Acos>},
    {Opcode::kAcosh, kUnary<Acosh>},
    {Opcode::kAdd, kBinary<Add>},
    {Opcode::kAsin, kUnary<Asin>},
    {Opcode::kAsinh, kUnary<Asinh>},
    {Opcode::kAtan2, kBinary<Atan2>},
    {Opcode::kAtanh, kUnary<Atanh>},
    {Opcode::kCosh, kUnary<Cosh>},
    {Opcode::kCosine, kUnary<Cos>},
    {Opcode::kDivide, kBinary<Divide>},
    {Opcode::kExponential, kUnary<Exp>},
    {Opcode::kExponentialMinusOne, kUnary<Expm1>},
    {Opcode::kImag, kToReal<Imag>},
    {Opcode::kLog, kUnary<Log>},
    {Opcode::kLogPlusOne, kUnary<Log1p>},
    {Opcode::kLogistic, kUnary<Logistic>},
    {Opcode::kMultiply, RunMultiply},
    {Opcode::kNegate, kUnary<Negate>},
    {Opcode::kPower, kBinary<Power>},
    {Opcode::kReal, kToReal<Real>},
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

KernelCall::Function ComplexKernel(Opcode opcode) { return KernelIn(kKernels, opcode); }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
