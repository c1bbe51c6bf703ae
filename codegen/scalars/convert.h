// Conversions between element types, in compute form.
#pragma once

#include <cstdint>

#include "codegen/scalars/type.h"

namespace hlokit {

// HLO's convert: float to integer truncates and saturates (NaN gives 0), integers wrap, anything to
// pred is x != 0, floats round once to nearest even, complex to real drops the imaginary part.
ScalarValue EmitConvert(llvm::IRBuilderBase& builder, ElementType from, ElementType to,
                        const ScalarValue& x);

// The same bits as another type of equal width.
// The conversion of an f32 to `to`, a narrower float, of a value computed from such floats alone: a
// NaN has no more bits than they have.
ScalarValue EmitRoundOwnResult(llvm::IRBuilderBase& builder, ElementType to, const ScalarValue& x);

ScalarValue EmitBitcastConvert(llvm::IRBuilderBase& builder, ElementType from, ElementType to,
                               const ScalarValue& x);

// Rounds to a float with so many bits: overflow gives inf, results below its normal range a signed
// zero.
ScalarValue EmitReducePrecision(llvm::IRBuilderBase& builder, ElementType type,
                                int64_t exponent_bits, int64_t mantissa_bits, const ScalarValue& x);

// Float `x` to the integer type `to`, rounded up in magnitude with a probability given by the
// unsigned `random`.
ScalarValue EmitStochasticConvert(llvm::IRBuilderBase& builder, ElementType from, ElementType to,
                                  const ScalarValue& x, const ScalarValue& random);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
