// Builds the tree of scopes that pictures open and close.
//
// 1. op_names give paths: "jit(f)/layer_0/attention/dot" is an instruction in layer_0/attention. 2.
// An instruction without op_name belongs to the common scope of its users, else of its operands. 3.
// Scopes of fewer than kSmallestScope instructions join their parents; chains of single children
// become one scope. 4. A scope of more than kMaxChildren members is cut: repeated blocks first
// (layers; tokens are hashes of opcode and shape), then where the fewest values cross (Crossings).
// Near linear in instructions; repeated blocks take n log n (repeats.h).
#include "tools/hlo-viz/graph/scope_tree.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "tools/hlo-viz/graph/overlay.h"
#include "tools/hlo-viz/graph/parts.h"
#include "tools/hlo-viz/graph/repeats.h"

namespace hlokit {
namespace {

constexpr int64_t kSmallestScope = 3;  // instructions; smaller ones join their parent

// The parts of a scope's name between slashes outside brackets.
std::vector<absl::string_view> PathOf(absl::string_view scope) {
  std::vector<absl::string_view> path;
  while (!scope.empty()) {
    const absl::string_view parent = ScopeOf(scope);
    absl::string_view last = scope.substr(parent.size());
    if (!last.empty() && last[0] == '/') last.remove_prefix(1);
    if (!last.empty()) path.push_back(last);
    scope = parent;
  }
  std::reverse(path.begin(), path.end());
  return path;
}

// Parameters and constants stand beside what uses them.
bool HasScopeName(const Instruction& i) {
  return !i.metadata().op_name.empty() && !i.IsParameter() && !i.IsConstant();
}

// op_names of merged instructions are joined by semicolons; the first one counts.
absl::string_view ScopeNameOf(const Instruction& i) {
  const absl::string_view op_name = i.metadata().op_name;
  return ScopeOf(op_name.substr(0, op_name.find(';')));
}

}  // namespace

// The scopes of one computation.
class ScopeBuilder {
 public:
  ScopeBuilder(const ModuleIndex& index, const Computation& computation, ScopeTree& tree)
      : tree_(tree), computation_(computation), order_(index.Instructions(computation)) {
    position_.reserve(order_.size());
    for (size_t k = 0; k < order_.size(); ++k) position_[order_[k]] = static_cast<int>(k);
  }

  void Run(bool named) {
    nodes_.push_back({-1, "", {}, 0, Scope::Kind::kComputation});
    node_of_.assign(order_.size(), -1);
    if (named) PlaceNamed();
    PlaceUnnamed();
    Count();
    Dissolve();
    const size_t before = tree_.scopes_.size();
    tree_.root_of_[computation_.id()] = Emit(0, -1);
    for (size_t k = before; k < tree_.scopes_.size(); ++k) {
      auto& inside = tree_.scopes_[k].instructions;
      std::sort(inside.begin(), inside.end(), [this](const Instruction* a, const Instruction* b) {
        return position_.at(a) < position_.at(b);
      });
    }
  }

 private:
  struct Node {
    int parent;
    std::string label;
    absl::flat_hash_map<std::string, int> by_name;
    int64_t size;
    Scope::Kind kind;
  };

  struct Mean {
    double sum = 0, weight = 0;
    void Add(double value, double times) {
      sum += value * times;
      weight += times;
    }
  };

  struct Member {
    double place;  // an instruction's position, the mean of those in a scope
    int position;  // of an instruction
    int node;      // -1: an instruction
  };

  void PlaceNamed() {
    absl::flat_hash_map<absl::string_view, int> known;
    for (size_t k = 0; k < order_.size(); ++k) {
      const absl::string_view scope = ScopeNameOf(*order_[k]);
      if (!HasScopeName(*order_[k])) continue;
      const auto [it, fresh] = known.try_emplace(scope, 0);
      if (fresh) it->second = NodeAt(PathOf(scope));
      node_of_[k] = it->second;
    }
  }

  int NodeAt(const std::vector<absl::string_view>& path) {
    int node = 0;
    for (absl::string_view name : path) {
      const auto it = nodes_[node].by_name.find(name);
      if (it != nodes_[node].by_name.end()) {
        node = it->second;
        continue;
      }
      const int made = static_cast<int>(nodes_.size());
      nodes_[node].by_name[std::string(name)] = made;
      nodes_.push_back({node, std::string(name), {}, 0, Scope::Kind::kNamed});
      node = made;
    }
    return node;
  }

  int Depth(int node) const {
    int depth = 0;
    for (; node > 0; node = nodes_[node].parent) ++depth;
    return depth;
  }

  int Common(int a, int b) const {
    int da = Depth(a), db = Depth(b);
    for (; da > db; --da) a = nodes_[a].parent;
    for (; db > da; --db) b = nodes_[b].parent;
    for (; a != b; a = nodes_[a].parent) b = nodes_[b].parent;
    return a;
  }

