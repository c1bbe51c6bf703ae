// attention-fusion: makes a custom fusion of what analysis/attention_form.h describes, for targets
// that compute it without an array of the scores.
//   s = dot(q, k), p = softmax(s * scale), r = dot(p, v)  ->  r = fusion(q, k, v), kind=kCustom
// Matches the second product; leaves it alone where rows and keys are too few for the scores to
// matter (min-rows, min-keys: 16 and 32 unless given). Scalar constants and broadcasts are copied
// into the fusion, all else moves. Cost: linear.
#include "analysis/attention_form.h"
#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/rewrite/custom_fusion.h"
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
    PutCustomFusion(
        "attention", product, form->members,
        {form->scores->operand(0), form->scores->operand(1), form->product->operand(1), form->mask},
        *product);
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
