// topk-decomposer: the k largest as a sort.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// topk becomes a stable sort of the values with their positions, in total order of floats, and
// slices of the first k; where only the values are read, the positions are left out. Exact.
std::unique_ptr<Pass> CreateTopKDecomposer();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
