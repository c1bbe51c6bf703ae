// Small float formats: between bit patterns and floats, and rounding to them, by integer arithmetic
// without branches.
#pragma once

#include "codegen/math/value.h"
#include "types/element_type.h"

namespace hlokit {

// The exact value, as float, of a pattern in memory form.
Val DecodeFloat(ElementType type, Val pattern);
// The pattern of a float that the type represents exactly (as RoundFloat returns it).
Val EncodeFloat(ElementType type, Val value);
// `x` (float) rounded to nearest even into `type`, as float. Overflow and NaN go as the format
// says.
Val RoundFloat(ElementType type, Val x);
// The same for what one arithmetic operation made of values of `type`: a NaN then has no more bits
// than the type keeps, other than on GPUs.
Val RoundOwnResult(ElementType type, Val x);
// The pattern in f8e5m2, the upper half of f16, of a half rounded to it.
Val RoundHalfToF8(Val half);
// Double to float with the last bit sticky, so that a second rounding to a narrow type is as good
// as one.
Val NarrowRoundingToOdd(Val x);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
