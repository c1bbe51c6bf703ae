// Dots, convolutions and collectives whose types a target does not compute in.
#pragma once

#include "passes/pass.h"
#include "passes/pass_arguments.h"

namespace hlokit {

// operand_upcaster: a dot or convolution whose result is wider than its operands (s4 x s4 -> s32)
// takes operands converted to the result's type. Exact.
std::unique_ptr<Pass> CreateOperandUpcaster();

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
