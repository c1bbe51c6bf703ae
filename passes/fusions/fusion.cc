// fusion: fuses producers into consumers, so that one loop computes them.
// Matches producers that all their users can take in, where no element is then computed more often
// than worth it: elementwise operations and data movement into one another and into the operands of
// reductions, pointwise operations after a reduction, updates in place at the root. Cheap producers
// are copied into several users. Before that, reductions of rows are fused with the work on the
// same rows around them (softmax, layer norm), where one kernel then goes over each row several
// times. Expects row-major layouts. Leaves fusion instructions (kLoop) and nothing that only they
// needed. With `xla` greedy_fusion.h instead. The limits (analysis/fusion_limits.h) are options,
// which a target's pipeline sets; the defaults are the CPU's. Cost: linear in the module, times a
// small bound on the size of a fusion.
//   m = multiply(x, y); a = add(m, z)  ->  a = fusion(x, y, z), calls={multiply, add}
#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/fusions/fusion_decisions.h"
#include "passes/fusions/fusion_plan_internal.h"
#include "passes/fusions/greedy_fusion.h"
#include "passes/rewrite/dead_code.h"
#include "support/status.h"

namespace hlokit {
namespace {

// Copies a group into a body; gives the operands of the fusion.
class BodyMaker {
 public:
  BodyMaker(const FusionGroup& group, Computation* body) : group_(group), body_(body) {}

  std::vector<Instruction*> Make() {
    FindInputs();
    std::vector<Instruction*> operands;
    for (size_t k = group_.members.size(); k-- > 0;) {  // producers first
      Instruction* i = group_.members[k].instruction;
      operands.clear();
      for (Instruction* operand : i->operands()) operands.push_back(inside_.at(operand));
      inside_[i] = body_->Add(i->CloneWith(i->shape(), operands));
    }
    body_->set_root(inside_.at(group_.root()));
    return std::move(inputs_);
  }

 private:
  // In the order in which a fusion that takes its members in one by one comes to them: a member's
  // place goes to the end, for what it reads.
  void FindInputs() {
    for (const FusionGroup::Member& member : group_.members) {
      std::erase(inputs_, member.instruction);
      for (Instruction* operand : member.instruction->operands())
        if (std::find(inputs_.begin(), inputs_.end(), operand) == inputs_.end())
          inputs_.push_back(operand);
    }
    for (size_t k = 0; k < inputs_.size(); ++k)
      inside_[inputs_[k]] = body_->AddParameter(static_cast<int64_t>(k), inputs_[k]->shape(),
                                                absl::StrCat("param_", k));
  }

  const FusionGroup& group_;
  Computation* body_;
  absl::flat_hash_map<const Instruction*, Instruction*> inside_;
  std::vector<Instruction*> inputs_;
};

// By what its root reads first, and its root.
std::string NameOf(const FusionGroup& group) {
  for (size_t k = 1; k < group.members.size(); ++k) {
    const Opcode first = group.members[k].instruction->opcode();
    if (first == Opcode::kConstant) continue;
    return absl::StrCat(Text(first), "_", Text(group.root()->opcode()), "_fusion");
  }
  return "fusion";
}

void Fuse(const FusionGroup& group, Computation& computation) {
  Computation* body = computation.module()->AddComputation("fused_computation");
  const std::vector<Instruction*> operands = BodyMaker(group, body).Make();
  Instruction* root = group.root();
  auto fusion = std::make_unique<Instruction>(Opcode::kFusion, root->shape(), operands);
  fusion->mutable_attr<FusionAttrs>().kind = FusionKind::kLoop;
  fusion->set_called({body});
  fusion->CopyExtrasFrom(*root);
  fusion->set_place(root->place());
  root->ReplaceAllUsesWith(computation.Add(std::move(fusion), NameOf(group)));
}

// Takes what only fusions needed out of the computation.
void RemoveFused(absl::Span<const FusionGroup> groups, Computation& computation) {
  absl::flat_hash_set<const Instruction*> fused;
  for (const FusionGroup& group : groups)
    for (const FusionGroup::Member& member : group.members) fused.insert(member.instruction);
  const std::vector<Instruction*> order = computation.PostOrder();
  for (size_t k = order.size(); k-- > 0;)  // users before producers
    if (fused.contains(order[k]) && order[k]->users().empty() && !order[k]->IsRoot())
      computation.Remove(order[k]);
}

bool FuseComputation(Computation& computation, const FusionLimits& limits) {
  bool changed = false;
  // One after the other: what a group leaves would keep its operands from being fused.
  for (const bool together : {true, false}) {
    const std::vector<FusionGroup> rows = FindRowGroups(computation, together, limits);
    FuseAll(rows, computation);
    changed |= !rows.empty();
  }
  const FusionPlan plan(computation, limits);
  FuseAll(plan.groups(), computation);
  return changed || !plan.groups().empty();
}

class Fusion final : public ComputationPass {
 public:
  Fusion(const FusionLimits& limits, bool greedy) : limits_(limits), greedy_(greedy) {}
  absl::string_view name() const override { return "fusion"; }
  absl::StatusOr<bool> Run(Module& module) override {
    ASSIGN_OR_RETURN(const bool changed, ComputationPass::Run(module));
    if (changed && greedy_) RemoveUncalled(module);  // bodies that larger ones took the place of
    return changed;
  }
  absl::StatusOr<bool> RunOnComputation(Computation& computation) override {
    return greedy_ ? FuseGreedily(computation, control()) : FuseComputation(computation, limits_);
  }

 private:
  const FusionLimits limits_;
  const bool greedy_;
};

}  // namespace

void FuseAll(absl::Span<const FusionGroup> groups, Computation& computation) {
  for (const FusionGroup& group : groups) Fuse(group, computation);
  RemoveFused(groups, computation);
}

FusionLimits FusionLimitsOf(PassArguments& arguments) {
  FusionLimits limits;
  const auto read = [&](absl::string_view name, int64_t& limit, absl::string_view help) {
    limit = arguments.Int(name, limit, help);
  };
  read("max-members", limits.max_members, "instructions in a fusion");
  read("max-inputs", limits.max_inputs, "arrays that a fusion reads");
  read("max-code", limits.max_code, "operations in the code of a fusion");
  read("max-copies", limits.max_copies, "copies of one instruction's code in a fusion");
  read("launch-work", limits.launch_work,
       "operations done again to save a loop, which a GPU launches; 0: the rules for processors");
  read("min-rows", limits.min_rows, "rows from which a fusion of rows is made");
  read("min-row", limits.min_row, "elements of a row in such a fusion, at least");
  read("max-row", limits.max_row, "elements of a row in such a fusion, at most");
  read("max-column", limits.max_column, "elements of a column in such a fusion, at most");
  read("min-columns", limits.min_tiles, "vectors of columns from which such a fusion is made");
  read("lanes", limits.lanes.lanes, "elements of a vector, which contiguous rows are multiples of");
  limits.lanes.lanes = std::max<int64_t>(1, limits.lanes.lanes);
  limits.launch_work = std::max<int64_t>(0, limits.launch_work);
  return limits;
}

std::unique_ptr<Pass> CreateFusion(PassArguments& arguments) {
  const bool greedy =
      arguments.Flag("xla", "one producer at a time, by the rules of XLA's CPU compiler");
  return std::make_unique<Fusion>(FusionLimitsOf(arguments), greedy);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
