// Which conversions between element types lose nothing.
//   s8 -> s32, s16 -> f32, bf16 -> f32    every value of the left is one of the right
//   s32 -> f32                            2^24 + 1 is not a float
// Passes ask under the options that XLA's pass of the same name has; those of the algebraic
// simplifier, which allow most, are the default.
#pragma once

#include "types/element_type.h"

namespace hlokit {

struct ExactTypeOptions {
  // Integers as floats: never; in floats of at least twice their width; where the mantissa is as
  // long as they are.
  enum class IntegersAsFloats : uint8_t { kNever, kOfHalfTheWidth, kOfTheMantissa };
  // Floats as others: any; those of 16 bits and more; those of 16 bits alone.
  enum class Floats : uint8_t { kAny, kOf16Bits, kOf16BitsAndMore };
  IntegersAsFloats integers_as_floats = IntegersAsFloats::kOfHalfTheWidth;
  Floats floats = Floats::kAny;
  bool unsigned_as_signed = true;  // u8 -> s16
  bool predicates = true;          // pred -> s8, f32
  bool same_width = true;          // s8 -> s8, f32 -> f32
};

// Whether every value of `from` is one of `to`, for all that the options say.
bool HoldsAllValues(ElementType from, ElementType to, const ExactTypeOptions& options = {});

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
