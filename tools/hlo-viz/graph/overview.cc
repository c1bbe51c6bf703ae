// Overviews: scopes instead of instructions. Starting with the root, the largest closed scope is
// opened until about the wanted number of nodes is visible; edges between hidden instructions
// become edges between the scopes that hold them.
#include "tools/hlo-viz/graph/overview.h"

#include <algorithm>
#include <array>
#include <map>
#include <queue>

#include "absl/strings/str_cat.h"
#include "analysis/instruction_cost.h"
#include "tools/hlo-viz/graph/describe.h"
#include "tools/hlo-viz/graph/trip_counts.h"

namespace hlokit {
namespace {

constexpr int kEnoughToSee = 8;  // nodes
constexpr int64_t kSmall = 100;  // a hundredth of the whole

// What a collapsed scope says of its instructions.
struct Summary {
  double flops = 0, bytes = 0;
  int64_t instructions = 0;
  std::array<int, kOpcodeCount> by_opcode = {};

  void Add(const Instruction& i) {
    const InstructionCost cost = CostOf(i);
    flops += cost.flops;
    bytes += cost.bytes;
    ++instructions;
    ++by_opcode[static_cast<int>(i.opcode())];
  }
};

// Opcodes that tell what a scope is for: those whose class has a strong colour.
bool IsTelling(Opcode opcode) {
  return HasTrait(opcode, kCollective) || HasTrait(opcode, kCalls) || opcode == Opcode::kDot ||
         opcode == Opcode::kConvolution || opcode == Opcode::kCustomCall ||
         opcode == Opcode::kGather || opcode == Opcode::kFft;
}

class OverviewDrawer {
 public:
  OverviewDrawer(const ModuleIndex& index, const ScopeTree& tree, const Overlay& overlay,
                 int most_nodes)
      : index_(index),
        tree_(tree),
        overlay_(overlay),
        trips_(TripCounts(index.module())),
        most_nodes_(most_nodes),
        cluster_of_scope_(tree.scopes().size(), -1),
        node_of_(index.module().id_bound(), -1) {}

  Drawing Run(const Computation& computation) {
    drawing_.title =
        computation.IsEntry()
            ? absl::StrCat("Module ", Shown(index_.module().name(), 120), ": overview")
            : absl::StrCat("Computation ", Shown(computation.name(), 120), ": overview");
    drawing_.legend_titles = overlay_.legend_titles;
    if (overlay_.kind == Overlay::Kind::kHeat)
      for (size_t k = 1; k < drawing_.legend_titles.size(); ++k)
        absl::StrAppend(&drawing_.legend_titles[k], "; of a scope ", 100 * kHeatLegendShares[k],
                        " % of all");
    drawing_.legend_colours = overlay_.legend_colours;
    Open(tree_.root_of(computation), -1, true);
    OpenLargest();
    Nodes();
    Edges();
    return std::move(drawing_);
  }

 private:
  // A scope that could be opened.
  struct Closed {
    int64_t size;
    int scope;
    bool operator<(const Closed& other) const { return size < other.size; }
  };

  static bool RunsBodies(const Instruction& i) {
    return i.opcode() == Opcode::kWhile || i.opcode() == Opcode::kCall ||
           i.opcode() == Opcode::kConditional;
  }

  static bool IsTrivial(const Instruction& i) {
    if (i.IsConstant() || i.opcode() == Opcode::kGetTupleElement) return true;
    return i.opcode() == Opcode::kBroadcast && i.operand(0)->IsConstant();
  }

