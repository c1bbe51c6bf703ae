// Writing DOT.
#include "tools/hlo-viz/formats/dot.h"

#include <algorithm>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "tools/hlo-viz/graph/describe.h"

namespace hlokit {
namespace {

constexpr size_t kMaxBytes = 6000;  // of one string; escapes may double it

// Between `<` and `>`: as XML has it.
std::string Html(absl::string_view text) {
  return absl::StrReplaceAll(Shown(text, kMaxBytes),
                             {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

// A quoted string in which dot finds no escapes of its own. Newlines become those of XML, which
// tooltips show.
std::string Quoted(absl::string_view text) {
  return absl::StrCat(
      "\"",
      absl::StrReplaceAll(text.substr(0, kMaxBytes),
                          {{"\\", "\\\\"}, {"\"", "\\\""}, {"&", "&amp;"}, {"\n", "&#10;"}}),
      "\"");
}

absl::string_view ShapeName(NodeShape shape) {
  switch (shape) {
    case NodeShape::kBox:
      return "box";
    case NodeShape::kEllipse:
      return "ellipse";
    case NodeShape::kDiamond:
      return "diamond";
    case NodeShape::kCircle:
      return "circle";
    case NodeShape::kStack:
      return "box3d";
  }
  __builtin_unreachable();
}

class DotWriter {
 public:
  explicit DotWriter(const Drawing& drawing)
      : drawing_(drawing), children_(drawing.clusters.size() + 1), nodes_(children_.size()) {
    // Slot 0 holds what is in no cluster.
    for (size_t k = 0; k < drawing.clusters.size(); ++k)
      children_[drawing.clusters[k].parent + 1].push_back(static_cast<int>(k));
    for (size_t k = 0; k < drawing.nodes.size(); ++k)
      nodes_[drawing.nodes[k].cluster + 1].push_back(static_cast<int>(k));
  }

  std::string Run() {
    WriteHead();
    WriteInside(-1);
    for (const DrawnEdge& edge : drawing_.edges) WriteEdge(edge);
    out_ += "}\n";
    return std::move(out_);
  }

 private:
  void WriteHead() {
    absl::StrAppend(
        &out_,
        "digraph G {\n  rankdir=TB; compound=true; newrank=false; ranksep=0.35; nodesep=0.2;\n",
        LayoutLimits(),
        "  labelloc=t; fontname=\"Roboto,Helvetica,Arial,sans-serif\"; fontsize=14;\n", "  label=<",
        Heading(), ">;\n",
        "  node [fontname=\"Roboto,Helvetica,Arial,sans-serif\", fontsize=11, style=filled, "
        "shape=box, margin=\"0.09,0.05\"];\n",
        "  edge [fontname=\"Roboto,Helvetica,Arial,sans-serif\", fontsize=8, color=\"#616161\", "
        "fontcolor=\"#757575\", arrowsize=0.6];\n");
  }

  // Large graphs get fewer rounds of improvement, and the largest straight edges: dot would take
  // minutes, 17 seconds for 1,600 nodes.
  const char* LayoutLimits() const {
    if (drawing_.nodes.size() > 800)
      return "  nslimit=0.3; nslimit1=0.3; mclimit=0.1; splines=line;\n";
    return drawing_.nodes.size() > 40 ? "  nslimit=2; nslimit1=2; mclimit=0.5;\n" : "";
  }

  // The title, and below it boxes of colour and what they mean.
  std::string Heading() const {
    const std::string title = absl::StrCat("<b>", Html(drawing_.title), "</b>");
    if (drawing_.legend_titles.empty()) return title;
    constexpr size_t kInARow = 4;
    std::string rows;
    for (size_t k = 0; k < drawing_.legend_titles.size(); ++k)
      absl::StrAppend(&rows,
                      k % kInARow > 0 ? ""
                      : k == 0        ? "<tr>"
                                      : "</tr><tr>",
                      "<td border=\"1\" fixedsize=\"true\" width=\"12\" height=\"12\" bgcolor=\"",
                      drawing_.legend_colours[k].fill, "\" color=\"",
                      drawing_.legend_colours[k].stroke,
                      "\"></td><td align=\"left\"><font point-size=\"10\">",
                      Html(drawing_.legend_titles[k]), "</font></td>");
    return absl::StrCat("<table border=\"0\" cellborder=\"0\" cellspacing=\"3\"><tr><td colspan=\"",
                        2 * kInARow, "\">", title, "</td></tr>", rows, "</tr></table>");
  }

  // The content of cluster `k` (-1: of the whole), boxes in boxes, with a stack of its own: calls
  // may nest deep.
  void WriteInside(int k) {
    struct Open {
      int cluster;
      size_t next_child;
    };
    std::vector<Open> open = {{k, 0}};
    for (int node : nodes_[k + 1]) WriteNode(node);
    while (!open.empty()) {
      Open& top = open.back();
      const auto& children = children_[top.cluster + 1];
      if (top.next_child == children.size()) {
        if (top.cluster != k) out_ += "  }\n";
        open.pop_back();
        continue;
      }
      const int child = children[top.next_child++];
      OpenCluster(child);
      for (int node : nodes_[child + 1]) WriteNode(node);
      open.push_back({child, 0});
    }
  }

  void OpenCluster(int k) {
    const DrawnCluster& cluster = drawing_.clusters[k];
    absl::StrAppend(&out_, "  subgraph cluster_", k, " {\n    label=<<b>", Html(cluster.title),
                    "</b>", cluster.subtitle.empty() ? "" : "<br/>", Html(cluster.subtitle),
                    ">; labelloc=t; fontsize=12; style=\"rounded,filled\"; ",
                    cluster.fused ? "fillcolor=\"#eceff1\"; color=\"#9ea7aa\";"
                                  : "fillcolor=\"#fafafa\"; color=\"#bdbdbd\";",
                    " tooltip=", Quoted(cluster.tooltip.empty() ? cluster.title : cluster.tooltip),
                    ";\n");
  }

  void WriteNode(int k) {
    const DrawnNode& node = drawing_.nodes[k];
    std::string label = absl::StrCat("<b>", Html(node.title), "</b>");
    for (const std::string& line : node.lines) absl::StrAppend(&label, "<br/>", Html(line));
    absl::StrAppend(&out_, "  n", k, " [label=<", label, ">, id=", Quoted(Shown(node.key, 200)));
    if (node.shape != NodeShape::kBox) absl::StrAppend(&out_, ", shape=", ShapeName(node.shape));
    if (node.shape == NodeShape::kStack) out_ += ", margin=\"0.12,0.09\"";
    if (node.dashed) out_ += ", style=\"filled,dashed\"";
    absl::StrAppend(&out_, ", fillcolor=\"", node.colours.fill, "\", color=\"", node.colours.stroke,
                    "\"");
    if (node.colours.text != "#000000")
      absl::StrAppend(&out_, ", fontcolor=\"", node.colours.text, "\"");
    absl::StrAppend(&out_, ", tooltip=", Quoted(node.tooltip.empty() ? node.title : node.tooltip),
                    "];\n");
  }

  void WriteEdge(const DrawnEdge& edge) {
    absl::StrAppend(&out_, "  n", edge.from, " -> n", edge.to, " [tooltip=", Quoted(edge.tooltip));
    if (!edge.label.empty()) absl::StrAppend(&out_, ", label=", Quoted(edge.label));
    if (!edge.head_label.empty()) absl::StrAppend(&out_, ", headlabel=", Quoted(edge.head_label));
    if (!edge.large) out_ += ", arrowhead=empty";
    if (edge.kind == DrawnEdge::Kind::kControl) out_ += ", style=dotted, color=\"#9e9e9e\"";
    if (edge.kind == DrawnEdge::Kind::kResult)
      absl::StrAppend(&out_, ", style=dashed, color=\"#9e9e9e\", ltail=cluster_",
                      edge.from_cluster);
    out_ += "];\n";
  }

  const Drawing& drawing_;
  std::vector<std::vector<int>> children_, nodes_;  // by cluster + 1
  std::string out_;
};

}  // namespace

std::string DotText(const Drawing& drawing) { return DotWriter(drawing).Run(); }

// Operands stand before their users in `nodes`; the few edges that go back pass nothing.
int64_t PlacedNodes(const Drawing& drawing) {
  std::vector<const DrawnEdge*> edges;
  for (const DrawnEdge& edge : drawing.edges)
    if (edge.from < edge.to) edges.push_back(&edge);
  absl::c_sort(edges, [](const DrawnEdge* a, const DrawnEdge* b) { return a->to < b->to; });
  std::vector<int64_t> rank(drawing.nodes.size());
  for (const DrawnEdge* edge : edges)
    rank[edge->to] = std::max(rank[edge->to], rank[edge->from] + 1);
  auto placed = static_cast<int64_t>(drawing.nodes.size());
  for (const DrawnEdge* edge : edges) placed += rank[edge->to] - rank[edge->from] - 1;
  return placed;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
