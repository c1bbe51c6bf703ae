// A picture of HLO before any format: nodes, edges and nested boxes, with all of their text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/hlo-viz/graph/colours.h"
#include "tools/hlo-viz/graph/overlay.h"
#include "tools/hlo-viz/graph/selection.h"

namespace hlokit {

enum class NodeShape : uint8_t { kBox, kEllipse, kDiamond, kCircle, kStack };

struct DrawnNode {
  std::string key;    // unique in the drawing; an instruction's name
  std::string title;  // bold
  std::vector<std::string> lines;
  std::string tooltip;
  NodeShape shape = NodeShape::kBox;
  Colours colours;
  bool dashed = false;  // some operands or users are not in the picture
  int cluster = -1;     // the innermost box around it; -1: none
};

struct DrawnEdge {
  enum class Kind : uint8_t {
    kData,
    kControl,  // a control dependency
    kResult,   // from a called computation's result to the instruction that calls it
  };
  int from = 0, to = 0;  // nodes
  Kind kind = Kind::kData;
  std::string label;       // the value's shape
  std::string head_label;  // the operand's number, where the user has several
  std::string tooltip;
  bool large = true;      // kLargeElements elements or more
  int from_cluster = -1;  // kResult: the edge leaves this box rather than the node
};

struct DrawnCluster {
  int parent = -1;
  std::string title, subtitle, tooltip;
  bool fused = false;
};

struct Drawing {
  std::string title;
  std::vector<std::string> legend_titles;  // beside legend_colours
  std::vector<Colours> legend_colours;
  std::vector<DrawnNode> nodes;
  std::vector<DrawnEdge> edges;
  std::vector<DrawnCluster> clusters;  // parents before children
};

struct DrawOptions {
  bool constants = true;             // false: not even as text in their users
  bool fold_tuple_elements = false;  // get-tuple-element becomes a label of its users' edges
  bool expand_fusions = true;        // a fusion is a box around its computation
  bool edge_shapes = true;           // edges carry their value's shape
  bool backend_config = false;
  bool metadata = true;  // op_name and source in tooltips
};

// Draws what is selected. `overlay` colours nodes and may add a line to each; pass an empty one for
// XLA's colours by opcode.
Drawing Draw(const ModuleIndex& index, const Selection& selection, const DrawOptions& options,
             const Overlay& overlay);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
