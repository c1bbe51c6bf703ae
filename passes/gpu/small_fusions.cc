// What fusions hold besides their main work: iotas of sorts, scalar constants.
//   sort(x, iota)       ->  fusion(x){sort(x, iota)}
//   fusion(x, 3)        ->  fusion(x){..3..}
#include "passes/gpu/small_fusions.h"
#include "passes/framework/pass.h"
#include "passes/gpu/fused_members.h"
#include "passes/rewrite/parameters.h"

namespace hlokit {
namespace {

absl::StatusOr<bool> FuseIotas(Computation& c, RewriteControl& control) {
  bool changed = false;
  for (Instruction* i : c.PostOrder()) {
    if (i->opcode() != Opcode::kSort) continue;
    FusedMembers what;
    for (const Instruction* operand : i->operands())
      if (operand->opcode() == Opcode::kIota) what.members.insert(operand);
    if (what.members.empty() || !control.Permit("sort-iota-fusion", *i, *i)) continue;
    what.members.insert(i);
    FuseMembers(i, what);
    changed = true;
  }
  return changed;
}

}  // namespace

bool SinkScalarConstants(Instruction* fusion) {
  bool changed = false;
  Computation* body = fusion->to_apply();
  for (int64_t k = fusion->operand_count() - 1; k >= 0; --k) {
    Instruction* operand = fusion->operand(k);
    if (!operand->IsConstant() || !operand->shape().IsScalar() || operand->literal() == nullptr)
      continue;
    Instruction* parameter = body->parameter(k);
    Instruction* constant =
        body->Add(operand->CloneWith(parameter->shared_shape(), {}), operand->name());
    parameter->ReplaceAllUsesWith(constant);
    RemoveParameter(*body, k);
    fusion->RemoveOperand(k);
    if (operand->users().empty() && !operand->IsRoot()) operand->parent()->RemoveIfDead(operand);
    changed = true;
  }
  return changed;
}

namespace {

absl::StatusOr<bool> SinkConstants(Computation& c, RewriteControl& control) {
  bool changed = false;
  for (Instruction* i : c.PostOrder())
    if (i->opcode() == Opcode::kFusion && i->attr<FusionAttrs>().kind != FusionKind::kCustom &&
        i->attr<FusionAttrs>().output_to_operand_aliasing.empty() &&
        control.Permit("scalar-constant-sinker", *i, *i))
      changed |= SinkScalarConstants(i);
  return changed;
}

}  // namespace

// sort-iota-fusion: a sort becomes a custom fusion with the iotas that it sorts along. Exact.
std::unique_ptr<Pass> CreateSortIotaFusion() {
  return MakeComputationPass("sort-iota-fusion", FuseIotas);
}

// scalar-constant-sinker: scalar constants that fusions read move into them, but for custom
// fusions. Exact.
std::unique_ptr<Pass> CreateScalarConstantSinker() {
  return MakeComputationPass("scalar-constant-sinker", SinkConstants);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
