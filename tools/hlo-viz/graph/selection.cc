// Walks that collect instructions.
//
//   the neighbourhood of X   what is at most `radius` steps away over operands and users
//   all paths from A to B    what A reaches and what reaches B, the shortest first
//   a computation            with all that it calls, callees first
// The neighbourhood is a search by distance with a bucket for each. Bitcasts cost no step, so a
// bucket may grow while it is emptied. It does not go on from tuples, nor to the users of what very
// many use, whose neighbourhood would be the module. Results stand in the order of the text.
#include "tools/hlo-viz/graph/selection.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "support/status.h"

namespace hlokit {
namespace {

using InstructionSet = absl::flat_hash_set<const Instruction*>;

std::vector<const Instruction*> InTextOrder(const ModuleIndex& index,
                                            const Computation& computation,
                                            const InstructionSet& set) {
  std::vector<const Instruction*> sorted;
  for (const Instruction* i : index.Instructions(computation))
    if (set.contains(i)) sorted.push_back(i);
  return sorted;
}

// A computation and all that it calls, through fusions too where `into_fusions`, callees first.
std::vector<const Computation*> Reached(const ModuleIndex& index, const Computation& from,
                                        bool into_fusions) {
  absl::flat_hash_set<const Computation*> seen = {&from};
  std::vector<const Computation*> open = {&from};
  while (!open.empty()) {
    const Computation* computation = open.back();
    open.pop_back();
    for (const Instruction* i : computation->Instructions()) {
      if (i->opcode() == Opcode::kFusion && !into_fusions) continue;
      for (const Computation* called : i->called())
        if (seen.insert(called).second) open.push_back(called);
    }
  }
  std::vector<const Computation*> sorted;
  for (const Computation* computation : index.computations())
    if (seen.contains(computation)) sorted.push_back(computation);
  return sorted;
}

Selection OfComputations(const ModuleIndex& index, std::string title,
                         const std::vector<const Computation*>& computations) {
  Selection selection{std::move(title), {}, nullptr};
  for (const Computation* computation : computations)
    for (const Instruction* i : index.Instructions(*computation))
      selection.instructions.push_back(i);
  return selection;
}

// What is reached from `start` by `next`, itself included, and in how many steps.
template <typename Next>
absl::flat_hash_map<const Instruction*, int> StepsFrom(const Instruction& start, Next next) {
  absl::flat_hash_map<const Instruction*, int> steps = {{&start, 0}};
  std::vector<const Instruction*> open = {&start};
  for (size_t k = 0; k < open.size(); ++k)
    next(*open[k], [&, so_far = steps[open[k]]](const Instruction* other) {
      if (steps.try_emplace(other, so_far + 1).second) open.push_back(other);
    });
  return steps;
}

class NearSearch {
 public:
  NearSearch(const Instruction& centre, const NeighbourhoodOptions& options)
      : centre_(centre), options_(options) {
    distance_[&centre] = 0;
    buckets_.resize(options.radius + 1);
    buckets_[0].push_back(&centre);
  }

  InstructionSet Run() {
    for (int d = 0; d <= options_.radius; ++d)
      for (size_t k = 0; k < buckets_[d].size(); ++k)  // grows while bitcasts are crossed
        if (distance_[buckets_[d][k]] == d) Expand(*buckets_[d][k], d);
    InstructionSet seen;
    for (const auto& [i, distance] : distance_) seen.insert(i);
    return seen;
  }

 private:
  void Expand(const Instruction& i, int distance) {
    const bool is_centre = &i == &centre_;
    if (!is_centre && (i.opcode() == Opcode::kTuple || options_.boundary.contains(&i))) return;
    if (options_.operands)
      for (const Instruction* operand : i.operands()) Reach(*operand, distance);
    const auto users = static_cast<int64_t>(i.users().size());
    if (options_.users && (is_centre || users <= options_.most_users))
      for (const Instruction* user : i.users()) Reach(*user, distance);
  }

  void Reach(const Instruction& i, int from) {
    const int distance = from + (i.opcode() == Opcode::kBitcast ? 0 : 1);
    if (distance > options_.radius) return;
    const auto [it, fresh] = distance_.try_emplace(&i, distance);
    if (!fresh && it->second <= distance) return;
    it->second = distance;
    buckets_[distance].push_back(&i);
  }

  const Instruction& centre_;
  const NeighbourhoodOptions& options_;
  absl::flat_hash_map<const Instruction*, int> distance_;
  std::vector<std::vector<const Instruction*>> buckets_;  // by distance
};

}  // namespace

Selection WholeModule(const ModuleIndex& index) {
  const Module& module = index.module();
  return OfComputations(index, absl::StrCat("Module ", module.name()),
                        Reached(index, *module.entry(), true));
}

Selection OneComputation(const ModuleIndex& index, const Computation& computation,
                         bool with_called) {
  std::vector<const Computation*> shown = {&computation};
  if (with_called) shown = Reached(index, computation, false);
  return OfComputations(index, absl::StrCat("Computation ", computation.name()), shown);
}

Selection Neighbourhood(const ModuleIndex& index, const Instruction& centre,
                        const NeighbourhoodOptions& options) {
  const InstructionSet near = NearSearch(centre, options).Run();
  const char* what = options.operands && options.users ? "Neighbourhood"
                     : options.operands                ? "Operands"
                                                       : "Users";
  return {absl::StrCat(what, " of ", centre.name(), ", ", options.radius, " steps"),
          InTextOrder(index, *centre.parent(), near), &centre};
}

absl::StatusOr<Selection> AllPaths(const ModuleIndex& index, const Instruction& from,
                                   const Instruction& to, size_t most) {
  if (from.parent() != to.parent())
    return InvalidArgument("'", from.name(), "' stands in computation '", from.parent()->name(),
                           "' and '", to.name(), "' in '", to.parent()->name(),
                           "': a path stays in one computation");
  const auto after = StepsFrom(from, [](const Instruction& i, auto reach) {
    for (const Instruction* user : i.users()) reach(user);
    for (const Instruction* next : i.control_successors()) reach(next);
  });
  if (!after.contains(&to))
    return NotFound("no path leads from '", from.name(), "' to '", to.name(), "'",
                    from.id() == to.id() ? "" : "; is it the other way round?");
  const auto before = StepsFrom(to, [](const Instruction& i, auto reach) {
    for (const Instruction* operand : i.operands()) reach(operand);
    for (const Instruction* earlier : i.control_predecessors()) reach(earlier);
  });
  std::vector<std::pair<int, const Instruction*>> both;  // by the length of the shortest path
  for (const Instruction* i : index.Instructions(*from.parent()))
    if (const auto a = after.find(i), b = before.find(i); a != after.end() && b != before.end())
      both.push_back({a->second + b->second, i});
  std::stable_sort(both.begin(), both.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  InstructionSet shown;
  for (size_t k = 0; k < std::min(both.size(), most); ++k) shown.insert(both[k].second);
  const std::string part = shown.size() < both.size()
                               ? absl::StrCat(" (the shortest, ", most, " of ", both.size(), ")")
                               : "";
  return Selection{absl::StrCat("Paths from ", from.name(), " to ", to.name(), part),
                   InTextOrder(index, *from.parent(), shown), nullptr};
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
