// From a selection to nodes, edges and boxes, in XLA's conventions (hlo_graph_dumper): constants
// and reducers become text in their users, fusions and called computations become boxes,
// get-tuple-elements may become edge labels. Formats are unknown here: formats/ writes the Drawing.
// Linear in shown instructions and edges; at most kMaxParallelEdges edges are drawn between two
// nodes.
#include "tools/hlo-viz/graph/drawing.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "printer/printer.h"
#include "tools/hlo-viz/graph/describe.h"
#include "tools/hlo-viz/graph/trip_counts.h"

namespace hlokit {
namespace {

constexpr size_t kMaxLines = 32;
constexpr int kMaxParallelEdges = 64;

class Drawer {
 public:
  Drawer(const ModuleIndex& index, const Selection& selection, const DrawOptions& options,
         const Overlay& overlay)
      : index_(index),
        selection_(selection),
        options_(options),
        overlay_(overlay),
        trips_(TripCounts(index.module())),
        shown_(index.module().id_bound(), false),
        node_of_(index.module().id_bound(), -1),
        cluster_of_(index.module().computation_id_bound(), -1) {}

  Drawing Run() {
    drawing_.title = selection_.title;
    drawing_.legend_titles = overlay_.legend_titles;
    drawing_.legend_colours = overlay_.legend_colours;
    CollectShown();
    AddClusters();
    for (const Instruction* i : instructions_)
      if (IsNode(*i)) AddNode(*i);
    for (const Instruction* i : instructions_) AddEdges(*i);
    AddResultEdges();
    return std::move(drawing_);
  }

 private:
  // What is selected, and the bodies of fusions that are to be expanded.
  void CollectShown() {
    std::vector<const Instruction*> open(selection_.instructions.rbegin(),
                                         selection_.instructions.rend());
    while (!open.empty()) {
      const Instruction* i = open.back();
      open.pop_back();
      if (shown_[i->id()]) continue;
      if (!options_.expand_fusions && index_.IsFused(*i->parent()) && !IsSelectedAlone(*i))
        continue;
      shown_[i->id()] = true;
      instructions_.push_back(i);
      if (i->opcode() != Opcode::kFusion || !options_.expand_fusions) continue;
      const std::vector<const Instruction*> body = index_.Instructions(*i->to_apply());
      open.insert(open.end(), body.rbegin(), body.rend());
    }
  }

  // The selection is inside one fused computation, so that leaving fusions collapsed would show
  // nothing.
  bool IsSelectedAlone(const Instruction& i) const {
    return selection_.instructions.front()->parent() == i.parent() &&
           selection_.instructions.back()->parent() == i.parent();
  }

  // A fusion whose body is drawn is a box, not a node.
  bool IsExpanded(const Instruction& i) const {
    return i.opcode() == Opcode::kFusion && options_.expand_fusions && shown_[i.id()];
  }

  // Drawn as text or as an edge label rather than as a node.
  bool IsFolded(const Instruction& i) const {
    if (i.IsRoot() || &i == selection_.centre) return false;
    if (i.IsConstant()) return !i.users().empty();
    if (i.opcode() != Opcode::kGetTupleElement || !options_.fold_tuple_elements) return false;
    return shown_[i.operand(0)->id()] && !i.users().empty();
  }

  bool IsNode(const Instruction& i) const {
    if (IsExpanded(i) || IsFolded(i)) return false;
    return !IsNamedBody(*i.parent());
  }

  // A reducer of one operation, which its callers name.
  bool IsNamedBody(const Computation& computation) const {
    return index_.OneOperation(computation) != nullptr && !index_.callers(computation).empty() &&
           !index_.IsFused(computation);
  }

  // Boxes from callers to callees, so that parents come first. No box around the only computation.
  void AddClusters() {
    absl::flat_hash_set<const Computation*> seen;
    for (const Instruction* i : instructions_)
      if (!IsNamedBody(*i->parent())) seen.insert(i->parent());
    const auto& all = index_.computations();
    for (auto it = all.rbegin(); it != all.rend(); ++it)
      if (seen.contains(*it)) AddCluster(**it, seen.size() == 1);
  }

  void AddCluster(const Computation& computation, bool only) {
    const Instruction* caller = ShownCaller(computation);
    if (only && caller == nullptr) return;
    DrawnCluster cluster;
    cluster.parent = caller == nullptr ? -1 : cluster_of_[caller->parent()->id()];
    cluster.fused = index_.IsFused(computation);
    cluster.title = cluster.fused && caller != nullptr
                        ? absl::StrCat("Fused expression for ", Shown(caller->name(), 120))
                        : Shown(computation.name(), 120);
    cluster.subtitle = SubtitleOf(computation, caller);
    if (caller != nullptr) cluster.tooltip = TooltipOf(*caller);
    cluster_of_[computation.id()] = static_cast<int>(drawing_.clusters.size());
    drawing_.clusters.push_back(std::move(cluster));
  }

