// Many quotients by one divisor, without dividing each time.
#pragma once

#include "codegen/llvm.h"

namespace hlokit {

// What of a divisor is computed once, where it is known.
struct Divisor {
  llvm::Value* value;       // scaled by a power of two, so that its reciprocal is a normal number
  llvm::Value* reciprocal;  // of `value`
  llvm::Value* scale;       // that power, by which dividends are multiplied too
};
// For f32 and f64, scalars or vectors.
Divisor PrepareDivisor(llvm::IRBuilderBase& builder, llvm::Value* divisor);

// x / divisor: a product, corrected by what it leaves of x. Correctly rounded but for rare cases
// that are one unit in the last place off; infinities, zeros and NaN as of a division.
llvm::Value* EmitQuotient(llvm::IRBuilderBase& builder, llvm::Value* x, const Divisor& divisor);

// The product alone, within two units in the last place: for what is rounded to far fewer bits.
llvm::Value* EmitRoughQuotient(llvm::IRBuilderBase& builder, llvm::Value* x,
                               const Divisor& divisor);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
