// unrounded-products: gives converts of bf16 dots to f32 the unrounded f32 result.
// A dot or convolution of bf16 that a convert to f32 reads gives its sums as f32, which that
// convert stands for, and is rounded for all others: what XLA's CPU makes of
// xla_allow_excess_precision. Elementwise results keep their digits in fused loops (docs/cpu.md).
//   convert(dot(bf16 a, b)) to f32  ->  dot(a, b) with an f32 result
#include <vector>

#include "passes/float_types/mixed_types.h"
#include "passes/framework/pass.h"
#include "passes/rewrite/control_edges.h"
#include "passes/rewrite/hlo_writer.h"

namespace hlokit {
namespace {

bool IsProductOfBF16(const Instruction* i) {
  return IsProduct(i) && i->shape().type == ElementType::kBF16;
}

absl::StatusOr<bool> WidenProducts(Computation& computation, RewriteControl& control) {
  bool changed = false;
  Rewriter r(computation);
  std::vector<Instruction*> products;
  for (Instruction* i : computation.PostOrder())
    if (IsProductOfBF16(i)) products.push_back(i);
  for (Instruction* i : products) {
    std::vector<Instruction*> converts;
    for (Instruction* user : i->users())
      if (WidensToF32(user)) converts.push_back(user);
    if (converts.empty()) continue;
    r.set_subject(i);
    Instruction* wide = r.Clone(i, RetypedLike(i->shape(), ElementType::kF32), i->operands());
    if (!control.Permit("unrounded-products", *i, *wide)) {
      computation.Remove(wide);
      continue;
    }
    for (Instruction* convert : converts) {
      convert->ReplaceAllUsesWith(wide);
      PassOnControlEdges(convert, wide, /*is_new=*/false);
      computation.Remove(convert);
    }
    if (!i->users().empty()) {
      Instruction* rounded = r.Add(Opcode::kConvert, i->shape(), {wide});
      i->ReplaceAllUsesWith(rounded);
    }
    PassOnControlEdges(i, wide, /*is_new=*/true);
    computation.Remove(i);
    changed = true;
  }
  return changed;
}

}  // namespace

std::unique_ptr<Pass> CreateUnroundedProducts() {
  return MakeComputationPass("unrounded-products", WidenProducts);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
