// Select-and-scatter (gradients of max-pooling), with all threads at work.
#pragma once

#include "codegen/kernel_strategies.h"

namespace hlokit {

// False for other instructions; see the source.
bool AddSelectScatterKernels(const KernelRequest& request, std::vector<Kernel>& out);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
