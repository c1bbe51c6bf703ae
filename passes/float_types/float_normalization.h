// float-normalization-T: computes in a wider type what is written in a narrow one.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// Every instruction that takes or gives arrays of the type gets its operands converted to a wider
// one (bf16 to f32, 8- and 4-bit floats to f16, s4 to s8, u4 to u8) and its result converted back,
// so that each step rounds as before (but that a result in the wider float type is not rounded
// first); the functions of reduce and the like with it, which accumulate in the wider type. Stay:
// parameters, constants, tuples, converts and bit casts, calls and control flow, and of integers
// the operations that look at bits above theirs (logical shifts, counts of bits). Tuples of results
// that it took apart, and dead code, go. Equal up to the rounding of operations whose result is
// rounded twice. Cost: linear.
std::unique_ptr<Pass> CreateFloatNormalizationBf16();
std::unique_ptr<Pass> CreateFloatNormalizationF8e5m2();
std::unique_ptr<Pass> CreateFloatNormalizationF8e4m3();
std::unique_ptr<Pass> CreateFloatNormalizationF8e4m3fn();
std::unique_ptr<Pass> CreateFloatNormalizationF8e4m3b11fnuz();
std::unique_ptr<Pass> CreateFloatNormalizationF8e5m2fnuz();
std::unique_ptr<Pass> CreateFloatNormalizationF8e4m3fnuz();
std::unique_ptr<Pass> CreateFloatNormalizationF8e3m4();
std::unique_ptr<Pass> CreateFloatNormalizationF8e8m0fnu();
std::unique_ptr<Pass> CreateFloatNormalizationF4e2m1fn();
std::unique_ptr<Pass> CreateFloatNormalizationS4();
std::unique_ptr<Pass> CreateFloatNormalizationU4();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
