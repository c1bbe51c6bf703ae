// Dots of narrow types on tensor cores, by the matrix instructions that sm_80 and later have.
#pragma once

#include "codegen/kernel_strategies.h"

namespace hlokit {

// A kernel for a dot of f16, bf16, f8, s8 or u8 operands of at least 8 rows, columns and terms; see
// the source. False for others.
bool AddTensorDotKernels(const KernelRequest& request, std::vector<Kernel>& out);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
