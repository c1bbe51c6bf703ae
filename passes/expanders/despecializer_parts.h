// Rewrites that make a module more general, or easier to run anywhere.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// AssumeGatherIndicesInBoundRewriteToCopy: a gather of the operand's own dimensions, given that its
// indices lie inside, is taken for a copy of the operand. Changes values where the indices are no
// iota: for measuring memory, not for computing, as in XLA.
std::unique_ptr<Pass> CreateAssumeGatherIndicesInBound();

// ReduceWindowToReduceAndBroadcast: a reduce-window whose every window holds the whole of the
// dimensions it spans becomes a reduce and a broadcast. Exact but for the order of sums.
std::unique_ptr<Pass> CreateReduceWindowToReduceAndBroadcast();

// scatter-slice-simplifier: a slice of the leading parts of a scatter that nothing else reads
// scatters into the slice of the operand, so that updates outside are dropped at once. Slices of
// window dimensions stay. Exact.
std::unique_ptr<Pass> CreateScatterSliceSimplifier();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
