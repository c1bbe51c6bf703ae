// Cumulative reductions along rows.
#pragma once

#include "codegen/kernel_strategies.h"

namespace hlokit {

// A kernel that reads each element of the rows once and writes each result once
// (analysis/row_scan.h); see the source. False for everything else.
bool AddRowScanKernels(const KernelRequest& request, std::vector<Kernel>& out);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
