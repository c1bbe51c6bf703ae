// topk-rewriter: the first elements of a descending sort as one TopK.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// Matches sorts along the last dimension of a matrix or vector, alone or beside an iota of that
// dimension, by "greater" in total order (any order of greater where the sort is not stable), whose
// every reader is a slice of the first k. Leaves custom-call "TopK" of the array and what reads its
// values and positions. Cost: linear.
std::unique_ptr<Pass> CreateTopkRewriter();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
