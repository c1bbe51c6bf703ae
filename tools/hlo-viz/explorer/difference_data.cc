// The difference between two stages for the page: instructions added or changed, and those removed
// ("ghosts"), each placed in the new module: before its first reader that is still there, or after
// its last operand, in the scope of its op_name where that still exists. At most kMaxRemoved ghosts
// are listed.
#include "tools/hlo-viz/explorer/difference_data_internal.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "printer/printer.h"
#include "tools/hlo-viz/explorer/json_internal.h"
#include "tools/hlo-viz/graph/describe.h"

namespace hlokit {
namespace {

constexpr size_t kMaxRemoved = 10000, kMaxTexts = 2000;
constexpr size_t kTextBytes = 400, kShapeBytes = 80, kMaxLinks = 50;

// An instruction that is no longer there.
struct Ghost {
  const Instruction* was;
  int scope = -1;
  int64_t place = -1;
};

class GhostFinder {
 public:
  GhostFinder(const ScopeTree& tree, const std::vector<int64_t>& number,
              const PageDataInputs& inputs)
      : tree_(tree),
        number_(number),
        match_(*inputs.match),
        ghost_of_(inputs.before->id_bound(), -1) {
    for (const Computation* computation : inputs.before->Computations())
      for (const Instruction* i : computation->Instructions())
        if (match_.AfterOf(i) == nullptr) Collect(*i);
    CollectScopes();
    // What is read stands before its first reader, what is not, after what it was made from.
    for (auto ghost = ghosts.rbegin(); ghost != ghosts.rend(); ++ghost)
      Place(*ghost, ghost->was->users(), true);
    for (Ghost& ghost : ghosts)
      if (ghost.scope < 0) Place(ghost, ghost.was->operands(), false);
    for (Ghost& ghost : ghosts) {
      if (ghost.scope < 0) PlaceInComputation(ghost);
      PlaceByName(ghost);
    }
  }

  // Numbers of neighbours as AppendDifference tells them.
  template <typename Neighbours>
  std::string Links(const Neighbours& neighbours) const {
    std::vector<int64_t> links;
    for (const Instruction* before : neighbours) {
      if (links.size() == kMaxLinks) break;
      if (const Instruction* after = match_.AfterOf(before); after != nullptr) {
        links.push_back(number_[after->id()]);
      } else if (ghost_of_[before->id()] >= 0) {
        links.push_back(-1 - ghost_of_[before->id()]);
      }
    }
    return absl::StrJoin(links, ",");
  }

  std::vector<Ghost> ghosts;
  int64_t more = 0;

 private:
  void Collect(const Instruction& i) {
    if (ghosts.size() == kMaxRemoved) {
      ++more;
      return;
    }
    ghost_of_[i.id()] = static_cast<int64_t>(ghosts.size());
    ghosts.push_back({&i});
  }

  // Neighbours in other computations (what was fused) do not count while its own is still there.
  template <typename Neighbours>
  void Place(Ghost& ghost, const Neighbours& neighbours, bool users) {
    const Computation* home = match_.AfterOf(ghost.was->parent());
    for (const Instruction* before : neighbours) {
      int scope = -1;
      int64_t place = -1;
      if (const Instruction* after = match_.AfterOf(before); after != nullptr) {
        scope = tree_.scope_of(*after);
        place = number_[after->id()] + (users ? 0 : 1);
      } else if (ghost_of_[before->id()] >= 0) {
        scope = ghosts[ghost_of_[before->id()]].scope;
        place = ghosts[ghost_of_[before->id()]].place;
      }
      if (scope < 0 || (home != nullptr && tree_.scopes()[scope].computation != home)) continue;
      if (ghost.scope >= 0 && (users ? place >= ghost.place : place <= ghost.place)) continue;
      ghost.scope = scope;
      ghost.place = place;
    }
  }

  void PlaceInComputation(Ghost& ghost) const {
    const Computation* home = match_.AfterOf(ghost.was->parent());
    if (home == nullptr) return;
    ghost.scope = tree_.root_of(*home);
    ghost.place = number_[home->root()->id()];
  }