  const Instruction* ShownCaller(const Computation& computation) const {
    for (const Instruction* caller : index_.callers(computation))
      if (shown_[caller->id()]) return caller;
    return nullptr;
  }

  std::string SubtitleOf(const Computation& computation, const Instruction* caller) const {
    if (computation.IsEntry()) return "ENTRY";
    if (caller == nullptr) return "";
    if (caller->opcode() == Opcode::kFusion) {
      std::string text(Text(caller->attr<FusionAttrs>().kind));
      if (const Overlay::Mark* mark = overlay_.Of(*caller); mark != nullptr && !mark->line.empty())
        absl::StrAppend(&text, ", ", mark->line);
      return text;
    }
    const absl::string_view opcode = Text(caller->opcode());
    const bool condition = caller->opcode() == Opcode::kWhile && caller->called(0) == &computation;
    const size_t others = index_.callers(computation).size() - 1;
    return absl::StrCat(
        caller->opcode() == Opcode::kWhile ? (condition ? "condition" : "body") : "called", " of ",
        opcode == caller->name() ? "" : absl::StrCat(opcode, " "), Shown(caller->name(), 120),
        others > 0 ? absl::StrCat(" and ", others, " more") : "", TripsText(*caller));
  }

  // `, 50 times`
  std::string TripsText(const Instruction& caller) const {
    const int64_t trips = trips_.empty() ? 0 : trips_[caller.id()];
    return trips > 0 ? absl::StrCat(", ", trips, trips == 1 ? " time" : " times") : "";
  }

  void AddNode(const Instruction& i) {
    DrawnNode node;
    node.key = i.name();
    node.title = TitleOf(i);
    node.lines = LinesOf(i);
    if (options_.metadata) node.tooltip = TooltipOf(i);
    node.shape = ShapeOf(i);
    node.colours = ColoursOfNode(i);
    node.dashed = MissesNeighbours(i);
    node.cluster = cluster_of_[i.parent()->id()];
    node_of_[i.id()] = static_cast<int>(drawing_.nodes.size());
    drawing_.nodes.push_back(std::move(node));
  }

  std::vector<std::string> LinesOf(const Instruction& i) const {
    std::vector<std::string> lines;
    if (options_.constants)
      for (int64_t k = 0; k < i.operand_count(); ++k)
        if (IsFolded(*i.operand(k)) && i.operand(k)->IsConstant())
          lines.push_back(absl::StrCat("operand ", k, " = ", ConstantText(*i.operand(k))));
    if (i.IsConstant()) lines.push_back(ConstantText(i));
    for (std::string& line : AttributeLines(i)) lines.push_back(std::move(line));
    for (const Computation* called : i.called())
      if (const Instruction* operation = index_.OneOperation(*called))
        lines.push_back(absl::StrCat("Subcomputation: ", Text(operation->opcode())));
    if (i.sharding() != nullptr) lines.push_back(ShardingLine(i));
    if (options_.backend_config && !i.backend_config().empty())
      lines.push_back(absl::StrCat("backend_config: ", Shown(i.backend_config(), 256)));
    lines.push_back(ShapeLine(i.shape()));
    if (const Overlay::Mark* mark = overlay_.Of(i); mark != nullptr && !mark->line.empty())
      if (const std::string sharding = absl::StrCat("sharding=", mark->line);
          std::find(lines.begin(), lines.end(), sharding) == lines.end())
        lines.push_back(mark->line);
    if (lines.size() > kMaxLines) {
      lines.resize(kMaxLines);
      lines.push_back("...");
    }
    return lines;
  }

  static std::string ShardingLine(const Instruction& i);

  NodeShape ShapeOf(const Instruction& i) const {
    if (&i == selection_.centre) return NodeShape::kDiamond;
    return i.opcode() == Opcode::kWhile ? NodeShape::kEllipse : NodeShape::kBox;
  }

  // An overlay's colours come first, then the highlight of the centre, then the opcode's.
  Colours ColoursOfNode(const Instruction& i) const {
    if (const Overlay::Mark* mark = overlay_.Of(i)) {
      if (mark->present) return mark->colours;
      return {"#fafafa", "#bdbdbd", "#757575"};
    }
    if (&i == selection_.centre) return ColoursOf(Look::kDarkRed);
    return ColoursOf(LookOf(i, index_.IsFused(*i.parent())));
  }

  // Whether an operand or user is not drawn: such nodes are dashed.
  bool MissesNeighbours(const Instruction& i) const {
    const auto missing = [this](const Instruction* other) { return !shown_[other->id()]; };
    return std::any_of(i.operands().begin(), i.operands().end(),
                       [&](const Instruction* o) { return missing(o) && !o->IsConstant(); }) ||
           std::any_of(i.users().begin(), i.users().end(), missing);
  }

