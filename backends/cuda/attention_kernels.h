// Attention in one kernel: two products and the work on rows between them.
#pragma once

#include "codegen/kernel_strategies.h"

namespace hlokit {

// Strategies (codegen/kernel_strategies.h) for fusions that are attention
// (analysis/attention_rows.h), on devices whose blocks have the shared memory of sm_90a, or of
// sm_80. f16 and bf16 are multiplied on tensor cores.
bool AddHopperAttentionKernels(const KernelRequest& request, std::vector<Kernel>& out);
bool AddTensorAttentionKernels(const KernelRequest& request, std::vector<Kernel>& out);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