  // What has no op_name goes where all of its users are, else to its operands.
  void PlaceUnnamed() {
    std::vector<size_t> unnamed;
    for (size_t k = order_.size(); k-- > 0;) {
      if (node_of_[k] >= 0) continue;
      int node = -1;
      for (const Instruction* user : order_[k]->users()) {
        const int at = node_of_[position_[user]];
        node = node < 0 ? at : Common(node, at);
      }
      node_of_[k] = std::max(node, 0);
      unnamed.push_back(k);
    }
    for (auto k = unnamed.rbegin(); k != unnamed.rend(); ++k)
      if (node_of_[*k] == 0) node_of_[*k] = CommonOfOperands(*order_[*k]);
  }

  int CommonOfOperands(const Instruction& i) const {
    int node = -1;
    for (const Instruction* operand : i.operands()) {
      if (operand->IsConstant() || operand->IsParameter()) continue;
      const int at = node_of_[position_.at(operand)];
      node = node < 0 ? at : Common(node, at);
    }
    return i.IsRoot() ? 0 : std::max(node, 0);
  }

  void Count() {
    for (int node : node_of_) ++nodes_[node].size;
    for (size_t k = nodes_.size(); k-- > 1;) nodes_[nodes_[k].parent].size += nodes_[k].size;
  }

  // Small scopes join their parents.
  void Dissolve() {
    for (int& node : node_of_)
      while (node > 0 && nodes_[node].size < kSmallestScope) node = nodes_[node].parent;
  }

  // Writes the scope of `node` and all inside; a chain of scopes of one child each becomes one.
  int Emit(int node, int parent) {
    CollectMembers();
    struct Open {
      int node, parent;
    };
    std::vector<Open> open = {{node, parent}};
    int first = -1;
    while (!open.empty()) {
      Open at = open.back();
      open.pop_back();
      std::string label = nodes_[at.node].label;
      while (members_[at.node].empty() && inner_[at.node].size() == 1) {
        at.node = inner_[at.node][0];
        absl::StrAppend(&label, label.empty() ? "" : "/", nodes_[at.node].label);
      }
      const int made = NewScope(at.parent < 0 ? Scope::Kind::kComputation : Scope::Kind::kNamed,
                                at.parent, std::move(label));
      if (first < 0) first = made;
      std::vector<Member> members;
      for (int k : members_[at.node]) members.push_back({static_cast<double>(k), k, -1});
      for (int inner : inner_[at.node]) members.push_back({mean_[inner], -1, inner});
      std::stable_sort(members.begin(), members.end(),
                       [](const Member& a, const Member& b) { return a.place < b.place; });
      const auto enter = [&](int inner) { open.push_back({inner, made}); };
      if (members.size() > static_cast<size_t>(kMaxChildren)) KeepLargeScopes(members, enter);
      Place(made, members, [&](int inner, int scope) { open.push_back({inner, scope}); });
    }
    return first;
  }

  // Scopes large enough to be a part stay beside the parts, under their own names.
  template <typename Enter>
  void KeepLargeScopes(std::vector<Member>& members, Enter enter) const {
    const auto is_large = [this](const Member& member) {
      return member.node >= 0 && nodes_[member.node].size >= kMaxChildren / 2;
    };
    if (std::count_if(members.begin(), members.end(), is_large) > kMaxChildren / 2) return;
    for (const Member& member : members)
      if (is_large(member)) enter(member.node);
    members.erase(std::remove_if(members.begin(), members.end(), is_large), members.end());
  }

  void CollectMembers() {
    members_.resize(nodes_.size());
    inner_.resize(nodes_.size());
    std::vector<Mean> means(nodes_.size());
    for (size_t k = 0; k < order_.size(); ++k) {
      members_[node_of_[k]].push_back(static_cast<int>(k));
      // Parameters stand first in many texts, whatever uses them.
      const bool tells = !order_[k]->IsParameter() && !order_[k]->IsConstant();
      for (int node = node_of_[k]; node >= 0; node = nodes_[node].parent)
        means[node].Add(static_cast<double>(k), tells ? 1 : 1e-6);
    }
    mean_.clear();
    for (const Mean& mean : means) mean_.push_back(mean.weight > 0 ? mean.sum / mean.weight : -1);
    for (size_t k = 1; k < nodes_.size(); ++k)
      if (mean_[k] >= 0) inner_[nodes_[k].parent].push_back(static_cast<int>(k));
  }

  int NewScope(Scope::Kind kind, int parent, std::string label) {
    Scope scope;
    scope.kind = kind;
    scope.parent = parent;
    scope.label = std::move(label);
    scope.computation = &computation_;
    const int made = static_cast<int>(tree_.scopes_.size());
    tree_.scopes_.push_back(std::move(scope));
    if (parent >= 0) tree_.scopes_[parent].children.push_back(made);
    return made;
  }

  // Puts members into `scope`, in parts where they are many. `enter` is told the scopes inside.
  template <typename Enter>
  void Place(int scope, std::vector<Member>& members, Enter enter) {
    std::vector<ScopePart> parts = {{-1, "", {{0, static_cast<int>(members.size())}}}};
    if (members.size() > static_cast<size_t>(kMaxChildren)) {
      MoveToUsers(members);
      parts = CutIntoParts({TokensOf(members), Crossings(members)});
    }
    std::vector<int> scope_of_part = {scope};
    for (const ScopePart& part : parts) {
      if (part.parent >= 0)
        scope_of_part.push_back(NewScope(part.repeats ? Scope::Kind::kRepeats : Scope::Kind::kPart,
                                         scope_of_part[part.parent], part.label));
      for (const auto [begin, end] : part.items)
        for (int k = begin; k < end; ++k)
          members[k].node < 0 ? AddInstruction(scope_of_part.back(), members[k].position)
                              : enter(members[k].node, scope_of_part.back());
    }
  }

