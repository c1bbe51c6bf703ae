// The CPU as shared code sees it.
#pragma once

#include "codegen/target_info.h"

namespace hlokit {

// The same for all processors, so that results have the same bits on all of them.
const TargetInfo& CpuTargetInfo();

// Whether HLOKIT_EAGER_KERNELS is set: kernels for large arrays take small ones too, in functions
// of their own that threads share. For tests: random modules are small.
bool HasEagerKernels();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
