// computation-deduplicator and unflatten-call-graph: one computation for those that are alike.
#pragma once

#include "passes/framework/pass.h"

namespace hlokit {

// computation-deduplicator. Instructions other than fusions that call computations of equal meaning
// call the first of them; the others go. Cost: linear, and the sizes of those of one hash.
std::unique_ptr<Pass> CreateComputationDeduplicator();

// unflatten-call-graph. The same for what call instructions call: the opposite of
// flatten-call-graph.
std::unique_ptr<Pass> CreateUnflattenCallGraph();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
