// HLO's elementwise operations on one element in compute form (see scalar_type.h), as branch-free
// IR.
//   ScalarValue x = LoadElement(b, type, address);
//   StoreElement(b, type, EmitUnary(b, Opcode::kTanh, type, x), out);
// `type` is the operands' element type. Results of f16, bf16, f8 and f4 operations come already
// rounded to the type. A result without value means that the opcode does not take the type (or is
// not elementwise): refuse the op.
#pragma once

#include "codegen/scalars/convert.h"
#include "codegen/scalars/type.h"
#include "ir/enums.h"
#include "ir/opcode.h"

namespace hlokit {

// Abs, real and imag of complex types give the component type; is-finite gives pred.
ScalarValue EmitUnary(llvm::IRBuilderBase& builder, Opcode opcode, ElementType type,
                      const ScalarValue& x);

// True where a function of bf16 takes far fewer steps than the same of f32, rounded.
bool IsQuickInBF16(Opcode opcode);

// Arithmetic, bitwise, shifts, minimum, maximum, power, atan2, mulhi, and complex(re, im).
ScalarValue EmitBinary(llvm::IRBuilderBase& builder, Opcode opcode, ElementType type,
                       const ScalarValue& x, const ScalarValue& y);

// A pred. Total order on floats is -NaN < -inf ... -0 < 0 ... inf < NaN; the other orders are the
// type's own.
ScalarValue EmitCompare(llvm::IRBuilderBase& builder, ComparisonDirection direction,
                        ComparisonType order, ElementType type, const ScalarValue& x,
                        const ScalarValue& y);

ScalarValue EmitSelect(llvm::IRBuilderBase& builder, const ScalarValue& pred,
                       const ScalarValue& on_true, const ScalarValue& on_false);

// min(max(low, x), high); NaN in any of them gives NaN.
ScalarValue EmitClamp(llvm::IRBuilderBase& builder, ElementType type, const ScalarValue& low,
                      const ScalarValue& x, const ScalarValue& high);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
