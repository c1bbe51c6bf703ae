// Collectives in terms of simpler ones.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// all_to_all_decomposer: an all-to-all that splits a dimension becomes slices, an all-to-all of
// them, and a concatenation of what comes back. Exact.
std::unique_ptr<Pass> CreateAllToAllDecomposer();

// all_gather_decomposer: an all-gather becomes an update of zeros at the device's place and an
// all-reduce of sums. Types without addition stay. Exact, except that -0 becomes 0.
std::unique_ptr<Pass> CreateAllGatherDecomposer();

// reduce-scatter-decomposer: a reduce-scatter becomes an all-reduce and a slice at the device's
// place. Exact but for the order of sums.
std::unique_ptr<Pass> CreateReduceScatterDecomposer();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
