// The k first elements of rows, in one kernel.
#pragma once

#include "codegen/kernel_strategies.h"

namespace hlokit {

// Whether the kernel has code for this topk.
bool CanSelectOnGpu(const Instruction& instruction);

// The kernel of such a topk; false for other instructions.
bool AddTopKKernels(const KernelRequest& request, std::vector<Kernel>& out);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