  // Where instructions of each op_name's scope stand; parameters and constants stand elsewhere.
  void CollectScopes() {
    for (const Scope& scope : tree_.scopes())
      for (const Instruction* i : scope.instructions)
        if (!i->IsParameter() && !i->IsConstant() && !i->metadata().op_name.empty())
          by_name_.try_emplace({scope.computation, ScopeOf(i->metadata().op_name)},
                               tree_.scope_of(*i));
  }

  // A scope that still holds what has its name is better than that of a neighbour.
  void PlaceByName(Ghost& ghost) const {
    const Computation* home = match_.AfterOf(ghost.was->parent());
    const auto it = by_name_.find({home, ScopeOf(ghost.was->metadata().op_name)});
    if (it != by_name_.end()) ghost.scope = it->second;
  }

  const ScopeTree& tree_;
  const std::vector<int64_t>& number_;
  const ModuleMatch& match_;
  absl::flat_hash_map<std::pair<const Computation*, absl::string_view>, int> by_name_;
  std::vector<int64_t> ghost_of_;  // by id in the module before
};

void AppendChanged(std::string& out, const ModuleIndex& index, const std::vector<int64_t>& number,
                   const ModuleMatch& match) {
  std::vector<std::string> was;
  {
    JsonList list(out, "state");
    for (const Computation* computation : index.computations())
      for (const Instruction* i : index.Instructions(*computation)) {
        const Instruction* partner = match.BeforeOf(i);
        const uint32_t differs =
            partner == nullptr ? 0 : match.Aspects(partner) & ~uint32_t{kMetadataAspect};
        if (partner != nullptr && differs == 0) continue;
        list.Add(number[i->id()]);
        list.Add(partner == nullptr ? 1 : 2);
        if (partner == nullptr || was.size() == kMaxTexts) continue;
        std::string row = absl::StrCat("[", number[i->id()], ",");
        AppendJsonText(row, AspectsText(differs));
        row += ',';
        AppendJsonText(row, Shown(Print(*partner), kTextBytes));
        was.push_back(row + "]");
      }
  }
  JsonList list(out, "was");
  for (const std::string& row : was) list.AddRaw(row);
}

void AppendRemoved(std::string& out, const GhostFinder& finder) {
  JsonList list(out, "removed");
  for (const Ghost& ghost : finder.ghosts) {
    std::string row = "[";
    AppendJsonText(row, ghost.was->name());
    row += ',';
    AppendJsonText(row, Shown(Print(*ghost.was), kTextBytes));
    row += ',';
    AppendJsonText(row, Text(ghost.was->opcode()));
    row += ',';
    AppendJsonText(row, Shown(Text(ghost.was->shape()), kShapeBytes));
    absl::StrAppend(&row, ",", ghost.scope, ",", ghost.place, ",[",
                    finder.Links(ghost.was->operands()), "],[", finder.Links(ghost.was->users()),
                    "],");
    AppendJsonText(row, Shown(ghost.was->metadata().op_name, kTextBytes));
    const auto append_frame = [](std::string* out, const std::string& frame) {
      AppendJsonText(*out, Shown(frame, kTextBytes));
    };
    absl::StrAppend(&row, ",[", absl::StrJoin(SourceFrames(*ghost.was), ",", append_frame), "]]");
    list.AddRaw(row);
  }
}

}  // namespace

void AppendDifference(std::string& out, const ModuleIndex& index, const ScopeTree& tree,
                      const std::vector<int64_t>& number, const PageDataInputs& inputs) {
  if (inputs.before == nullptr) {
    out += ",\"diff\":null";
    return;
  }
  const GhostFinder finder(tree, number, inputs);
  absl::StrAppend(&out, ",\"diff\":{\"more\":", finder.more);
  AppendChanged(out, index, number, *inputs.match);
  AppendRemoved(out, finder);
  out += "}";
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
