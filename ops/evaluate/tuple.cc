// Evaluates ops that only pass values on: tuples, constants, tokens, copies, the two ends of
// asynchronous pairs.
#include "ops/evaluate/evaluate.h"
#include "support/status.h"

namespace hlokit {
namespace {

absl::StatusOr<Literal> ElementOf(const EvalContext& context, int64_t index) {
  const Literal& tuple = *context.operands[0];
  if (index < 0 || index >= static_cast<int64_t>(tuple.elements().size()))
    return InvalidArgument(Text(context.instruction.opcode()), ": ", Text(tuple.shape()),
                           " has no element ", index);
  return tuple.elements()[index];
}

}  // namespace

absl::StatusOr<Literal> EvaluatePassThrough(const EvalContext& context) {
  return *context.operands[0];
}
absl::StatusOr<Literal> EvaluateToken(const EvalContext&) { return Literal::Token(); }

absl::StatusOr<Literal> EvaluateTuple(const EvalContext& context) {
  std::vector<Literal> elements;
  for (const Literal* operand : context.operands) elements.push_back(*operand);
  return Literal::Tuple(std::move(elements));
}

absl::StatusOr<Literal> EvaluateGetTupleElement(const EvalContext& context) {
  return ElementOf(context, context.instruction.tuple_index());
}

absl::StatusOr<Literal> EvaluateConstant(const EvalContext& context) {
  if (context.instruction.literal() == nullptr)
    return FailedPrecondition("the value of constant ", context.instruction.name(),
                              " was elided from the text");
  return *context.instruction.literal();
}

absl::StatusOr<Literal> EvaluateParameter(const EvalContext& context) {
  return FailedPrecondition("parameter ", context.instruction.name(),
                            " has no value outside a call");
}

absl::StatusOr<Literal> EvaluateDeviceId(const EvalContext& context) {
  Literal result(context.instruction.shape());
  result.SetInt(
      0, context.instruction.opcode() == Opcode::kReplicaId ? context.replica : context.partition);
  return result;
}

// (destination, source, context).
absl::StatusOr<Literal> EvaluateCopyStart(const EvalContext& context) {
  Literal result(context.instruction.shape());
  for (size_t i = 0; i < 2 && i < result.elements().size(); ++i)
    result.elements()[i] = *context.operands[0];
  return result;
}
absl::StatusOr<Literal> EvaluateCopyDone(const EvalContext& context) {
  return ElementOf(context, 0);
}

// ((operands), result, context...).
absl::StatusOr<Literal> EvaluateAsyncStart(const EvalContext& context) {
  Literal result(context.instruction.shape());
  if (result.elements().size() < 2)
    return InvalidArgument("async-start: its shape is ", Text(result.shape()));
  ASSIGN_OR_RETURN(result.elements()[1],
                   context.call(*context.instruction.to_apply(), context.operands));
  ASSIGN_OR_RETURN(result.elements()[0], EvaluateTuple(context));
  return result;
}
absl::StatusOr<Literal> EvaluateAsyncDone(const EvalContext& context) {
  return ElementOf(context, 1);
}
absl::StatusOr<Literal> EvaluateAsyncDonePair(const EvalContext& context) {
  return ElementOf(context, 1);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
