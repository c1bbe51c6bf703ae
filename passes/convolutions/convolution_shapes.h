// Convolutions with other batches and kernels.
#pragma once

#include "passes/pass.h"
#include "passes/pass_arguments.h"

namespace hlokit {

// conv-operand-swapper. Matches convolutions without groups, strides and dilations whose kernel is
// larger in space than their input: the kernel, reversed, becomes the input and the input the
// kernel. Reassociates.
std::unique_ptr<Pass> CreateConvOperandSwapper();

// space-to-batch-converter. Matches convolutions of few images (option `batch`: at most so many, 1)
// with a long dimension: `splits` (8) stretches of it, with what neighbours share in both, become
// images of their own. Zeros that were padding are multiplied then, so an infinite kernel gives NaN
// there; else exact.
std::unique_ptr<Pass> CreateSpaceToBatchConverter(PassArguments& arguments);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
