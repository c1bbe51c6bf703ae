// attention-fusion: makes a custom fusion of what analysis/attention_form.h describes, for targets
// that compute it without an array of the scores.
//   s = dot(q, k), p = softmax(s * scale), r = dot(p, v)  ->  r = fusion(q, k, v), kind=kCustom
// Matches the second product; leaves it alone where rows and keys are too few for the scores to
// matter (min-rows, min-keys: 16 and 32 unless given). Scalar constants and broadcasts are copied
// into the fusion, all else moves. Cost: linear.
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "analysis/attention_form.h"
#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/rewrite/control_edges.h"
#include "passes/rewrite/dead_code.h"

namespace hlokit {
namespace {

class AttentionFusion final : public ComputationPass {
 public:
  AttentionFusion(int64_t min_rows, int64_t min_keys) : min_rows_(min_rows), min_keys_(min_keys) {}
  absl::string_view name() const override { return "attention-fusion"; }

  absl::StatusOr<bool> RunOnComputation(Computation& c) override {
    bool changed = false;
    for (Instruction* i : c.PostOrder()) changed |= Fuse(i);
    if (changed) RemoveDead(c);
    return changed;
  }

 private:
  bool Fuse(Instruction* product) const {
    const std::optional<AttentionForm> form = FindAttention(*product);
    if (!form) return false;
    const Shape& scores = form->scores->shape();
    const int64_t keys = scores.dims.back(), rows = scores.dims[scores.rank() - 2];
    if (rows < min_rows_ || keys < min_keys_ || !control().Permit(name(), *product, *product))
      return false;
    Module& module = *product->module();
    Computation* body = module.AddComputation("attention");
    std::vector<Instruction*> operands;
    absl::flat_hash_map<const Instruction*, Instruction*> inside;
    const auto add_operand = [&](Instruction* outside) {
      if (inside.contains(outside)) return;
      const auto number = static_cast<int64_t>(operands.size());
      inside[outside] =
          body->AddParameter(number, outside->shape(), absl::StrCat("param_", number));
      operands.push_back(outside);
    };
    for (const Instruction* i : std::initializer_list<const Instruction*>{
             form->scores->operand(0), form->scores->operand(1), form->product->operand(1),
             form->mask})
      if (i != nullptr) add_operand(const_cast<Instruction*>(i));
    for (const Instruction* i : form->members) {
      std::vector<Instruction*> copies;
      for (const Instruction* operand : i->operands()) copies.push_back(inside.at(operand));
      inside[i] = body->Add(i->CloneWith(i->shape(), copies), i->name());
    }
    body->set_root(inside.at(product));
    FusionAttrs attrs;
    attrs.kind = FusionKind::kCustom;
    Instruction* fusion = product->parent()->Add(Opcode::kFusion, product->shape(), operands,
                                                 std::move(attrs), "attention_fusion");
    fusion->set_called({body});
    fusion->CopyExtrasFrom(*product);
    product->ReplaceAllUsesWith(fusion);
    PassOnControlEdges(product, fusion, /*is_new=*/true);
    return true;
  }

  const int64_t min_rows_, min_keys_;
};

}  // namespace

std::unique_ptr<Pass> CreateAttentionFusion(PassArguments& arguments) {
  const int64_t rows = arguments.Int("min-rows", 16, "fewer rows are left alone");
  const int64_t keys = arguments.Int("min-keys", 32, "fewer keys are left alone");
  return std::make_unique<AttentionFusion>(rows, keys);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
