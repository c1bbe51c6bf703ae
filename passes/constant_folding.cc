// Folding by the reference executor.
#include "passes/constant_folding.h"

#include "interpreter/interpreter.h"
#include "support/status.h"

namespace hlokit {
namespace {

bool Folds(Opcode opcode) {
  switch (opcode) {
    case Opcode::kBroadcast:
    case Opcode::kBitcast:
    case Opcode::kDynamicReshape:
    case Opcode::kStochasticConvert:
      return false;
    case Opcode::kReduce:
    case Opcode::kDot:
      return true;
    default:
      return HasTrait(opcode, kElementwise) || HasTrait(opcode, kMovesData);
  }
}

bool MayFold(const Instruction* i) {
  if (!Folds(i->opcode()) || !i->shape().IsArray() || i->shape().HasDynamicDims()) return false;
  if (!i->control_predecessors().empty() || !i->control_successors().empty()) return false;
  if (i->shape().ElementCount() > kMaxFoldedElements || i->operand_count() == 0) return false;
  double work = static_cast<double>(i->shape().ElementCount());
  for (const Instruction* x : i->operands()) {
    if (!x->IsConstant() || x->literal() == nullptr || !x->shape().IsArray()) return false;
    if (x->shape().ElementCount() > kMaxFoldedElements) return false;
  }
  if (i->opcode() == Opcode::kDot)
    for (int64_t d : i->attr<DotAttrs>().lhs_contracting_dims)
      work *= static_cast<double>(i->operand(0)->shape().dims[d]);
  return work <= static_cast<double>(kMaxFoldedElements);
}

absl::StatusOr<bool> Run(Computation& computation) {
  bool changed = false;
  std::vector<const Literal*> operands;
  for (Instruction* i : computation.PostOrder()) {
    if (!MayFold(i) || (i->users().empty() && !i->IsRoot())) continue;
    operands.clear();
    for (const Instruction* x : i->operands()) operands.push_back(x->literal());
    absl::StatusOr<Literal> value = EvaluateInstruction(*i, operands);
    if (!value.ok()) continue;  // what fails shall fail when it runs
    value->set_shape(i->shape());
    Instruction* constant = computation.AddConstant(*std::move(value), i->name());
    constant->CopyExtrasFrom(*i);
    i->ReplaceAllUsesWith(constant);
    computation.RemoveIfDead(i);
    changed = true;
  }
  return changed;
}

}  // namespace

std::unique_ptr<Pass> CreateConstantFolding() {
  return MakeComputationPass("constant_folding", Run);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
