// Matches the instructions of two versions of a module (hlo-diff, the explorer, dump folders).
//
// Names change between passes, so instructions are paired by structure, in rounds from the surest
// to the weakest evidence. Each round pairs instructions that have the same key, if the key occurs
// equally often in both versions:
// - hash of the operand graph and hash of the use graph (unique instructions in both directions);
// - operand hash and name; operand hash alone; the two roots;
// - then from each pair to its operands in the same position and to its only unpaired user;
// - op_name with opcode and shape; name with opcode.
//
// Before: a, b = add(a, a), c = exp(b).  After: a, b2 = add(a, a), n = negate(b2), c2 = exp(n). b
// and b2 match by hash, c and c2 as roots of one opcode; n is left over as added. Computations are
// paired by their callers, then by name. Cost: near linear (hash maps per round).
#include "analysis/module_match.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "analysis/structural_hash.h"

namespace hlokit {
namespace {

constexpr std::pair<uint32_t, absl::string_view> kAspectNames[] = {
    {kOpcodeAspect, "opcode"},
    {kShapeAspect, "shape"},
    {kLayoutAspect, "layout"},
    {kOperandsAspect, "operands"},
    {kAttributesAspect, "attributes"},
    {kCalledAspect, "called computations"},
    {kShardingAspect, "sharding"},
    {kBackendConfigAspect, "backend config"},
    {kFrontendAspect, "frontend attributes"},
    {kControlAspect, "control dependencies"},
    {kMetadataAspect, "metadata"},
};

// By instruction id: what an instruction is used for, from the root down.
void HashUses(const std::vector<Instruction*>& post_order, std::vector<uint64_t>& uses) {
  for (auto i = post_order.rbegin(); i != post_order.rend(); ++i) {
    uint64_t sum = (*i)->IsRoot() ? 1 : 0;  // users stand in no order
    for (const Instruction* user : (*i)->users())
      for (int64_t o = 0; o < user->operand_count(); ++o)
        if (user->operand(o) == *i)
          sum += absl::HashOf(static_cast<int>(user->opcode()), user->shape(), o, uses[user->id()]);
    uses[(*i)->id()] = sum;
  }
}

bool SameSharding(const Instruction& a, const Instruction& b) {
  if (a.sharding() == nullptr || b.sharding() == nullptr) return a.sharding() == b.sharding();
  return *a.sharding() == *b.sharding();
}

// Like enough to be one instruction that changed.
bool Alike(const Instruction& a, const Instruction& b) {
  return a.opcode() == b.opcode() && a.operand_count() == b.operand_count();
}

}  // namespace

std::string AspectsText(uint32_t aspects) {
  std::vector<absl::string_view> names;
  for (const auto& [bit, name] : kAspectNames)
    if (aspects & bit) names.push_back(name);
  return absl::StrJoin(names, ", ");
}

// Pairs the instructions of two computations.
class ComputationMatcher {
 public:
  ComputationMatcher(ModuleMatch& match, const Computation& before, const Computation& after)
      : match_(match),
        before_(before),
        after_(after),
        before_order_(before.PostOrder()),
        after_order_(after.PostOrder()) {}

  void Run() {
    for (int64_t p = 0; p < std::min(before_.parameter_count(), after_.parameter_count()); ++p)
      Pair(before_.parameter(p), after_.parameter(p));
    HashUses(before_order_, match_.before_uses_);
    HashUses(after_order_, match_.after_uses_);
    PairByKey([&](const Instruction* i, bool first) {
      return absl::HashOf(Hash(i, first),
                          (first ? match_.before_uses_ : match_.after_uses_)[i->id()]);
    });
    PairByKey(
        [&](const Instruction* i, bool first) { return absl::HashOf(Hash(i, first), i->name()); });
    PairByKey([&](const Instruction* i, bool first) { return Hash(i, first); });
    if (before_.root() != nullptr && after_.root() != nullptr &&
        Alike(*before_.root(), *after_.root()))
      Pair(before_.root(), after_.root());
    Follow();
    PairByKey([](const Instruction* i, bool) {
      return i->metadata().op_name.empty()
                 ? 0
                 : absl::HashOf(static_cast<int>(i->opcode()), i->metadata().op_name, i->shape());
    });
    PairByKey([](const Instruction* i, bool) {
      return absl::HashOf(static_cast<int>(i->opcode()), i->name());
    });
    Follow();
  }