  void Open(int scope, int parent_cluster, bool root) {
    const Scope& s = tree_.scopes()[scope];
    int cluster = parent_cluster;
    if (!root) {
      cluster = static_cast<int>(drawing_.clusters.size());
      DrawnCluster box;
      box.parent = parent_cluster;
      box.title = TitleOf(s);
      box.subtitle = absl::StrCat(CountText(static_cast<double>(s.size)), " instructions");
      drawing_.clusters.push_back(std::move(box));
    }
    opened_.push_back(scope);
    cluster_of_scope_[scope] = cluster;
    for (int child : s.children) closed_.push({tree_.scopes()[child].size, child});
    visible_ += static_cast<int>(s.children.size());
    for (const Instruction* i : s.instructions) {
      if (IsTrivial(*i)) continue;
      ++visible_;
      if (!RunsBodies(*i)) continue;
      for (const Computation* called : i->called()) {
        const int body = tree_.root_of(*called);
        if (caller_cluster_.try_emplace(body, cluster).second)
          closed_.push({tree_.scopes()[body].size, body});
      }
    }
  }

  void OpenLargest() {
    while (!closed_.empty()) {
      const int scope = closed_.top().scope;
      closed_.pop();
      const Scope& s = tree_.scopes()[scope];
      if (visible_ >= kEnoughToSee && SaysLittle(s)) continue;
      const auto shown = static_cast<int>(
          s.children.size() + std::count_if(s.instructions.begin(), s.instructions.end(),
                                            [](const Instruction* i) { return !IsTrivial(*i); }));
      if (visible_ + shown > most_nodes_) continue;
      Open(scope, s.parent >= 0 ? cluster_of_scope_[s.parent] : caller_cluster_[scope], false);
    }
  }

  // Of many boxes that look alike one says as much, and small ones hide what is large.
  bool SaysLittle(const Scope& s) const {
    return s.kind == Scope::Kind::kRepeats || s.size * kSmall < tree_.scopes()[opened_[0]].size;
  }

  std::string TitleOf(const Scope& s) const {
    if (s.kind == Scope::Kind::kComputation)
      return Shown(s.label.empty() ? s.computation->name()
                                   : absl::StrCat(s.computation->name(), ": ", s.label),
                   120);
    return Shown(s.label, 120);
  }

  void Nodes() {
    for (int scope : opened_) {
      const Scope& s = tree_.scopes()[scope];
      for (int child : s.children)
        if (cluster_of_scope_[child] < 0) AddScopeNode(child, cluster_of_scope_[scope]);
      for (const Instruction* i : s.instructions)
        if (!IsTrivial(*i)) AddInstructionNode(*i, cluster_of_scope_[scope]);
    }
  }

  void AddScopeNode(int scope, int cluster) {
    const Scope& s = tree_.scopes()[scope];
    Summary summary;
    std::vector<const Instruction*> inside;
    std::vector<int> open = {scope};
    const int number = static_cast<int>(drawing_.nodes.size());
    while (!open.empty()) {
      const Scope& at = tree_.scopes()[open.back()];
      open.pop_back();
      open.insert(open.end(), at.children.begin(), at.children.end());
      for (const Instruction* i : at.instructions) {
        summary.Add(*i);
        inside.push_back(i);
        node_of_[i->id()] = number;
      }
    }
    DrawnNode node;
    node.key = absl::StrCat("scope ", scope);
    node.title = TitleOf(s);
    node.lines = LinesOf(summary);
    node.shape = NodeShape::kStack;
    node.colours = {"#eceff1", "#90a4ae", "#000000"};
    if (Overlay::Mark mark = overlay_.OfScope(inside); mark.present) {
      node.colours = mark.colours;
      if (!mark.line.empty()) node.lines.push_back(std::move(mark.line));
    }
    node.cluster = cluster;
    drawing_.nodes.push_back(std::move(node));
  }

  static std::vector<std::string> LinesOf(const Summary& summary) {
    std::vector<std::string> lines = {
        absl::StrCat(CountText(static_cast<double>(summary.instructions)), " instructions")};
    std::vector<std::pair<int, int>> telling;  // count, opcode
    for (int k = 0; k < kOpcodeCount; ++k)
      if (summary.by_opcode[k] > 0 && IsTelling(static_cast<Opcode>(k)))
        telling.push_back({-summary.by_opcode[k], k});
    std::sort(telling.begin(), telling.end());
    std::string text;
    for (size_t k = 0; k < std::min<size_t>(4, telling.size()); ++k)
      absl::StrAppend(&text, k > 0 ? ", " : "", -telling[k].first, " ",
                      Text(static_cast<Opcode>(telling[k].second)));
    if (!text.empty()) lines.push_back(text);
    lines.push_back(absl::StrCat(CountText(summary.flops), " flop, ", BytesText(summary.bytes)));
    return lines;
  }

