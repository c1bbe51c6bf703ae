// conditional-canonicalizer: makes the branches of conditionals take and return tuples.
// Matches conditionals with a branch whose argument, or a result, that is an array. Leaves branches
// (copies, where others call them too) that take and give tuples of one, tuples of the arguments
// before the conditional and a get-tuple-element after it. Cost: linear.
//   conditional(p, x, y)  ->  get-tuple-element(conditional(p, (x), (y)), 0)
#include "passes/framework/pass.h"
#include "passes/rewrite/control_edges.h"
#include "passes/rewrite/while_state.h"

namespace hlokit {
namespace {

Instruction* TupleOfOne(Instruction* part) {
  return part->parent()->Add(Opcode::kTuple, Shape::Tuple({part->shape()}), {part});
}

Instruction* OnlyPart(Instruction* tuple) {
  return tuple->parent()->Add(Opcode::kGetTupleElement, tuple->shape().elements[0], {tuple},
                              GetTupleElementAttrs{0});
}

void TakeTuple(Computation& branch) {
  Instruction* old = branch.parameter(0);
  auto made = std::make_unique<Instruction>(Opcode::kParameter, Shape::Tuple({old->shape()}),
                                            absl::Span<Instruction* const>());
  made->CopyExtrasFrom(*old);
  Instruction* parameter = branch.Add(std::move(made), old->name());
  old->ReplaceAllUsesWith(OnlyPart(parameter));
  branch.Remove(old);
  branch.RebuildParameters();
}

// A branch that this conditional may change.
void OwnBranches(Instruction* conditional, std::vector<int>& callers) {
  for (size_t k = 0; k < conditional->called().size(); ++k) {
    const Computation* branch = conditional->called(k);
    if (callers[branch->id()] == 1) continue;
    --callers[branch->id()];
    conditional->SetCalled(k, branch->Clone(".canonical"));
    callers.resize(conditional->module()->computation_id_bound(), 1);
  }
}

bool IsCanonical(const Instruction* conditional) {
  if (!conditional->shape().IsTuple()) return false;
  for (int64_t k = 1; k < conditional->operand_count(); ++k)
    if (!conditional->operand(k)->shape().IsTuple()) return false;
  return true;
}

void Canonicalize(Instruction* i) {
  Computation& c = *i->parent();
  std::vector<Instruction*> operands = {i->operand(0)};
  for (int64_t k = 1; k < i->operand_count(); ++k) {
    Instruction* argument = i->operand(k);
    if (!argument->shape().IsTuple()) {
      TakeTuple(*i->called(k - 1));
      argument = TupleOfOne(argument);
    }
    operands.push_back(argument);
  }
  const bool wraps = !i->shape().IsTuple();
  if (wraps)
    for (Computation* branch : i->called()) branch->set_root(TupleOfOne(branch->root()));
  Instruction* made =
      c.Add(i->CloneWith(wraps ? Shape::Tuple({i->shape()}) : i->shape(), operands), i->name());
  i->ReplaceAllUsesWith(wraps ? OnlyPart(made) : made);
  c.Remove(i);
}

absl::StatusOr<bool> CanonicalizeConditionals(Module& module) {
  bool changed = false;
  std::vector<int> callers = CountCallers(module);
  for (Computation* c : module.ComputationsPostOrder())
    for (Instruction* i : c->Instructions()) {
      if (i->opcode() != Opcode::kConditional || IsCanonical(i)) continue;
      if (HasControlEdges(*i)) continue;
      OwnBranches(i, callers);
      Canonicalize(i);
      changed = true;
    }
  return changed;
}

}  // namespace

std::unique_ptr<Pass> CreateConditionalCanonicalizer() {
  return MakeModulePass("conditional-canonicalizer", CanonicalizeConditionals);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
