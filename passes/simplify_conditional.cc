// Conditionals on constants.
#include "passes/simplify_conditional.h"

#include "support/status.h"

namespace hlokit {
namespace {

// The branch that the constant chooses; an index out of range takes the last.
int64_t BranchTaken(const Instruction* conditional, int64_t index) {
  const auto branches = static_cast<int64_t>(conditional->called().size());
  if (IsPred(conditional->operand(0)->shape().type)) return index != 0 ? 0 : 1;
  return index < 0 || index >= branches ? branches - 1 : index;
}

absl::StatusOr<bool> Run(Computation& computation) {
  bool changed = false;
  for (Instruction* i : computation.PostOrder()) {
    if (i->opcode() != Opcode::kConditional || !i->operand(0)->IsConstant()) continue;
    const Literal* choice = i->operand(0)->literal();
    if (choice == nullptr || !i->control_predecessors().empty() || !i->control_successors().empty())
      continue;
    const int64_t taken = BranchTaken(i, choice->GetInt(0));
    auto call = std::make_unique<Instruction>(
        Opcode::kCall, i->shape(),
        absl::Span<Instruction* const>{i->operands().subspan(1 + taken, 1)});
    call->set_called({i->called(taken)});
    call->CopyExtrasFrom(*i);
    i->ReplaceAllUsesWith(computation.Add(std::move(call), i->name()));
    computation.Remove(i);
    changed = true;
  }
  return changed;
}

}  // namespace

std::unique_ptr<Pass> CreateSimplifyConditional() {
  return MakeComputationPass("simplify-conditional", Run);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