  // The node that stands for an instruction's value: a box's for its result, a folded
  // get-tuple-element's for its tuple, with the indices crossed. -1: none is drawn.
  int SourceOf(const Instruction& i, std::string& path) const {
    const Instruction* source = &i;
    while (true) {
      if (IsFolded(*source) && !source->IsConstant()) {
        path = absl::StrCat("[", source->tuple_index(), "]", path);
        source = source->operand(0);
      } else if (IsExpanded(*source)) {
        source = source->to_apply()->root();
      } else {
        return node_of_[source->id()];
      }
    }
  }

  void AddEdges(const Instruction& user) {
    if (IsFolded(user)) return;
    absl::flat_hash_map<int, int> drawn;  // edges from each node
    for (int64_t k = 0; k < user.operand_count(); ++k) {
      const Instruction& operand = *user.operand(k);
      if (!shown_[operand.id()] || (operand.IsConstant() && IsFolded(operand))) continue;
      std::string path;
      const int from = SourceOf(operand, path);
      const int to = TargetOf(user, k);
      if (from < 0 || to < 0 || ++drawn[from] > kMaxParallelEdges) continue;
      AddDataEdge(from, to, operand, path, user, k);
    }
    for (const Instruction* before : user.control_predecessors()) AddControlEdge(*before, user);
  }

  int TargetOf(const Instruction& user, int64_t k) const {
    const Instruction* target = &user;
    while (IsExpanded(*target)) {
      if (k >= target->to_apply()->parameter_count()) return -1;
      target = target->to_apply()->parameter(k);
    }
    return node_of_[target->id()];
  }

  // The label names the element of a tuple and the shape; the head label, the operand's number.
  void AddDataEdge(int from, int to, const Instruction& operand, const std::string& path,
                   const Instruction& user, int64_t k) {
    DrawnEdge edge;
    edge.from = from;
    edge.to = to;
    if (options_.edge_shapes)
      edge.label = absl::StrCat(path, path.empty() ? "" : " ", Shown(Text(operand.shape()), 40));
    if (user.operand_count() > 1 && !IsExpanded(user)) edge.head_label = absl::StrCat(k);
    edge.tooltip = absl::StrCat(Shown(operand.name(), 120), " ", Shown(Text(operand.shape()), 120),
                                " -> ", Shown(user.name(), 120), ", operand ", k);
    edge.large = !operand.shape().IsArray() || operand.shape().ElementCount() >= kLargeElements;
    drawing_.edges.push_back(std::move(edge));
  }

  // Control dependencies are dotted and carry no data.
  void AddControlEdge(const Instruction& before, const Instruction& after) {
    std::string path;
    const int from = shown_[before.id()] ? SourceOf(before, path) : -1;
    const int to = IsExpanded(after) ? SourceOf(after, path) : node_of_[after.id()];
    if (from < 0 || to < 0) return;
    DrawnEdge edge;
    edge.from = from;
    edge.to = to;
    edge.kind = DrawnEdge::Kind::kControl;
    edge.label = "ctrl";
    edge.tooltip =
        absl::StrCat(Shown(before.name(), 120), " must come before ", Shown(after.name(), 120));
    drawing_.edges.push_back(std::move(edge));
  }

  // From each drawn body, fusions aside, to what calls it.
  void AddResultEdges() {
    for (const Instruction* caller : instructions_) {
      if (IsExpanded(*caller) || node_of_[caller->id()] < 0) continue;
      for (const Computation* called : caller->called()) {
        std::string path;
        if (called->root() == nullptr || !shown_[called->root()->id()]) continue;
        const int from = SourceOf(*called->root(), path);
        if (from < 0 || cluster_of_[called->id()] < 0) continue;
        DrawnEdge edge;
        edge.from = from;
        edge.to = node_of_[caller->id()];
        edge.kind = DrawnEdge::Kind::kResult;
        edge.from_cluster = cluster_of_[called->id()];
        edge.tooltip = absl::StrCat("result of ", Shown(called->name(), 120));
        drawing_.edges.push_back(std::move(edge));
      }
    }
  }

  const ModuleIndex& index_;
  const Selection& selection_;
  const DrawOptions& options_;
  const Overlay& overlay_;
  const std::vector<int64_t> trips_;              // by instruction id
  std::vector<bool> shown_;                       // by instruction id
  std::vector<const Instruction*> instructions_;  // shown, fusions before their bodies
  std::vector<int> node_of_;                      // by instruction id; -1: no node
  std::vector<int> cluster_of_;                   // by computation id; -1: no box
  Drawing drawing_;
};

std::string Drawer::ShardingLine(const Instruction& i) {
  return absl::StrCat("sharding=", Shown(Text(*i.sharding()), 96));
}

}  // namespace

Drawing Draw(const ModuleIndex& index, const Selection& selection, const DrawOptions& options,
             const Overlay& overlay) {
  return Drawer(index, selection, options, overlay).Run();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
