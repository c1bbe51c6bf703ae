// Several elements a thread, which one instruction loads and stores.
#pragma once

#include "codegen/kernel_strategies.h"

namespace hlokit {

inline constexpr int64_t kSmallArray =
    4096;  // elements: with fewer a kernel is over before it pays

// A strategy (codegen/kernel_strategies.h) for expressions whose neighbours are computed of
// neighbours: elementwise ones, and those that move elements without turning dimensions. False for
// small arrays, for an odd number of elements, and for much work an element.
bool AddVectorKernels(const KernelRequest& request, std::vector<Kernel>& out);

// The same for an operand of a concatenation, which begins at `start` of `dimension` (AddPart in
// kernel_strategies.h).
bool AddVectorPart(const Expression& expression, const Instruction* part, int64_t dimension,
                   int64_t start, std::vector<Kernel>& out);

// How many neighbours a thread takes at a time: 16 bytes of the expression's widest large array, at
// most 4 (8 of two bytes), and a divisor of `count`; 1 where there is none.
int64_t VectorElements(const Expression& expression, int64_t count);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
