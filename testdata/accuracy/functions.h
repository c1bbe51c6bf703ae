// The floating-point operations whose accuracy is measured, with references for each.
#pragma once

#include <complex>
#include <string>
#include <vector>

namespace hlokit {

// A value so close to the true one that its own error does not count: 64 bits of mantissa and an
// exponent range beyond f64's, so that what overflows or underflows in f64 does not here.
using Exact = long double;

struct RealFunction {
  const char* opcode;
  int arity;
  bool exact;                     // its result is exact or correctly rounded by definition
  Exact (*libm)(double, double);  // long double libm, within a few units of its last place
  Exact (*mpfr)(double, double);  // MPFR, rounded once; null: libm's is exact
};
// Every elementwise opcode of ir/ops.def on real floats, in the order of their names.
const std::vector<RealFunction>& RealFunctions();

using ExactComplex = std::complex<long double>;
struct ComplexFunction {
  const char* opcode;
  int arity;
  // By MPFR from the definition, with precision enough for cancellation within the inputs' range
  // (exponents of +-60 bits).
  ExactComplex (*mpfr)(std::complex<double>, std::complex<double>);
  // How much the result moves with its argument: the bound is so many times wider. Null: 1.
  Exact (*condition)(std::complex<double>, std::complex<double>, ExactComplex result) = nullptr;
};
const std::vector<ComplexFunction>& ComplexFunctions();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
