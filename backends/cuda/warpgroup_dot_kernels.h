// Large dots on the tensor cores of sm_90a, whose operands are read from shared memory.
#pragma once

#include "codegen/kernel_strategies.h"

namespace hlokit {

// A kernel for a dot of two f16, two bf16 or bytes with enough tiles for a whole device; see the
// source. False for others.
bool AddWarpgroupDotKernels(const KernelRequest& request, std::vector<Kernel>& out);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
