// Products of matrices in tiles that a block of threads shares.
#pragma once

#include "codegen/kernel_strategies.h"

namespace hlokit {

// A dot of at least 8 rows, 8 columns and 8 terms a sum, of floats or integers of whole bytes: each
// block computes a tile of the result. False, and nothing appended, for all others.
bool AddTiledDotKernels(const KernelRequest& request, std::vector<Kernel>& out);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