 private:
  uint64_t Hash(const Instruction* i, bool first) const {
    return (first ? match_.before_hashes_ : match_.after_hashes_)[i->id()];
  }
  bool Free(const Instruction* before) const { return match_.AfterOf(before) == nullptr; }
  bool FreeAfter(const Instruction* after) const { return match_.BeforeOf(after) == nullptr; }

  void Pair(const Instruction* before, const Instruction* after) {
    if (before == nullptr || after == nullptr || !Free(before) || !FreeAfter(after)) return;
    match_.Pair(before, after);
    fresh_.emplace_back(before, after);
  }

  // Pairs, in order, what has one key and stands equally often in both; 0 is no key.
  template <typename Key>
  // Instructions that share a key in one version only (a duplicated subgraph) stay for a later
  // round.
  void PairByKey(Key key) {
    struct Group {
      std::vector<const Instruction*> before, after;
    };
    absl::flat_hash_map<uint64_t, Group> groups;
    for (const Instruction* i : before_order_)
      if (Free(i)) groups[key(i, true)].before.push_back(i);
    for (const Instruction* i : after_order_)
      if (FreeAfter(i)) groups[key(i, false)].after.push_back(i);
    for (const Instruction* i : before_order_) {  // not in the map's order, which is not stable
      if (!Free(i)) continue;
      const uint64_t k = key(i, true);
      const Group& group = groups[k];
      if (k == 0 || group.before.size() != group.after.size() || group.before.front() != i)
        continue;
      for (size_t n = 0; n < group.before.size(); ++n) Pair(group.before[n], group.after[n]);
    }
  }

  // From each fresh pair to its operands in the same places, and to its users where there is one
  // candidate.
  void Follow() {
    while (!fresh_.empty()) {
      const auto [before, after] = fresh_.back();
      fresh_.pop_back();
      const int64_t operands = std::min(before->operand_count(), after->operand_count());
      for (int64_t o = 0; o < operands; ++o)
        if (Free(before->operand(o)) && Alike(*before->operand(o), *after->operand(o)))
          Pair(before->operand(o), after->operand(o));
      if (const auto [x, y] = OnlyUsers(*before, *after); x != nullptr) Pair(x, y);
    }
  }

  std::pair<const Instruction*, const Instruction*> OnlyUsers(const Instruction& before,
                                                              const Instruction& after) const {
    const Instruction* x = nullptr;
    const Instruction* y = nullptr;
    for (const Instruction* user : before.users()) {
      if (!Free(user)) continue;
      if (x != nullptr) return {};
      x = user;
    }
    for (const Instruction* user : after.users()) {
      if (!FreeAfter(user)) continue;
      if (y != nullptr) return {};
      y = user;
    }
    if (x == nullptr || y == nullptr || !Alike(*x, *y)) return {};
    return {x, y};
  }

