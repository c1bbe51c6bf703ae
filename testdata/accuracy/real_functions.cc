// References of real functions: long double libm, and MPFR.
#include <mpfr.h>

#include <cmath>

#include "testdata/accuracy/functions.h"

namespace hlokit {
namespace {

constexpr mpfr_prec_t kPrecision = 96;

// An MPFR number of our precision, freed at the end of its thread.
struct Number {
  Number() { mpfr_init2(value, kPrecision); }
  ~Number() { mpfr_clear(value); }
  mpfr_t value;
};

using Unary = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
using Binary = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);

template <Unary F>
Exact ByMpfr(double x, double) {
  thread_local Number in, out;
  mpfr_set_d(in.value, x, MPFR_RNDN);
  F(out.value, in.value, MPFR_RNDN);
  return mpfr_get_ld(out.value, MPFR_RNDN);
}

template <Binary F>
Exact ByMpfr2(double x, double y) {
  thread_local Number a, b, out;
  mpfr_set_d(a.value, x, MPFR_RNDN);
  mpfr_set_d(b.value, y, MPFR_RNDN);
  F(out.value, a.value, b.value, MPFR_RNDN);
  return mpfr_get_ld(out.value, MPFR_RNDN);
}

// e^x / (1 + e^x), which keeps small results, or 1 / (1 + e^-x), which keeps large ones finite.
Exact LogisticByMpfr(double x, double) {
  if (std::isinf(x)) return x > 0 ? 1 : 0;
  thread_local Number in, e, sum;
  mpfr_set_d(in.value, -std::fabs(x), MPFR_RNDN);
  mpfr_exp(e.value, in.value, MPFR_RNDN);
  mpfr_add_ui(sum.value, e.value, 1, MPFR_RNDN);
  if (x < 0)
    mpfr_div(e.value, e.value, sum.value, MPFR_RNDN);
  else
    mpfr_ui_div(e.value, 1, sum.value, MPFR_RNDN);
  return mpfr_get_ld(e.value, MPFR_RNDN);
}

Exact RsqrtByMpfr(double x, double y) {
  return x == 0 ? 1 / static_cast<Exact>(x) : ByMpfr<mpfr_rec_sqrt>(x, y);
}

Exact Logistic(double x, double) {
  const Exact e = expl(x);
  return x < 0 ? e / (1 + e) : 1 / (1 + expl(-static_cast<Exact>(x)));
}

Exact Sign(double x, double) { return std::isnan(x) || x == 0 ? x : std::copysign(1.0, x); }

Exact Larger(double x, double y) {
  if (std::isnan(x) || std::isnan(y)) return NAN;
  return x == y ? (std::signbit(x) ? y : x) : std::fmax(x, y);
}
Exact Smaller(double x, double y) {
  if (std::isnan(x) || std::isnan(y)) return NAN;
  return x == y ? (std::signbit(x) ? x : y) : std::fmin(x, y);
}

#define UNARY(opcode, name)                                                                     \
  RealFunction {                                                                                \
    opcode, 1, false, [](double x, double) -> Exact { return name##l(x); }, ByMpfr<mpfr_##name> \
  }
#define ARITHMETIC(opcode, op, name)                                                   \
  RealFunction {                                                                       \
    opcode, 2, true, [](double x, double y) -> Exact { return Exact(x) op Exact(y); }, \
        ByMpfr2<mpfr_##name>                                                           \
  }
#define EXACT(opcode, expression)                                                  \
  RealFunction {                                                                   \
    opcode, 1, true, [](double x, double) -> Exact { return expression; }, nullptr \
  }

}  // namespace

const std::vector<RealFunction>& RealFunctions() {
  static const auto* const functions = new std::vector<RealFunction>{
      EXACT("abs", std::fabs(x)),
      UNARY("acos", acos),
      UNARY("acosh", acosh),
      ARITHMETIC("add", +, add),
      UNARY("asin", asin),
      UNARY("asinh", asinh),
      {"atan2", 2, false, [](double x, double y) -> Exact { return atan2l(x, y); },
       ByMpfr2<mpfr_atan2>},
      UNARY("atanh", atanh),
      UNARY("cbrt", cbrt),
      EXACT("ceil", std::ceil(x)),
      UNARY("cosine", cos),
      UNARY("cosh", cosh),
      ARITHMETIC("divide", /, div),
      UNARY("erf", erf),
      UNARY("exponential", exp),
      UNARY("exponential-minus-one", expm1),
      EXACT("floor", std::floor(x)),
      {"imag", 1, true, [](double, double) -> Exact { return 0; }, nullptr},
      UNARY("log", log),
      UNARY("log-plus-one", log1p),
      {"logistic", 1, false, Logistic, LogisticByMpfr},
      {"maximum", 2, true, Larger, nullptr},
      {"minimum", 2, true, Smaller, nullptr},
      ARITHMETIC("multiply", *, mul),
      EXACT("negate", -x),
      {"power", 2, false, [](double x, double y) -> Exact { return powl(x, y); },
       ByMpfr2<mpfr_pow>},
      EXACT("real", x),
      {"remainder", 2, true, [](double x, double y) -> Exact { return std::fmod(x, y); }, nullptr},
      EXACT("round-nearest-afz", std::round(x)),
      EXACT("round-nearest-even", std::nearbyint(x)),
      {"rsqrt", 1, false, [](double x, double) { return 1 / sqrtl(x); }, RsqrtByMpfr},
      {"sign", 1, true, Sign, nullptr},
      UNARY("sine", sin),
      UNARY("sinh", sinh),
      {"sqrt", 1, true, [](double x, double) -> Exact { return sqrtl(x); }, ByMpfr<mpfr_sqrt>},
      ARITHMETIC("subtract", -, sub),
      UNARY("tan", tan),
      UNARY("tanh", tanh),
  };
  return *functions;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
