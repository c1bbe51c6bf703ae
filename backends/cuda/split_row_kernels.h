// Reductions of few rows or of columns by more threads than there are rows.
#pragma once

#include "codegen/kernel_strategies.h"

namespace hlokit {

// Two kernels for a reduction whose rows would leave most of a device without work; see the source.
// False for others.
bool AddSplitRowKernels(const KernelRequest& request, std::vector<Kernel>& out);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
