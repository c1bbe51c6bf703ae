// Conversions between the bit patterns of HLO's float types and f32/f64, with correct rounding.
#pragma once

#include <cstdint>

#include "types/element_type.h"

namespace hlokit {

// The value of the bit pattern `bits` (low bits used) of the float type `type`. Exact.
double FloatFromBits(ElementType type, uint64_t bits);

// The bit pattern of `value` rounded once, to nearest even, into `type`; overflow, NaN and signed
// zero go as the format defines (inf where it has one, else NaN; fn and fnuz forms as in ml_dtypes;
// f4e2m1fn saturates; f8e8m0fnu has NaN for zero and below, and rounds up between its two smallest
// values, as XLA does). A NaN becomes the quiet one of its sign; f16 alone keeps the payload's high
// bits.
uint64_t FloatToBits(ElementType type, double value);

// Exponent and mantissa widths of a float type; bias as IEEE names it.
struct FloatFormat {
  int exponent_bits;
  int mantissa_bits;  // without the implicit one
  int bias;
  bool has_infinity;
  bool has_negative_zero;
  bool has_sign;
  bool has_nan;
};
const FloatFormat& FormatOf(ElementType type);

// True for the types that are computed in f32: f16, bf16, f8*, f4*.
inline bool IsNarrowFloat(ElementType type) { return IsFloat(type) && BitWidth(type) < 32; }

// The type on whose bits reduce-precision of `type` works; the result is then rounded to `type`.
// Types of a byte and less are widened, as XLA's CPU does.
ElementType ReducePrecisionFormat(ElementType type);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
