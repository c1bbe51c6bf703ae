// Inference of call, fusion, while and conditional.
#include "ops/infer/infer_internal.h"

namespace hlokit {
namespace {

// c2: the computation's parameters are the operands. Its result.
absl::StatusOr<Shape> ResultOfCall(const OpView& op) {
  ASSIGN_OR_RETURN(Signature callee, SignatureOf(op, 0));
  std::vector<const Shape*> operands;
  for (int64_t i = 0; i < op.operand_count(); ++i) operands.push_back(&op.operand(i));
  RETURN_IF_ERROR(ExpectParameters(op, callee, operands, 2));
  return callee.result->WithoutLayout();
}

}  // namespace

absl::StatusOr<Shape> InferCall(const OpView& op) { return ResultOfCall(op); }

absl::StatusOr<Shape> InferFusion(const OpView& op) { return ResultOfCall(op); }

// c2: condition and body take the operand; c3: the condition returns pred[]; c4: the body returns
// what it takes.
absl::StatusOr<Shape> InferWhile(const OpView& op) {
  ASSIGN_OR_RETURN(Signature condition, SignatureOf(op, 0));
  ASSIGN_OR_RETURN(Signature body, SignatureOf(op, 1));
  const Shape& state = op.operand(0);
  RETURN_IF_ERROR(ExpectParameters(op, condition, {&state}, 2));
  RETURN_IF_ERROR(ExpectParameters(op, body, {&state}, 2));
  if (!condition.result->IsScalar() || !IsPred(condition.result->type))
    return Fail(op, 3, condition.computation->name(), " returns ", Text(*condition.result),
                ", expected pred[]");
  if (!Compatible(*body.result, state))
    return Fail(op, 4, body.computation->name(), " returns ", Text(*body.result), ", expected ",
                Text(state));
  return body.result->WithoutLayout();
}

// c1: the first operand is pred[] (two branches) or s32[]; c2: one more operand for each branch,
// which takes it; c3: all branches return one shape.
absl::StatusOr<Shape> InferConditional(const OpView& op) {
  const Shape& which = op.operand(0);
  const size_t branches = op.called().size();
  if (!which.IsScalar() ||
      (which.type != ElementType::kS32 && !(IsPred(which.type) && branches == 2)))
    return Fail(op, 1, "expects pred[] with two branches or s32[], found ", Text(which), " with ",
                branches);
  if (branches == 0 || op.operand_count() != static_cast<int64_t>(branches) + 1)
    return Fail(op, 2, "expects an operand for each of ", branches, " branches, found ",
                op.operand_count() - 1);
  const Shape* result = nullptr;
  for (size_t i = 0; i < branches; ++i) {
    ASSIGN_OR_RETURN(Signature branch, SignatureOf(op, i));
    RETURN_IF_ERROR(ExpectParameters(op, branch, {&op.operand(static_cast<int64_t>(i) + 1)}, 2));
    if (result != nullptr && !Compatible(*result, *branch.result))
      return Fail(op, 3, "branches differ in result: ", Text(*result), " and ",
                  Text(*branch.result));
    result = branch.result;
  }
  return result->WithoutLayout();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
