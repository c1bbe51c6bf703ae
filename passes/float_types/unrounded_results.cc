// Copies of bf16 arithmetic in front of converts to f32.
#include "passes/float_types/unrounded_results.h"

#include <vector>

#include "passes/hlo_writer.h"

namespace hlokit {
namespace {

bool IsArithmetic(const Instruction* i) {
  return i->shape().IsArray() && i->shape().type == ElementType::kBF16 &&
         HasTrait(i->opcode(), kElementwise) && !HasTrait(i->opcode(), kExact);
}

bool Widens(const Instruction* i) {
  return i->opcode() == Opcode::kConvert && i->shape().type == ElementType::kF32;
}

absl::StatusOr<bool> Run(Computation& computation, RewriteControl& control) {
  bool changed = false;
  Rewriter r(computation);
  for (Instruction* i : computation.PostOrder()) {
    if (!IsArithmetic(i)) continue;
    std::vector<Instruction*> converts;
    for (Instruction* user : i->users())
      if (Widens(user)) converts.push_back(user);
    const bool others = converts.size() < i->users().size() || computation.root() == i;
    if (converts.empty() || !others) continue;
    r.set_subject(i);
    Instruction* copy = r.Clone(i, i->shape(), i->operands());
    if (!control.Permit("unrounded-results", *i, *copy)) {
      computation.Remove(copy);
      continue;
    }
    for (Instruction* convert : converts) convert->SetOperand(0, copy);
    changed = true;
  }
  return changed;
}

}  // namespace

std::unique_ptr<Pass> CreateUnroundedResults() {
  return MakeComputationPass("unrounded-results", Run);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