  // Parameters and constants stand first in many texts: they are placed before their first users.
  void MoveToUsers(std::vector<Member>& members) const {
    const std::vector<int> member_at = MembersByPosition(members);
    std::vector<double> places;
    for (const Member& member : members) {
      double place = member.place;
      if (member.node < 0 && order_[member.position]->operand_count() == 0)
        for (const Instruction* user : order_[member.position]->users())
          if (const int at = member_at[position_.at(user)]; at >= 0)
            place = place == member.place ? members[at].place - 0.5
                                          : std::min(place, members[at].place - 0.5);
      places.push_back(place);
    }
    for (size_t k = 0; k < members.size(); ++k) members[k].place = places[k];
    std::stable_sort(members.begin(), members.end(),
                     [](const Member& a, const Member& b) { return a.place < b.place; });
  }

  // Of a scope inside by its name without numbers, of an instruction by opcode and shape.
  std::vector<uint64_t> TokensOf(const std::vector<Member>& members) const {
    std::vector<uint64_t> tokens;
    for (const Member& member : members) {
      if (member.node >= 0) {
        std::string name = nodes_[member.node].label;
        name.erase(std::remove_if(name.begin(), name.end(), absl::ascii_isdigit), name.end());
        tokens.push_back(absl::HashOf(name) | 1);
        continue;
      }
      const Instruction& i = *order_[member.position];
      const bool tells = i.operand_count() > 0 && i.opcode() != Opcode::kGetTupleElement;
      tokens.push_back(
          tells ? absl::HashOf(i.opcode(), i.shape().type, i.shape().dims, i.operand_count()) | 1
                : 0);
    }
    return tokens;
  }

  void AddInstruction(int scope, int position) {
    tree_.scopes_[scope].instructions.push_back(order_[position]);
    tree_.scope_of_[order_[position]->id()] = scope;
  }

  // Values that are made at or before member k and read after it; parameters and constants do not
  // count.
  std::vector<int> Crossings(const std::vector<Member>& members) const {
    if (members.size() <= static_cast<size_t>(kMaxChildren)) return {};
    const std::vector<int> member_at = MembersByPosition(members);
    std::vector<int> steps(members.size() + 1, 0);
    for (size_t p = 0; p < order_.size(); ++p) {
      const Instruction& i = *order_[p];
      if (member_at[p] < 0 || i.IsParameter() || i.IsConstant()) continue;
      int last = member_at[p];
      for (const Instruction* user : i.users()) {
        const auto at = position_.find(user);
        if (at != position_.end()) last = std::max(last, member_at[at->second]);
      }
      ++steps[member_at[p]];
      --steps[last];
    }
    for (size_t k = 1; k < steps.size(); ++k) steps[k] += steps[k - 1];
    return steps;
  }

  // The member that is or holds the instruction at each position; -1: none.
  std::vector<int> MembersByPosition(const std::vector<Member>& members) const {
    std::vector<int> member_of_node(nodes_.size(), -1), result(order_.size(), -1);
    for (size_t k = 0; k < members.size(); ++k)
      (members[k].node < 0 ? result[members[k].position] : member_of_node[members[k].node]) =
          static_cast<int>(k);
    for (size_t p = 0; p < order_.size(); ++p)
      for (int node = node_of_[p]; node >= 0 && result[p] < 0; node = nodes_[node].parent)
        result[p] = member_of_node[node];
    return result;
  }

  ScopeTree& tree_;
  const Computation& computation_;
  std::vector<const Instruction*> order_;
  absl::flat_hash_map<const Instruction*, int> position_;
  std::vector<Node> nodes_;
  std::vector<int> node_of_;               // by position
  std::vector<std::vector<int>> members_;  // by node: positions directly inside
  std::vector<std::vector<int>> inner_;    // by node: nodes directly inside that hold something
  std::vector<double> mean_;               // by node: mean position of what it holds; -1: nothing
};

ScopeTree::ScopeTree(const ModuleIndex& index)
    : root_of_(index.module().computation_id_bound(), -1),
      scope_of_(index.module().id_bound(), -1) {
  for (const Computation* computation : index.computations())
    ScopeBuilder(index, *computation, *this).Run(!index.IsFused(*computation));
  for (size_t k = scopes_.size(); k-- > 0;) {
    Scope& scope = scopes_[k];
    scope.size += static_cast<int64_t>(scope.instructions.size());
    if (scope.parent >= 0) scopes_[scope.parent].size += scope.size;
  }
}

int ScopeTree::ChildHolding(int scope, const Instruction& instruction) const {
  int child = -1;
  for (int at = scope_of(instruction); at != scope; at = scopes_[at].parent) child = at;
  return child;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
