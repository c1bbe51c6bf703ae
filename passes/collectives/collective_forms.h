// Collectives in forms that some targets want.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// all-gather-remove-degenerate-dims: all-gathers of one array do without the dimensions of size one
// that they do not gather along, with reshapes around them. Exact.
std::unique_ptr<Pass> CreateAllGatherRemoveDegenerateDims();

// collective-permute-cycle-decomposer: a permutation that sends round in one ring becomes two
// without rings, and a choice by the device. Exact.
std::unique_ptr<Pass> CreateCollectivePermuteCycleDecomposer();

// all-reduce-decomposer: an all-reduce of one array in groups of equal size becomes an all-gather
// along a new dimension and a reduce over it, which every device does for itself. Reassociates.
std::unique_ptr<Pass> CreateAllReduceDecomposer();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
