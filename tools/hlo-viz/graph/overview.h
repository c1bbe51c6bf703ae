// A module too large to be drawn whole, as a picture of its scopes.
#pragma once

#include "tools/hlo-viz/graph/drawing.h"
#include "tools/hlo-viz/graph/scope_tree.h"

namespace hlokit {

// The computation's scopes, the largest opened until about `most_nodes` nodes show; loops and calls
// are opened like scopes. A closed scope says how many instructions it has, the heaviest of them,
// flops and bytes (of one execution of each instruction). Constants and what follows from them
// alone are left out. `overlay` as Draw takes it; scopes stand for all that is inside.
Drawing DrawOverview(const ModuleIndex& index, const ScopeTree& tree,
                     const Computation& computation, const Overlay& overlay, int most_nodes = 60);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
