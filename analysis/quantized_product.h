// Products that take weights of a byte as they are stored, and widen them while they read.
#pragma once

#include "ir/instruction.h"

namespace hlokit {

// Whether a type is one that products widen weights to: f32, bf16 and f16, which have all values of
// integers of up to 8 bits, f8e4m3fn and f8e5m2.
bool HoldsWeights(ElementType type);

// Whether a dot whose operand `side` (0 or 1) is of type `narrow`, or would be, widens it in the
// product: the other operand is a float that has all values of the type, there are weights enough,
// and kernels that read the float alone (pairs of 16-bit floats with many rows) are not ahead.
bool WidensInside(const Instruction& dot, int side, ElementType narrow);

// Whether it is one of those as it stands.
bool IsQuantizedProduct(const Instruction& dot);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
