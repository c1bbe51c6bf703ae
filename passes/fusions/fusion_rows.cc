// Groups for row kernels: reductions of rows together with what is computed from the rows again,
// such as softmax:
//   m = reduce-max(x, {1}); e = exp(x - broadcast(m)); s = reduce-add(e, {1}); y = e / broadcast(s)
// One kernel takes a row through all of these while it is in the cache. Groups grow from their
// result towards what they read: an instruction joins where all of its users are in one group.
// Linear in users.
#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "analysis/row_form.h"
#include "analysis/row_lanes.h"
#include "passes/fusions/fusion_plan_internal.h"
#include "passes/fusions/fusion_rules.h"

namespace hlokit {
namespace {

// Whether a reduction's rows lie together.
bool ReducesRows(const Instruction& reduce) {
  const DimVector& reduced = reduce.attr<DimensionsAttrs>().dimensions;
  const Shape& from = reduce.operand(0)->shape();
  bool inside = true;
  for (int64_t d = from.rank() - 1; d >= 0; --d) {
    if (from.dims[d] == 1) continue;
    const bool is_reduced = std::find(reduced.begin(), reduced.end(), d) != reduced.end();
    if (is_reduced && !inside) return false;
    inside = is_reduced;
  }
  return !IsColumnReduce(reduce);
}

// May stand between a reduction and the group's root, or before a reduction.
bool MayJoin(const Instruction& i, bool together) {
  if (!CanFuse(i) || IsFree(i)) return false;
  switch (i.opcode()) {
    case Opcode::kReduce:
      return i.shape().IsArray() && ReducesRows(i) == together;
    case Opcode::kBroadcast:
    case Opcode::kReshape:
      return true;
    default:
      return HasTrait(i.opcode(), kElementwise);
  }
}

class RowGroups {
 public:
  RowGroups(const Computation& computation, bool together, const FusionLimits& limits)
      : together_(together), limits_(limits) {
    const std::vector<Instruction*> order = computation.PostOrder();
    for (size_t k = order.size(); k-- > 0;) Place(order[k]);
  }

  std::vector<FusionGroup> TakeWorthwhile() {
    std::vector<FusionGroup> groups;
    for (const std::vector<Instruction*>& members : clusters_) {
      std::vector<Instruction*> all = WithFree(members);
      if (!IsWorthwhile(all)) continue;
      FusionGroup group;
      for (size_t k = all.size(); k-- > 0;) {
        group.members.push_back({all[k], 0, 0});
        if (all[k]->opcode() == Opcode::kReduce) group.reduce = all[k];
      }
      groups.push_back(std::move(group));
    }
    return groups;
  }

 private:
  void Place(Instruction* i) {
    if (!MayJoin(*i, together_)) return;
    int cluster = i->users().empty() || i->IsRoot() ? -1 : ClusterOf(i->users()[0]);
    for (const Instruction* user : i->users())
      if (ClusterOf(user) != cluster) cluster = -1;
    if (cluster >= 0 && std::ssize(clusters_[cluster]) < limits_.max_row_members) {
      clusters_[cluster].push_back(i);
    } else if (HasTrait(i->opcode(), kElementwise) || i->opcode() == Opcode::kReduce) {
      cluster = static_cast<int>(clusters_.size());
      clusters_.push_back({i});
    } else {
      return;
    }
    cluster_of_[i] = cluster;
  }

  int ClusterOf(const Instruction* i) const {
    const auto found = cluster_of_.find(i);
    return found == cluster_of_.end() ? -1 : found->second;
  }

  // Members, producers first, with the constants and iotas that each group has for itself.
  std::vector<Instruction*> WithFree(const std::vector<Instruction*>& members) const {
    std::vector<Instruction*> all;
    absl::flat_hash_set<const Instruction*> seen;
    const auto add_free = [&](auto& self, Instruction* i) -> void {
      if (!(IsFree(*i) && CanFuse(*i)) || !seen.insert(i).second) return;
      for (Instruction* operand : i->operands()) self(self, operand);
      all.push_back(i);
    };
    for (size_t k = members.size(); k-- > 0;) {
      for (Instruction* operand : members[k]->operands()) add_free(add_free, operand);
      all.push_back(members[k]);
    }
    return all;
  }

  bool HasGoodSize(const RowForm& form) const {
    if (!form.IsColumns()) return form.rows >= limits_.min_rows && form.length <= limits_.max_row;
    return form.rows >= limits_.min_tiles * limits_.tile_columns &&
           form.length <= limits_.max_column;
  }

  // Whether each element may do the reductions of its own row again.
  bool IsLittleWork(const RowForm& form) const {
    constexpr double kOperations = 16;
    const double elements = static_cast<double>(form.full.ElementCount());
    return form.length <= limits_.kMaxShort &&
           kOperations * elements * static_cast<double>(form.length) <=
               static_cast<double>(limits_.launch_work);
  }

  // Worthwhile are groups that read a row twice: a reduction's result returns to the elements of
  // its row.
  bool IsWorthwhile(const std::vector<Instruction*>& members) const {
    const std::optional<RowForm> form =
        FindRowForm(std::vector<const Instruction*>(members.begin(), members.end()));
    if (!form.has_value() || !HasGoodSize(*form)) return false;
    // A thread computes short rows wherever they are read.
    if (IsLittleWork(*form)) return false;
    // Rows in pieces, and short ones, only in vectors.
    const bool is_short = !form->IsColumns() && form->length < limits_.min_row;
    if (is_short && limits_.launch_work > 0) return false;
    if ((is_short || !form->IsContiguous()) && limits_.launch_work == 0 &&
        !FindRowLanes(*form, std::vector<const Instruction*>(members.begin(), members.end()),
                      limits_.lanes))
      return false;
    const Shape& root = members.back()->shape();
    if (!root.IsArray() || (root.dims != form->full.dims && !form->IsRowShaped(root))) return false;
    absl::flat_hash_set<const Instruction*> inside(members.begin(), members.end()), inputs,
        dependent;
    bool returns = false;  // from a reduction to the elements of its row
    for (const Instruction* i : members) {
      bool depends = i->opcode() == Opcode::kReduce;
      for (const Instruction* operand : i->operands()) {
        depends |= dependent.contains(operand);
        if (!inside.contains(operand)) inputs.insert(operand);
      }
      if (!depends) continue;
      dependent.insert(i);
      returns |= i->opcode() == Opcode::kBroadcast && i->shape().dims == form->full.dims;
    }
    return returns && static_cast<int64_t>(inputs.size()) <= limits_.max_inputs;
  }

  const bool together_;
  const FusionLimits& limits_;
  std::vector<std::vector<Instruction*>> clusters_;  // users before producers
  absl::flat_hash_map<const Instruction*, int> cluster_of_;
};

}  // namespace

std::vector<FusionGroup> FindRowGroups(const Computation& computation, bool together,
                                       const FusionLimits& limits) {
  const std::vector<Instruction*> all = computation.Instructions();
  const bool has_reduction = std::any_of(
      all.begin(), all.end(), [](const Instruction* i) { return i->opcode() == Opcode::kReduce; });
  if (!has_reduction) return {};
  return RowGroups(computation, together, limits).TakeWorthwhile();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
