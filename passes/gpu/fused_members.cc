// Fusions of chosen instructions; see the header.
#include "passes/gpu/fused_members.h"

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "passes/gpu/async_pairs.h"

namespace hlokit {
namespace {

class Fuser {
 public:
  Fuser(Instruction* root, const FusedMembers& what) : root_(root), what_(what) {}

  Instruction* Run() {
    Computation& c = *root_->parent();
    body_ = c.module()->AddComputation(what_.computation);
    body_->set_root(Inside(root_));
    FusionAttrs attrs;
    attrs.kind = what_.kind;
    Instruction* fusion =
        c.Add(Opcode::kFusion, root_->shape(), operands_, std::move(attrs), what_.fusion);
    fusion->set_called({body_});
    fusion->CopyExtrasFrom(*root_);
    fusion->set_place(root_->place());
    MoveControlEdges(root_, fusion, fusion);
    root_->ReplaceAllUsesWith(fusion);
    c.RemoveIfDead(root_);
    return fusion;
  }

 private:
  // The copy of a member, or the parameter for what is none. Recursion is as deep as the longest
  // chain of members, so operands are copied first by hand.
  Instruction* Inside(Instruction* of) {
    std::vector<Instruction*> work = {of};
    while (!work.empty()) {
      Instruction* i = work.back();
      if (made_.contains(i)) {
        work.pop_back();
        continue;
      }
      if (!what_.members.contains(i)) {
        const auto number = static_cast<int64_t>(operands_.size());
        made_[i] = body_->AddParameter(number, i->shape(), absl::StrCat("param_", number));
        operands_.push_back(i);
        work.pop_back();
        continue;
      }
      const size_t before = work.size();
      for (int64_t k = i->operand_count() - 1; k >= 0; --k)  // the first is copied first
        if (!made_.contains(i->operand(k))) work.push_back(i->operand(k));
      if (work.size() > before) continue;
      std::vector<Instruction*> inside;
      for (Instruction* operand : i->operands()) inside.push_back(made_.at(operand));
      made_[i] = body_->Add(i->CloneWith(i->shape(), inside), i->name());
      work.pop_back();
    }
    return made_.at(of);
  }

  Instruction* root_;
  const FusedMembers& what_;
  Computation* body_ = nullptr;
  std::vector<Instruction*> operands_;
  absl::flat_hash_map<const Instruction*, Instruction*> made_;
};

}  // namespace

Instruction* FuseMembers(Instruction* root, const FusedMembers& what) {
  return Fuser(root, what).Run();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
