// Sums of floats at sorted places, with all threads at work.
#pragma once

#include "codegen/kernel_strategies.h"

namespace hlokit {

// False for other instructions; see the source.
bool AddScatterRunKernels(const KernelRequest& request, std::vector<Kernel>& out);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
