// Which of the compiled kernel variants this machine runs.
#pragma once

namespace hlokit {

enum class Isa { kBase, kAvx2, kAvx512 };

// The widest variant the processor has; HLOKIT_MAX_ISA=base|avx2 narrows it.
Isa BestIsa();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
