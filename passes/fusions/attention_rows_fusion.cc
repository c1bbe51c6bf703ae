// attention-rows-fusion: makes a custom fusion of what analysis/attention_rows.h describes, for
// targets that keep a few rows of scores at hand.
//   s = dot(q, k), p = softmax(s), r = dot(p, v)  ->  r = fusion(q, k, v), kind=kCustom
// Matches the second product. Scalar constants, broadcasts and iotas are copied into the fusion,
// and so is elementwise work that nothing else reads; all else moves. Cost: linear.
#include "analysis/attention_rows.h"
#include "passes/framework/pass.h"
#include "passes/rewrite/custom_fusion.h"
#include "passes/rewrite/dead_code.h"

namespace hlokit {
namespace {

class AttentionRowsFusion final : public ComputationPass {
 public:
  absl::string_view name() const override { return "attention-rows-fusion"; }

  absl::StatusOr<bool> RunOnComputation(Computation& c) override {
    bool changed = false;
    for (Instruction* i : c.PostOrder()) changed |= Fuse(i);
    if (changed) RemoveDead(c);
    return changed;
  }

 private:
  bool Fuse(Instruction* product) const {
    const std::optional<AttentionRows> form = FindAttentionRows(*product);
    if (!form || !control().Permit(name(), *product, *product)) return false;
    PutCustomFusion("attention", product, form->members, form->reads, *product);
    return true;
  }
};

}  // namespace

std::unique_ptr<Pass> CreateAttentionRowsFusion() {
  return std::make_unique<AttentionRowsFusion>();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
