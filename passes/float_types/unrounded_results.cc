// unrounded-results: recomputes bf16 results in f32 for converts to f32 (excess precision).
// A result of bf16 arithmetic that a convert to f32 reads, and others besides, is computed once
// more for the converts: fusion takes the copy up with them, and in one kernel they get it
// unrounded (docs/cpu.md), as XLA's CPU has it by xla_allow_excess_precision. To be run right
// before fusion, since common subexpressions are one again otherwise.
//   s = add(bf16 a, b), read by convert and negate  ->  convert reads a copy of s of its own
#include <vector>

#include "passes/float_types/mixed_types.h"
#include "passes/framework/pass.h"
#include "passes/rewrite/hlo_writer.h"

namespace hlokit {
namespace {

bool IsArithmetic(const Instruction* i) {
  return i->shape().IsArray() && i->shape().type == ElementType::kBF16 &&
         HasTrait(i->opcode(), kElementwise) && !HasTrait(i->opcode(), kExact);
}

absl::StatusOr<bool> WidenResults(Computation& computation, RewriteControl& control) {
  bool changed = false;
  Rewriter r(computation);
  for (Instruction* i : computation.PostOrder()) {
    if (!IsArithmetic(i)) continue;
    std::vector<Instruction*> converts;
    for (Instruction* user : i->users())
      if (WidensToF32(user)) converts.push_back(user);
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
  return MakeComputationPass("unrounded-results", WidenResults);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
