// Dots, convolutions and collectives whose types a target does not compute in.
#pragma once

#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/rewrite/rewriter.h"

namespace hlokit {

// A dot of two operands, or a convolution.
bool IsProduct(const Instruction* i);
// The width of a type's values: those of pred have one bit, whatever memory takes.
int ValueBits(ElementType type);
// A conversion to f32.
bool WidensToF32(const Instruction* i);

// operand_upcaster: a dot or convolution whose result is wider than its operands (s4 x s4 -> s32)
// takes operands converted to the result's type. Exact.
std::unique_ptr<Pass> CreateOperandUpcaster();

// narrow-operand-upcaster: a dot or convolution of some size with operands of types that matrix
// kernels do not read (f8, f4, integers below a byte, integers under a float result) takes them
// converted to the narrowest that they do; f8 to bf16, s4 to s8. A result of f8 or s4 is converted
// from f32 or s8. Exact but for the order of sums.
std::unique_ptr<Pass> CreateNarrowOperandUpcaster();

// What that pass puts in the place of one instruction; null if it leaves it.
Instruction* WidenNarrowOperands(Instruction* product, Rewriter& rewriter);

// A maximum or minimum of floats of two widths with both operands in the wider type; null for any
// other instruction.
Instruction* WidenChoice(Instruction* choice, Rewriter& rewriter);

// result_caster: a dot or convolution whose result is narrower than its operands computes in theirs
// and is converted. Rounds once more than a fused one may.
std::unique_ptr<Pass> CreateResultCaster();

// change-op-data-type: dots and convolutions of `from` (f16) compute in `to` (f32) between
// conversions.
std::unique_ptr<Pass> CreateChangeOpDataType(PassArguments& arguments);

// all-reduce-promotion: all-reduce and reduce-scatter of 16-bit integers and floats become ones of
// 32 bits between conversions. Sums of floats are rounded once instead of at each step.
std::unique_ptr<Pass> CreateAllReducePromotion();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
