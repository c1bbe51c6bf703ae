// Scatters, with all threads at work.
#pragma once

#include "codegen/kernel_strategies.h"

namespace hlokit {

// Small scatters, by one warp, from sm_80 on.
bool AddTeamScatterKernels(const KernelRequest& request, std::vector<Kernel>& out);
// Scatters whose windows can be looked through by each thread (see the source); others are done in
// order by AddScatterKernels.
bool AddSearchedScatterKernels(const KernelRequest& request, std::vector<Kernel>& out);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
