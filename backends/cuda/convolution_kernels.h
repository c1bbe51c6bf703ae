// Convolutions that no kernel of products in tiles takes.
#pragma once

#include "codegen/kernel_strategies.h"

namespace hlokit {

// Whether the kernels have code for this convolution.
bool CanConvolveOnGpu(const Instruction& instruction);

// A thread an element of the result; see the source. False for other instructions.
bool AddConvolutionKernels(const KernelRequest& request, std::vector<Kernel>& out);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
