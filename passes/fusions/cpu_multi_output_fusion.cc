// cpu_multi_output_fusion: fuses siblings and producers with their consumers into multi-output
// fusions.
//   m = a*m + b*g;  v = c*v + d*g*g;  p = p - m / sqrt(v)    ->  one fusion with results (m, v, p)
#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "passes/framework/pass.h"
#include "passes/fusions/fusion_rules.h"
#include "passes/fusions/merged_fusion.h"
#include "passes/fusions/ways.h"
#include "types/shape_bytes.h"

namespace hlokit {
namespace {

constexpr int64_t kLeastBytes = 1024;
constexpr size_t kMaxResults = 8, kMaxOperands = 24, kMaxBody = 200;

using Members = std::vector<Instruction*>;

bool IsPointwise(const Instruction& i) {
  if (i.IsParameter()) return true;
  if (i.opcode() == Opcode::kBroadcast) return i.operand(0)->shape().IsScalar();
  return CanFuse(i) && (i.IsConstant() || HasTrait(i.opcode(), kElementwise)) &&
         i.opcode() != Opcode::kBitcastConvert;
}

// One loop over positions in memory, for one array.
bool IsLoop(const Instruction& i) {
  if (!i.shape().IsArray() || TotalBytes(i.shape()) < kLeastBytes || !i.shape().IsRowMajor() ||
      !i.control_predecessors().empty() || !i.control_successors().empty())
    return false;
  if (i.IsParameter() || i.IsConstant() || i.opcode() == Opcode::kBroadcast) return false;
  if (i.opcode() != Opcode::kFusion) return IsPointwise(i);
  if (i.attr<FusionAttrs>().kind != FusionKind::kLoop) return false;
  const Computation& body = *i.to_apply();
  if (!HasTrait(body.root()->opcode(), kElementwise)) return false;
  bool all = true;
  body.ForEach([&](const Instruction* part) { all &= IsPointwise(*part); });
  return all && body.instruction_count() <= static_cast<int64_t>(kMaxBody);
}

class Fuser {
 public:
  explicit Fuser(Computation& c) : c_(c), ways_(c) {
    for (Instruction* i : c.PostOrder())
      if (IsLoop(*i)) loops_.insert(i);
  }

  bool Run() {
    bool changed = false;
    for (Instruction* i : c_.PostOrder()) {
      if (!loops_.contains(i)) continue;
      const Members members = SiblingsOf(i);
      if (members.size() < 2) continue;
      Merge(members);
      changed = true;
    }
    return changed;
  }

 private:
  // `first`, what reads the same arrays, and what reads their results.
  Members SiblingsOf(Instruction* first) {
    Members members = {first};
    if (ReadsUpdated(*first)) return members;
    absl::flat_hash_set<const Instruction*> operands(first->operands().begin(),
                                                     first->operands().end());
    Members arrays(first->operands().begin(), first->operands().end());
    arrays.push_back(first);
    for (size_t k = 0; k < arrays.size() && members.size() < kMaxResults; ++k) {
      const Instruction* array = arrays[k];
      if (!array->shape().IsArray() || array->shape().rank() == 0 ||
          array->users().size() > kMaxUsersSeen)
        continue;
      const Members users(array->users().begin(), array->users().end());
      for (Instruction* user : users) {
        if (members.size() == kMaxResults || !Joins(user, members, operands)) continue;
        members.push_back(user);
        for (Instruction* operand : user->operands())
          if (operands.insert(operand).second) arrays.push_back(operand);
        arrays.push_back(user);
      }
    }
    std::stable_sort(members.begin(), members.end(),
                     [&](const Instruction* a, const Instruction* b) {
                       return ways_.depth(a) < ways_.depth(b);  // operands first
                     });
    return members;
  }

  bool Joins(Instruction* user, const Members& members,
             const absl::flat_hash_set<const Instruction*>& operands) {
    if (!loops_.contains(user) || Contains(members, user) ||
        user->shape().dims != members[0]->shape().dims)
      return false;
    size_t count = operands.size();
    for (const Instruction* operand : user->operands()) count += !operands.contains(operand);
    if (count > kMaxOperands || ReadsUpdated(*user)) return false;
    Members inside = members;
    inside.push_back(user);
    return !ways_.HasWay({user}, members, inside) && !ways_.HasWay(members, {user}, inside);
  }

  static bool Contains(const Members& members, const Instruction* i) {
    return std::find(members.begin(), members.end(), i) != members.end();
  }

  void Merge(const Members& members) {
    for (const Instruction* member : members) loops_.erase(member);
    MergedForm form = {absl::StrCat(members[0]->name(), "_siblings")};
    form.drops_inner = true;
    ways_.Merged(MergeIntoFusion(c_, members, form));
  }

  Computation& c_;
  Ways ways_;
  absl::flat_hash_set<const Instruction*> loops_;
};

absl::StatusOr<bool> FuseSiblings(Computation& computation) { return Fuser(computation).Run(); }

}  // namespace

// Matches elementwise instructions and loop fusions of such over arrays of one size that read an
// array in common, or one the other's result, where nothing outside stands between them; leaves one
// fusion of a tuple in which work done twice is done once. Arrays under a KiB, and those that
// something updates in place, stay. Cost: linear but for the search of ways between siblings, which
// is bounded.
std::unique_ptr<Pass> CreateCpuMultiOutputFusion() {
  return MakeComputationPass("cpu_multi_output_fusion", FuseSiblings);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
