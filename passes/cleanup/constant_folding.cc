// constant_folding: evaluates instructions whose operands are all constants.
// Matches elementwise operations, data movement, reductions and dots whose operands are all
// constants, or broadcasts of constants besides them, with results and work of at most
// kMaxFoldedElements; broadcasts and iotas, which cost nothing, stay. Values are the reference
// executor's. Cost: linear, and the work folded.
#include "interpreter/interpreter.h"
#include "passes/framework/pass.h"
#include "support/status.h"

namespace hlokit {
namespace {

constexpr int64_t kMaxFoldedElements = 1 << 16;

bool Folds(Opcode opcode) {
  switch (opcode) {
    case Opcode::kBroadcast:
    case Opcode::kBitcast:
    case Opcode::kDynamicReshape:
    case Opcode::kStochasticConvert:
      return false;
    case Opcode::kReduce:
    case Opcode::kDot:
    case Opcode::kScatter:
      return true;
    default:
      return HasTrait(opcode, kElementwise) || HasTrait(opcode, kMovesData);
  }
}

// The constant that the operand is, or that it broadcasts.
const Instruction* ConstantOf(const Instruction* x) {
  const Instruction* constant = x->opcode() == Opcode::kBroadcast ? x->operand(0) : x;
  return constant->IsConstant() && constant->literal() != nullptr ? constant : nullptr;
}

bool MayFold(const Instruction* i) {
  if (!Folds(i->opcode()) || !i->shape().IsArray() || i->shape().HasDynamicDims()) return false;
  if (!i->control_predecessors().empty() || !i->control_successors().empty()) return false;
  if (i->shape().ElementCount() > kMaxFoldedElements || i->operand_count() == 0) return false;
  double work = static_cast<double>(i->shape().ElementCount());
  bool plain = false;  // broadcasts alone are for other rules
  for (const Instruction* x : i->operands()) {
    if (ConstantOf(x) == nullptr || !x->shape().IsArray()) return false;
    if (x->shape().ElementCount() > kMaxFoldedElements) return false;
    plain |= x->IsConstant();
  }
  if (!plain) return false;
  if (i->opcode() == Opcode::kDot)
    for (int64_t d : i->attr<DotAttrs>().lhs_contracting_dims)
      work *= static_cast<double>(i->operand(0)->shape().dims[d]);
  return work <= static_cast<double>(kMaxFoldedElements);
}

// What `i` gives, whose operands MayFold took.
absl::StatusOr<Literal> Fold(const Instruction& i) {
  std::vector<std::unique_ptr<Literal>> broadcasts;
  std::vector<const Literal*> operands;
  for (const Instruction* x : i.operands()) {
    operands.push_back(ConstantOf(x)->literal());
    if (x->IsConstant()) continue;
    ASSIGN_OR_RETURN(Literal whole, EvaluateInstruction(*x, {operands.back()}));
    broadcasts.push_back(std::make_unique<Literal>(std::move(whole)));
    operands.back() = broadcasts.back().get();
  }
  return EvaluateInstruction(i, operands);
}

absl::StatusOr<bool> FoldAll(Computation& computation) {
  bool changed = false;
  for (Instruction* i : computation.PostOrder()) {
    if (!MayFold(i) || (i->users().empty() && !i->IsRoot())) continue;
    absl::StatusOr<Literal> value = Fold(*i);
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

class ConstantFolding final : public ComputationPass {
 public:
  absl::string_view name() const override { return "constant_folding"; }
  bool into_applied() const override { return true; }
  absl::StatusOr<bool> RunOnComputation(Computation& c) override { return FoldAll(c); }
};

}  // namespace

std::unique_ptr<Pass> CreateConstantFolding() { return std::make_unique<ConstantFolding>(); }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
