// Why `fusion` computes instructions in one loop, or does not.
//
// The pass runs on a copy up to where it decides; what it decided about one instruction is told as
// it stands. Of two, a loop with both is looked for; else the way of values from one to the other,
// and on it the first place where the plan kept a producer apart from its reader:
//   a = tanh(x); d = dot(a, y); s = add(d, d)      a and s: %d is a dot, which no loop takes in
// Cost: that of the pass, and of two, a search of what the later one reads.
#include "passes/fusions/fusion_decisions.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "passes/fusions/fusion_plan_internal.h"

namespace hlokit {
namespace {

// What becomes of the instruction of that name in one computation, of which this is a copy.
void AddDecisions(Computation& computation, absl::string_view name, const FusionLimits& limits,
                  std::vector<std::string>& out) {
  const auto tell_group = [&](const FusionGroup& group, absl::string_view kind) {
    for (const FusionGroup::Member& member : group.members)
      if (member.instruction->name() == name && member.instruction != group.root())
        out.push_back(absl::StrCat("computed in the ", kind, " of %", group.root()->name()));
    if (group.root()->name() == name)
      out.push_back(
          absl::StrCat("the root of a ", kind, " of ", group.members.size(), " instructions"));
  };
  for (const bool together : {true, false}) {
    const std::vector<FusionGroup> rows = FindRowGroups(computation, together, limits);
    for (const FusionGroup& group : rows) tell_group(group, together ? "rows" : "columns");
    FuseAll(rows, computation);
  }
  const FusionPlan plan(computation, limits);
  for (const FusionGroup& group : plan.groups()) tell_group(group, "loop");
  for (const FusionPlan::Apart& apart : plan.apart()) {
    if (apart.producer->name() == name)
      out.push_back(absl::StrCat("apart from ",
                                 apart.root == nullptr ? std::string("what reads it")
                                                       : absl::StrCat("%", apart.root->name()),
                                 ": ", apart.why));
    if (apart.root != nullptr && apart.root->name() == name)
      out.push_back(absl::StrCat("does not take %", apart.producer->name(), " in: ", apart.why));
  }
}

const Instruction* FindNamed(const Module& module, absl::string_view name) {
  const Instruction* found = nullptr;
  for (const Computation* computation : module.Computations())
    for (const Instruction* i : computation->Instructions())
      if (i->name() == name && (found == nullptr || FusionAround(*found->parent()) != nullptr))
        found = i;
  return found;
}

bool Holds(const FusionGroup& group, const Instruction* i) { return group.Find(i) >= 0; }

// Instructions from `from` to `to`, each read by the next; empty where there is no such way. The
// shortest.
std::vector<const Instruction*> WayBetween(const Instruction* from, const Instruction* to) {
  std::map<const Instruction*, const Instruction*> next = {{to, nullptr}};
  std::vector<const Instruction*> queue = {to};
  for (size_t k = 0; k < queue.size() && !next.contains(from); ++k)
    for (const Instruction* operand : queue[k]->operands())
      if (next.emplace(operand, queue[k]).second) queue.push_back(operand);
  std::vector<const Instruction*> way;
  if (next.contains(from))
    for (const Instruction* i = from; i != nullptr; i = next.at(i)) way.push_back(i);
  return way;
}

// Why no loop has both ends of a way: the last step of it that no loop does within.
std::string ObstacleOnWay(const FusionPlan& plan, const std::vector<const Instruction*>& way) {
  for (size_t k = way.size() - 1; k-- > 0;) {
    const Instruction *const producer = way[k], *const reader = way[k + 1];
    const auto in_one = [&](const FusionGroup& group) {
      return Holds(group, producer) && Holds(group, reader);
    };
    if (std::any_of(plan.groups().begin(), plan.groups().end(), in_one)) continue;
    const auto concerns_reader = [&](const Instruction* root) {
      if (root == nullptr || root == reader) return true;
      return std::any_of(plan.groups().begin(), plan.groups().end(), [&](const FusionGroup& group) {
        return group.root() == root && Holds(group, reader);
      });
    };
    for (const FusionPlan::Apart& apart : plan.apart())
      if (apart.producer == producer && concerns_reader(apart.root))
        return absl::StrCat("%", producer->name(), " stays apart from %", reader->name(), " (",
                            Text(reader->opcode()), "): ", apart.why);
    return absl::StrCat("%", producer->name(), " is a ", Text(producer->opcode()),
                        ", which no loop takes in");
  }
  return "the loops of both end where others read their values";
}

std::string WayText(const std::vector<const Instruction*>& way) {
  if (way.size() <= 2) return "";
  constexpr size_t kMaxNamed = 6;
  std::string text = " (";
  for (size_t k = 0; k < std::min(way.size(), kMaxNamed); ++k)
    absl::StrAppend(&text, k > 0 ? " -> %" : "%", way[k]->name());
  return absl::StrCat(text, way.size() > kMaxNamed ? " -> ...)" : ")");
}

// Both in one computation, a copy.
std::string PairDecisionIn(Computation& computation, const Instruction* a, const Instruction* b,
                           const FusionLimits& limits) {
  const auto together = [&](absl::Span<const FusionGroup> groups, absl::string_view kind) {
    for (const FusionGroup& group : groups)
      if (Holds(group, a) && Holds(group, b))
        return absl::StrCat("together: the ", kind, " of %", group.root()->name(), ", ",
                            group.members.size(), " instructions, computes both");
    return std::string();
  };
  std::vector<const Instruction*> way = WayBetween(a, b);
  if (way.empty()) way = WayBetween(b, a);
  const std::string way_text = WayText(way);
  for (const bool contiguous : {true, false}) {
    const std::vector<FusionGroup> rows = FindRowGroups(computation, contiguous, limits);
    if (std::string text = together(rows, contiguous ? "rows" : "columns"); !text.empty())
      return text;
    for (const FusionGroup& group : rows)
      for (const Instruction* i : way)
        if (Holds(group, i))
          return absl::StrCat("apart", way_text, ": %", i->name(), " is in the ",
                              contiguous ? "rows" : "columns", " of %", group.root()->name(),
                              ", which is a kernel of its own");
    FuseAll(rows, computation);
  }
  const FusionPlan plan(computation, limits);
  if (std::string text = together(plan.groups(), "loop"); !text.empty()) return text;
  if (!way.empty()) return absl::StrCat("apart", way_text, ": ", ObstacleOnWay(plan, way));
  for (const Instruction* operand : a->operands())
    if (std::find(b->operands().begin(), b->operands().end(), operand) != b->operands().end())
      return absl::StrCat("apart: neither reads the other; that both read %", operand->name(),
                          " is no reason for this pass (multi_output_fusion puts such together)");
  return "apart: neither reads what the other makes, so no memory traffic is saved";
}

}  // namespace

std::vector<std::string> FusionDecisions(const Module& module, absl::string_view name,
                                         const FusionLimits& limits) {
  std::vector<std::string> decisions;
  const std::unique_ptr<Module> copy = module.Clone();
  for (Computation* computation : copy->Computations())
    for (const Instruction* i : computation->Instructions())
      if (i->name() == name) {
        AddDecisions(*computation, name, limits, decisions);
        break;
      }
  return decisions;
}

const Instruction* FusionAround(const Computation& body) {
  for (const Computation* computation : body.module()->Computations())
    for (const Instruction* i : computation->Instructions())
      if (i->opcode() == Opcode::kFusion && i->called(0) == &body) return i;
  return nullptr;
}

std::string FusionPairDecision(const Module& module, absl::string_view first,
                               absl::string_view second, const FusionLimits& limits) {
  const std::unique_ptr<Module> copy = module.Clone();
  const Instruction *const a = FindNamed(*copy, first), *const b = FindNamed(*copy, second);
  for (const auto& [found, name] : {std::pair(a, first), std::pair(b, second)})
    if (found == nullptr) return absl::StrCat("no instruction is called ", name);
  if (a == b) return "one and the same instruction";
  if (a->parent() == b->parent()) {
    if (const Instruction* fusion = FusionAround(*a->parent()))
      return absl::StrCat("together already, in the fusion %", fusion->name());
    for (Computation* computation : copy->Computations())
      if (computation == a->parent()) return PairDecisionIn(*computation, a, b, limits);
  }
  return absl::StrCat("apart: %", a->name(), " is in ", a->parent()->name(), ", %", b->name(),
                      " in ", b->parent()->name(), "; a fusion lies in one computation");
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
