// Rewriting of planned groups into fusion instructions.
#include "passes/fusion.h"

#include "absl/container/flat_hash_map.h"
#include "passes/fusion_plan_internal.h"
#include "support/status.h"

namespace hlokit {
namespace {

// Copies a group into a body; gives the operands of the fusion.
class BodyMaker {
 public:
  BodyMaker(const FusionGroup& group, Computation* body) : group_(group), body_(body) {}

  std::vector<Instruction*> Make() {
    std::vector<Instruction*> operands;
    for (size_t k = group_.members.size(); k-- > 0;) {  // producers first
      Instruction* i = group_.members[k].instruction;
      operands.clear();
      for (Instruction* operand : i->operands()) operands.push_back(Inside(operand));
      inside_[i] = body_->Add(i->CloneWith(i->shape(), operands));
    }
    body_->set_root(inside_.at(group_.root()));
    return std::move(inputs_);
  }

 private:
  Instruction* Inside(Instruction* operand) {
    Instruction*& inside = inside_[operand];
    if (inside != nullptr) return inside;
    const auto number = static_cast<int64_t>(inputs_.size());
    inputs_.push_back(operand);
    return inside = body_->AddParameter(number, operand->shape(), "param");
  }

  const FusionGroup& group_;
  Computation* body_;
  absl::flat_hash_map<const Instruction*, Instruction*> inside_;
  std::vector<Instruction*> inputs_;
};

void Fuse(const FusionGroup& group, Computation& computation) {
  Computation* body = computation.module()->AddComputation("fused_computation");
  const std::vector<Instruction*> operands = BodyMaker(group, body).Make();
  Instruction* root = group.root();
  auto fusion = std::make_unique<Instruction>(Opcode::kFusion, root->shape(), operands);
  fusion->mutable_attr<FusionAttrs>().kind =
      group.reduce != nullptr ? FusionKind::kInput : FusionKind::kLoop;
  fusion->set_called({body});
  fusion->CopyExtrasFrom(*root);
  fusion->set_place(root->place());
  Instruction* made = computation.Add(std::move(fusion), absl::StrCat(root->name(), "_fusion"));
  root->ReplaceAllUsesWith(made);
}

// What the row groups leave behind would keep its operands from being fused.
void RemoveFused(const FusionGroup& group, Computation& computation) {
  for (const FusionGroup::Member& member : group.members)  // users before producers
    if (member.instruction->users().empty() && !member.instruction->IsRoot())
      computation.Remove(member.instruction);
}

absl::StatusOr<bool> Run(Computation& computation) {
  const std::vector<FusionGroup> rows = FindRowGroups(computation);
  for (const FusionGroup& group : rows) {
    Fuse(group, computation);
    RemoveFused(group, computation);
  }
  const FusionPlan plan(computation);
  for (const FusionGroup& group : plan.groups()) Fuse(group, computation);
  return !rows.empty() || !plan.groups().empty();
}

}  // namespace

std::unique_ptr<Pass> CreateFusion() { return MakeComputationPass("fusion", Run); }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