  ModuleMatch& match_;
  const Computation& before_;
  const Computation& after_;
  const std::vector<Instruction*> before_order_, after_order_;
  std::vector<std::pair<const Instruction*, const Instruction*>> fresh_;
};

ModuleMatch::ModuleMatch(const Module& before, const Module& after)
    : before_hashes_(StructuralHashes(before)),
      after_hashes_(StructuralHashes(after)),
      before_uses_(before.id_bound()),
      after_uses_(after.id_bound()),
      after_of_(before.id_bound()),
      before_of_(after.id_bound()),
      computation_after_of_(before.computation_id_bound()),
      computation_before_of_(after.computation_id_bound()) {
  Pair(before.entry(), after.entry());
  MatchComputations();
  // Computations that are called in other places now, or by nothing.
  absl::flat_hash_map<absl::string_view, const Computation*> by_name;
  for (const Computation* c : after.Computations())
    if (BeforeOf(c) == nullptr) by_name[c->name()] = c;
  for (const Computation* c : before.Computations()) {
    const auto found = by_name.find(c->name());
    if (found != by_name.end()) Pair(c, found->second);
    MatchComputations();
  }
}

void ModuleMatch::MatchComputations() {
  while (!pending_.empty()) {
    const auto [before, after] = pending_.back();
    pending_.pop_back();
    ComputationMatcher(*this, *before, *after).Run();
  }
}

void ModuleMatch::Pair(const Instruction* before, const Instruction* after) {
  after_of_[before->id()] = after;
  before_of_[after->id()] = before;
  const size_t called = std::min(before->called().size(), after->called().size());
  for (size_t c = 0; c < called; ++c) Pair(before->called(c), after->called(c));
}

void ModuleMatch::Pair(const Computation* before, const Computation* after) {
  if (before == nullptr || after == nullptr || AfterOf(before) != nullptr ||
      BeforeOf(after) != nullptr)
    return;
  computation_after_of_[before->id()] = after;
  computation_before_of_[after->id()] = before;
  pending_.emplace_back(before, after);
}

bool ModuleMatch::SameCalled(const Instruction& before, const Instruction& after) const {
  if (before.called().size() != after.called().size()) return false;
  for (size_t c = 0; c < before.called().size(); ++c) {
    const Computation* x = before.called(c);
    const Computation* y = after.called(c);
    if (AfterOf(x) == y) continue;
    // A copy of one that has its partner already, as flattening makes them.
    if (x->root() == nullptr || y->root() == nullptr ||
        before_hashes_[x->root()->id()] != after_hashes_[y->root()->id()])
      return false;
  }
  return true;
}

uint32_t ModuleMatch::Aspects(const Instruction* before) const {
  const Instruction& a = *before;
  const Instruction& b = *AfterOf(before);
  uint32_t aspects = 0;
  if (a.opcode() != b.opcode()) {
    aspects |= kOpcodeAspect;
  } else if (a.attributes() != nullptr && !a.attributes()->Equals(*b.attributes())) {
    aspects |= kAttributesAspect;
  }
  if (!SameIgnoringLayout(a.shape(), b.shape())) {
    aspects |= kShapeAspect;
  } else if (a.shape() != b.shape()) {
    aspects |= kLayoutAspect;
  }
  bool same_operands = a.operand_count() == b.operand_count();
  for (int64_t o = 0; same_operands && o < a.operand_count(); ++o)
    same_operands = AfterOf(a.operand(o)) == b.operand(o);
  if (!same_operands) aspects |= kOperandsAspect;
  if (!SameCalled(a, b)) aspects |= kCalledAspect;
  if (!SameSharding(a, b)) aspects |= kShardingAspect;
  if (a.backend_config() != b.backend_config()) aspects |= kBackendConfigAspect;
  if (a.extras().frontend_attributes != b.extras().frontend_attributes) aspects |= kFrontendAspect;
  if (a.control_predecessors().size() != b.control_predecessors().size()) aspects |= kControlAspect;
  if (!(a.metadata() == b.metadata())) aspects |= kMetadataAspect;
  return aspects;
}

namespace {

std::vector<std::string> HeaderDifferences(const ModuleHeader& a, const ModuleHeader& b,
                                           uint32_t ignored) {
  std::vector<std::string> lines;
  const auto note = [&](bool same, absl::string_view what) {
    if (!same) lines.push_back(absl::StrCat(what, " differs"));
  };
  note(a.is_scheduled == b.is_scheduled, "is_scheduled");
  note((ignored & kShapeAspect) != 0 || a.entry_layout == b.entry_layout,
       "entry_computation_layout");
  note(a.aliases == b.aliases, "input_output_alias");
  note(a.donors == b.donors, "buffer_donor");
  note(a.replica_count == b.replica_count, "replica_count");
  note(a.num_partitions == b.num_partitions, "num_partitions");
  note(a.propagate_sharding_to_parameters == b.propagate_sharding_to_parameters,
       "allow_spmd_sharding_propagation_to_parameters");
  note(a.propagate_sharding_to_output == b.propagate_sharding_to_output,
       "allow_spmd_sharding_propagation_to_output");
  note(a.alias_passthrough_params == b.alias_passthrough_params, "alias_passthrough_params");
  note(a.frontend_attributes == b.frontend_attributes, "frontend_attributes");
  note(a.others == b.others, "other attributes");
  return lines;
}

}  // namespace

ModuleDifference Difference(const Module& before, const Module& after, const ModuleMatch& match,
                            uint32_t ignored) {
  ModuleDifference result;
  result.header = HeaderDifferences(before.header(), after.header(), ignored);
  for (const Computation* c : before.ComputationsPostOrder()) {
    for (const Instruction* i : c->PostOrder()) {
      if (match.AfterOf(i) == nullptr) {
        result.removed.push_back(i);
      } else if (match.Aspects(i) & ~ignored) {
        result.changed.push_back(i);
      } else {
        ++result.same;
      }
    }
  }
  for (const Computation* c : after.ComputationsPostOrder())
    for (const Instruction* i : c->PostOrder())
      if (match.BeforeOf(i) == nullptr) result.added.push_back(i);
  return result;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
