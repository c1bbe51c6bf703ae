// product-finish-fusion: makes a custom fusion of a product of f32 and of what is done to its
// results, as analysis/product_finish.h describes it, for targets that do it while a result is in
// the cache.
//   max(convolution(a, b) + broadcast(bias) + c, 0)  ->  fusion(a, b, bias, c), kind=kCustom
// The longest form is taken. A bias alone, or another tail that is no form of the runtime's, is
// left to the elementwise operations that follow it, and a sum whose other side would otherwise be
// computed in their loop stays one with it. Scalar constants and broadcasts are copied into the
// fusion, all else moves. Cost: linear.
#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "analysis/product_finish.h"
#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/rewrite/custom_fusion.h"
#include "passes/rewrite/dead_code.h"

namespace hlokit {
namespace {

bool IsProduct(const Instruction& i) {
  return i.opcode() == Opcode::kDot || i.opcode() == Opcode::kConvolution;
}

// Whether an array is in memory in any case.
bool IsStored(const Instruction& i) {
  if (i.opcode() == Opcode::kBroadcast || i.opcode() == Opcode::kIota) return false;
  return i.users().size() > 1 || i.IsParameter() || i.opcode() == Opcode::kGetTupleElement ||
         i.opcode() == Opcode::kFusion || IsProduct(i) || FindProductFinish(i).has_value();
}

bool FeedsLoopsAlone(const Instruction& i) {
  return !i.IsRoot() && std::all_of(i.users().begin(), i.users().end(), [](const Instruction* u) {
    return HasTrait(u->opcode(), kElementwise);
  });
}

class ProductFinishFusion final : public ComputationPass {
 public:
  absl::string_view name() const override { return "product-finish-fusion"; }

  absl::StatusOr<bool> RunOnComputation(Computation& c) override {
    std::vector<Instruction*> order = c.PostOrder();
    std::reverse(order.begin(), order.end());  // users first: the longest forms
    absl::flat_hash_set<const Instruction*> taken;
    for (Instruction* i : order)
      if (!taken.contains(i)) Fuse(i, taken);
    if (!taken.empty()) RemoveDead(c);
    return !taken.empty();
  }

 private:
  void Fuse(Instruction* last, absl::flat_hash_set<const Instruction*>& taken) const {
    const std::optional<ProductFinish> form = FindProductFinish(*last);
    if (!form || (form->residual != nullptr && !IsStored(*form->residual)) ||
        !std::all_of(form->arrays.begin(), form->arrays.end(),
                     [](const Instruction* array) { return IsStored(*array); }))
      return;
    const bool bias_alone = last->opcode() == Opcode::kAdd && form->residual == nullptr;
    if (((bias_alone || form->is_generated) && FeedsLoopsAlone(*last)) ||
        !control().Permit(name(), *last, *last))
      return;
    PutCustomFusion("product", last, form->members, form->Operands(), *form->product);
    taken.insert(form->members.begin(), form->members.end());
  }
};

}  // namespace

std::unique_ptr<Pass> CreateProductFinishFusion() {
  return std::make_unique<ProductFinishFusion>();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
