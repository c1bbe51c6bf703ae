// Transposes, and elementwise work on them, through tiles in shared memory.
#pragma once

#include "codegen/kernel_strategies.h"

namespace hlokit {

// A kernel for an expression with a transpose that changes the fastest dimension; see the source.
// False for others.
bool AddTransposeKernels(const KernelRequest& request, std::vector<Kernel>& out);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
