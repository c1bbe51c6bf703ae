// A convolution with input and kernel exchanged, where that takes fewer multiplications.
#pragma once

#include "passes/rewrite/rewriter.h"

namespace hlokit {

// What stands for `i`, a convolution, with its kernel as the input and its input as the kernel; null
// where the kernel has no more elements in space than the input, there are groups, or it is something else. Sums
// the same products in another order. The kernel is reversed where it is not read backwards
// already.
//   f32[3,3] convolved with a kernel f32[32,32] (padding 30)  ->  the kernel convolved with f32[3,3]
//   (padding 1)
Instruction* SwappedConvolution(Instruction* i, Rewriter& r);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
