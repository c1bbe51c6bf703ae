// topk-decomposer, topk-splitter: the k largest as a sort, or by parts.
#pragma once

#include "passes/pass.h"
#include "passes/pass_arguments.h"

namespace hlokit {

// topk becomes a stable sort of the values with their positions, in total order of floats, and
// slices of the first k; where only the values are read, the positions are left out. Exact.
std::unique_ptr<Pass> CreateTopKDecomposer();

// topk-splitter: topk of long rows (option `least` elements; 1,048,576) takes the k first of each
// of several parts of a row, then of those. Exact.
std::unique_ptr<Pass> CreateTopKSplitter(PassArguments& arguments);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
