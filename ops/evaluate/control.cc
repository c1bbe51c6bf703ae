// Evaluates ops that run whole computations, by way of the executor's call function.
#include "ops/evaluate/control.h"
#include "ops/evaluate/evaluate.h"
#include "support/status.h"

namespace hlokit {

int64_t BranchIndex(const Literal& selector, int64_t branches) {
  if (IsPred(selector.type())) return selector.GetInt(0) != 0 ? 0 : 1;
  const int64_t index = selector.GetInt(0);
  return index < 0 || index >= branches ? branches - 1 : index;
}

absl::StatusOr<Literal> EvaluateCall(const EvalContext& context) {
  return context.call(*context.instruction.to_apply(), context.operands);
}

absl::StatusOr<Literal> EvaluateFusion(const EvalContext& context) { return EvaluateCall(context); }

absl::StatusOr<Literal> EvaluateWhile(const EvalContext& context) {
  Literal state = *context.operands[0];
  while (true) {
    ASSIGN_OR_RETURN(Literal again, context.call(*context.instruction.called(0), {&state}));
    if (again.GetInt(0) == 0) return state;
    ASSIGN_OR_RETURN(state, context.call(*context.instruction.called(1), {&state}));
  }
}

absl::StatusOr<Literal> EvaluateConditional(const EvalContext& context) {
  const auto branches = context.instruction.called();
  const int64_t branch = BranchIndex(*context.operands[0], branches.size());
  return context.call(*branches[branch], {context.operands[branch + 1]});
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
