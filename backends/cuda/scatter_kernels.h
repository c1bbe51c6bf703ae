// Scatters, with all threads at work.
#pragma once

#include "codegen/kernel_strategies.h"

namespace hlokit {

// Scatters whose windows can be looked through by each thread (see the source); others are done in
// order by AddScatterKernels.
bool AddSearchedScatterKernels(const KernelRequest& request, std::vector<Kernel>& out);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
