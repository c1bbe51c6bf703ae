// The values that the sweep tries. Value i depends on i alone, so that ranges can be made apart.
#pragma once

#include <complex>
#include <cstdint>

#include "types/element_type.h"

namespace hlokit {

struct Pair {
  double x, y;
};

// f32: every `stride`-th bit pattern from 0 on as x, with a y of any kind.
Pair FloatPair(int64_t i, int64_t stride);
int64_t FloatCount(int64_t stride);
// f64: pairs of special values first; then bit patterns from everywhere, everyday numbers, numbers
// near 1 and near multiples of pi / 2, and the range where exponentials over- and underflow.
Pair DoublePair(int64_t i);
// f16, bf16, f8, f4: every bit pattern as x; y for 8 bits every pattern too, else any.
Pair SmallPair(ElementType type, int64_t i, int arity);
int64_t SmallCount(ElementType type, int arity);

struct ComplexPair {
  std::complex<double> x, y;
};
// Parts in the range of f32's everyday numbers: zeros, units, and exponents of +-60 bits; rounded
// to f32 where `narrow`.
ComplexPair ComplexInput(int64_t i, bool narrow);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
