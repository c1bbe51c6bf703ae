// References of complex functions by MPFR, from their definitions.
#include <mpfr.h>

#include <algorithm>
#include <limits>
#include <numbers>
#include <utility>

#include "testdata/accuracy/functions.h"

namespace hlokit {
namespace {

constexpr mpfr_prec_t kPrecision = 400;

// A real number that frees itself.
class Real {
 public:
  Real() { mpfr_init2(v_, kPrecision); }
  Real(double x) : Real() { mpfr_set_d(v_, x, MPFR_RNDN); }
  Real(const Real& other) : Real() { mpfr_set(v_, other.v_, MPFR_RNDN); }
  Real& operator=(const Real& other) {
    mpfr_set(v_, other.v_, MPFR_RNDN);
    return *this;
  }
  ~Real() { mpfr_clear(v_); }
  mpfr_ptr get() { return v_; }
  mpfr_srcptr get() const { return v_; }
  Exact Rounded() const { return mpfr_get_ld(v_, MPFR_RNDN); }
  bool Negative() const { return mpfr_signbit(v_) != 0; }
  bool IsZero() const { return mpfr_zero_p(v_) != 0; }

 private:
  mpfr_t v_;
};

#define OPERATOR(op, name)                             \
  Real operator op(const Real& a, const Real& b) {     \
    Real r;                                            \
    mpfr_##name(r.get(), a.get(), b.get(), MPFR_RNDN); \
    return r;                                          \
  }
OPERATOR(+, add)
OPERATOR(-, sub)
OPERATOR(*, mul)
OPERATOR(/, div)
#undef OPERATOR
Real operator-(const Real& a) {
  Real r;
  mpfr_neg(r.get(), a.get(), MPFR_RNDN);
  return r;
}

template <int (*F)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t)>
Real Apply(const Real& x) {
  Real r;
  F(r.get(), x.get(), MPFR_RNDN);
  return r;
}
Real Hypot(const Real& x, const Real& y) {
  Real r;
  mpfr_hypot(r.get(), x.get(), y.get(), MPFR_RNDN);
  return r;
}
Real Arctan(const Real& y, const Real& x) {
  Real r;
  mpfr_atan2(r.get(), y.get(), x.get(), MPFR_RNDN);
  return r;
}

struct Complex {
  Real re, im;
};
Complex operator+(const Complex& a, const Complex& b) { return {a.re + b.re, a.im + b.im}; }
Complex operator-(const Complex& a, const Complex& b) { return {a.re - b.re, a.im - b.im}; }
Complex operator*(const Complex& a, const Complex& b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
Complex operator/(const Complex& a, const Complex& b) {
  const Real norm = b.re * b.re + b.im * b.im;
  return {(a.re * b.re + a.im * b.im) / norm, (a.im * b.re - a.re * b.im) / norm};
}
const Complex& One() {
  static const auto* const one = new Complex{Real(1), Real(0.0)};
  return *one;
}
// The imaginary part keeps the sign of its zero.
Complex OnePlus(const Complex& z) { return {Real(1) + z.re, z.im}; }
Complex OneMinus(const Complex& z) { return {Real(1) - z.re, -z.im}; }
Complex TimesI(const Complex& z) { return {-z.im, z.re}; }
Complex TimesMinusI(const Complex& z) { return {z.im, -z.re}; }

Complex Exp(const Complex& z) {
  const Real size = Apply<mpfr_exp>(z.re);
  return {size * Apply<mpfr_cos>(z.im), z.im.IsZero() ? z.im : size * Apply<mpfr_sin>(z.im)};
}
Complex Log(const Complex& z) { return {Apply<mpfr_log>(Hypot(z.re, z.im)), Arctan(z.im, z.re)}; }
Complex Sqrt(const Complex& z) {
  const Real length = Hypot(z.re, z.im);
  if (length.IsZero()) return {Real(0.0), z.im};
  const Real size = z.re.Negative() ? -z.re : z.re;
  const Real t = Apply<mpfr_sqrt>((length + size) / Real(2));
  const Real other = (z.im.Negative() ? -z.im : z.im) / (t + t);
  const Real im = z.re.Negative() ? t : other;
  return {z.re.Negative() ? other : t, z.im.Negative() ? -im : im};
}
Complex Sinh(const Complex& z) {
  return {Apply<mpfr_sinh>(z.re) * Apply<mpfr_cos>(z.im),
          Apply<mpfr_cosh>(z.re) * Apply<mpfr_sin>(z.im)};
}
Complex Cosh(const Complex& z) {
  return {Apply<mpfr_cosh>(z.re) * Apply<mpfr_cos>(z.im),
          Apply<mpfr_sinh>(z.re) * Apply<mpfr_sin>(z.im)};
}
Complex Tanh(const Complex& z) { return Sinh(z) / Cosh(z); }
Complex Sin(const Complex& z) { return TimesMinusI(Sinh(TimesI(z))); }
Complex Cos(const Complex& z) { return Cosh(TimesI(z)); }
// Kahan's forms, whose branch cuts and signed zeros are C's.
Complex Asin(const Complex& z) {
  const Complex below = Sqrt(OneMinus(z)), above = Sqrt(OnePlus(z));
  const Complex conjugate = {below.re, -below.im};
  return {Arctan(z.re, (below * above).re), Apply<mpfr_asinh>((conjugate * above).im)};
}
Complex Acos(const Complex& z) {
  const Complex below = Sqrt(OneMinus(z)), above = Sqrt(OnePlus(z));
  const Complex conjugate = {above.re, -above.im};
  return {Real(2) * Arctan(below.re, above.re), Apply<mpfr_asinh>((conjugate * below).im)};
}
Complex Acosh(const Complex& z) {
  const Complex below = Sqrt({z.re - Real(1), z.im}), above = Sqrt(OnePlus(z));
  const Complex conjugate = {below.re, -below.im};
  return {Apply<mpfr_asinh>((conjugate * above).re), Real(2) * Arctan(below.im, above.re)};
}
Complex Atanh(const Complex& z) {
  const Complex above = Log(OnePlus(z)), below = Log(OneMinus(z));
  return {(above.re - below.re) / Real(2), (above.im - below.im) / Real(2)};
}
Complex Atan2(const Complex& y, const Complex& x) {
  return TimesMinusI(Log((x + TimesI(y)) / Sqrt(x * x + y * y)));
}

Complex Of(std::complex<double> z) {
  // Each thread has its own range; tanh squares what sinh gives.
  thread_local const int widest =
      mpfr_set_emax(mpfr_get_emax_max()) + mpfr_set_emin(mpfr_get_emin_min());
  (void)widest;
  return {Real(z.real()), Real(z.imag())};
}

template <Complex (*F)(const Complex&)>
ExactComplex Unary(std::complex<double> z, std::complex<double>) {
  const Complex result = F(Of(z));
  return {result.re.Rounded(), result.im.Rounded()};
}
template <Complex (*F)(const Complex&, const Complex&)>
ExactComplex Binary(std::complex<double> x, std::complex<double> y) {
  const Complex result = F(Of(x), Of(y));
  return {result.re.Rounded(), result.im.Rounded()};
}

Complex Abs(const Complex& z) { return {Hypot(z.re, z.im), Real(0.0)}; }
Complex Sign(const Complex& z) {
  const Real size = Hypot(z.re, z.im);
  return size.IsZero() ? z : Complex{z.re / size, z.im / size};
}
Complex Expm1(const Complex& z) {
  const Complex e = Exp(z);
  return {e.re - Real(1), e.im};
}
Complex Log1p(const Complex& z) { return Log(OnePlus(z)); }
Complex Logistic(const Complex& z) { return One() / OnePlus(Exp({-z.re, -z.im})); }
Complex Sum(const Complex& x, const Complex& y) { return x + y; }
Complex Difference(const Complex& x, const Complex& y) { return x - y; }
Complex Product(const Complex& x, const Complex& y) { return x * y; }
Complex Quotient(const Complex& x, const Complex& y) { return x / y; }
Complex Rsqrt(const Complex& z) { return One() / Sqrt(z); }
Complex Tan(const Complex& z) { return TimesMinusI(Tanh(TimesI(z))); }
Complex Asinh(const Complex& z) { return TimesMinusI(Asin(TimesI(z))); }
Complex Power(const Complex& x, const Complex& y) {
  const bool zero = x.re.IsZero() && x.im.IsZero();
  if (zero && !y.re.Negative() && !y.re.IsZero()) return {Real(0.0), Real(0.0)};
  return y.re.IsZero() && y.im.IsZero() ? One() : Exp(y * Log(x));
}

// A logarithm near 1: an error of its argument counts in full, however small the angle; the sum of
// squares beneath it vanishes at the poles y = ix and y = -ix. On which side of the cut a result
// next to it comes out is chance, but for y = 0 and real x, where signs of zeros choose.
Exact AngleCondition(std::complex<double> y, std::complex<double> x, ExactComplex result) {
  constexpr Exact kBesideCut = 1e-6L;
  const bool chosen = y == 0.0 && x.imag() == 0;
  if (!chosen && std::fabs(std::fabs(result.real()) - std::numbers::pi_v<Exact>) < kBesideCut)
    return std::numeric_limits<Exact>::infinity();
  const ExactComplex wide_y(y), wide_x(x);
  const Exact squares = std::abs(wide_y * wide_y + wide_x * wide_x);
  return std::max(1.0L, 1 / std::abs(result)) * (std::norm(wide_y) + std::norm(wide_x)) / squares;
}
// 1 + e^-z vanishes at the poles.
Exact PoleCondition(std::complex<double>, std::complex<double>, ExactComplex result) {
  return 1 + std::abs(result);
}
// An error of y log x counts in full.
Exact PowerCondition(std::complex<double> x, std::complex<double> y, ExactComplex) {
  return 1 + (x == 0.0 ? 0 : std::abs(ExactComplex(y) * std::log(ExactComplex(x))));
}

}  // namespace

const std::vector<ComplexFunction>& ComplexFunctions() {
  static const auto* const functions = new std::vector<ComplexFunction>{
      {"abs", 1, Unary<Abs>},
      {"acos", 1, Unary<Acos>},
      {"acosh", 1, Unary<Acosh>},
      {"add", 2, Binary<Sum>},
      {"asin", 1, Unary<Asin>},
      {"asinh", 1, Unary<Asinh>},
      {"atan2", 2, Binary<Atan2>, AngleCondition},
      {"atanh", 1, Unary<Atanh>},
      {"cosine", 1, Unary<Cos>},
      {"cosh", 1, Unary<Cosh>},
      {"divide", 2, Binary<Quotient>},
      {"exponential", 1, Unary<Exp>},
      {"exponential-minus-one", 1, Unary<Expm1>},
      {"log", 1, Unary<Log>},
      {"log-plus-one", 1, Unary<Log1p>},
      {"logistic", 1, Unary<Logistic>, PoleCondition},
      {"multiply", 2, Binary<Product>},
      {"power", 2, Binary<Power>, PowerCondition},
      {"rsqrt", 1, Unary<Rsqrt>},
      {"sign", 1, Unary<Sign>},
      {"sine", 1, Unary<Sin>},
      {"sinh", 1, Unary<Sinh>},
      {"sqrt", 1, Unary<Sqrt>},
      {"subtract", 2, Binary<Difference>},
      {"tan", 1, Unary<Tan>},
      {"tanh", 1, Unary<Tanh>},
  };
  return *functions;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
