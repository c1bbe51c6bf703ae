// Pictures as DOT, Graphviz's language.
#pragma once

#include <cstdint>
#include <string>

#include "tools/hlo-viz/graph/drawing.h"

namespace hlokit {

// A digraph that every dot since 2.30 reads: labels like HTML, boxes as clusters, ids of SVG
// elements from the nodes' keys. No string is longer than dot's scanner takes (16,384 bytes).
std::string DotText(const Drawing& drawing);

// The nodes that Graphviz has to place for `drawing`: its own, and one for each rank that an edge
// passes on its way. Its time grows with their number.
int64_t PlacedNodes(const Drawing& drawing);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
