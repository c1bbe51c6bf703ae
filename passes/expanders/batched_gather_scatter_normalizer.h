// batched_gather_scatter_normalizer: gathers and scatters without batching dimensions.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// A gather with operand_batching_dims (a scatter with input_batching_dims) reads (writes) each
// batch at its own position: that position becomes part of the index vectors, as an iota beside
// the indices. Exact. Cost: linear.
std::unique_ptr<Pass> CreateBatchedGatherScatterNormalizer();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
