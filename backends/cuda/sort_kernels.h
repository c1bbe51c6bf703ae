// Sorts: any comparator, any number of arrays, always stable.
#pragma once

#include "codegen/kernel_strategies.h"

namespace hlokit {

// Whether the kernels have code for this sort.
bool CanSortOnGpu(const Instruction& instruction);

// The kernels of a sort; see the source. False for other instructions.
bool AddSortKernels(const KernelRequest& request, std::vector<Kernel>& out);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
