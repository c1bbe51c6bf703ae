// The CPU's kernels, in the order in which they are tried.
#pragma once

#include "codegen/kernel_strategies.h"

namespace hlokit {

// The last applies to every expression that CanEmitKernels admits.
absl::Span<const KernelStrategy> CpuKernelStrategies();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