  void AddInstructionNode(const Instruction& i, int cluster) {
    DrawnNode node;
    node.key = i.name();
    node.title = hlokit::TitleOf(i);
    node.lines = {ShapeLine(i.shape())};
    if (!trips_.empty() && trips_[i.id()] > 0)
      node.lines.push_back(absl::StrCat("runs ", trips_[i.id()], " times"));
    node.tooltip = TooltipOf(i);
    node.shape = i.opcode() == Opcode::kWhile ? NodeShape::kEllipse : NodeShape::kBox;
    node.colours = ColoursOf(LookOf(i));
    if (const Overlay::Mark* mark = overlay_.Of(i); mark != nullptr && mark->present) {
      node.colours = mark->colours;
      if (!mark->line.empty()) node.lines.push_back(mark->line);
    }
    node.cluster = cluster;
    node_of_[i.id()] = static_cast<int>(drawing_.nodes.size());
    drawing_.nodes.push_back(std::move(node));
  }

  static const Instruction& Behind(const Instruction& i) {
    const Instruction* source = &i;
    while (source->opcode() == Opcode::kGetTupleElement) source = source->operand(0);
    return *source;
  }

  void Edges() {
    std::map<std::pair<int, int>, int> values;  // how many go from one node to another
    for (const Computation* computation : index_.computations())
      for (const Instruction* user : index_.Instructions(*computation)) {
        const int to = node_of_[user->id()];
        if (to < 0) continue;
        for (const Instruction* operand : user->operands()) {
          const int from = node_of_[Behind(*operand).id()];
          if (from >= 0 && from != to) ++values[{from, to}];
        }
      }
    for (const auto& [ends, count] : values) {
      DrawnEdge edge;
      edge.from = ends.first;
      edge.to = ends.second;
      edge.tooltip = absl::StrCat(count, " values: ", drawing_.nodes[ends.first].title, " -> ",
                                  drawing_.nodes[ends.second].title);
      drawing_.edges.push_back(std::move(edge));
    }
    ResultEdges();
  }

  // From opened bodies to the loops and calls that run them.
  void ResultEdges() {
    for (int scope : opened_) {
      const Scope& s = tree_.scopes()[scope];
      if (s.kind != Scope::Kind::kComputation || s.computation->root() == nullptr) continue;
      const int from = node_of_[s.computation->root()->id()];
      for (const Instruction* caller : index_.callers(*s.computation)) {
        const int to = node_of_[caller->id()];
        if (from < 0 || to < 0 || cluster_of_scope_[scope] < 0) continue;
        DrawnEdge edge;
        edge.from = from;
        edge.to = to;
        edge.kind = DrawnEdge::Kind::kResult;
        edge.from_cluster = cluster_of_scope_[scope];
        drawing_.edges.push_back(std::move(edge));
      }
    }
  }

  const ModuleIndex& index_;
  const ScopeTree& tree_;
  const Overlay& overlay_;
  const std::vector<int64_t> trips_;  // by instruction id
  const int most_nodes_;
  int visible_ = 0;
  std::priority_queue<Closed> closed_;
  std::vector<int> opened_;
  absl::flat_hash_map<int, int> caller_cluster_;  // by a body's root scope: where it is run
  std::vector<int> cluster_of_scope_;             // of opened scopes
  std::vector<int> node_of_;                      // by instruction id
  Drawing drawing_;
};

}  // namespace

Drawing DrawOverview(const ModuleIndex& index, const ScopeTree& tree,
                     const Computation& computation, const Overlay& overlay, int most_nodes) {
  return OverviewDrawer(index, tree, overlay, most_nodes).Run(computation);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
