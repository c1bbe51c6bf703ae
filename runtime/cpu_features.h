// Which of the compiled kernel variants this machine runs.
#pragma once

namespace hlokit {

enum class Isa { kBase, kAvx2, kAvx512 };

// The widest variant the processor has; HLOKIT_MAX_ISA=base|avx2 narrows it.
Isa BestIsa();

// Whether kAvx512 comes with products of bf16 pairs.
bool HasBf16Products();
// And of pairs of 16-bit integers.
bool HasIntegerProducts();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
