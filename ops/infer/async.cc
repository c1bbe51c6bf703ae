// Inference of async-start, -update and -done, and of copy-start and -done.
#include "ops/infer/infer_internal.h"

namespace hlokit {
namespace {

// c1: the operand is ((operands), results, contexts...).
absl::Status ExpectAsyncValue(const OpView& op) {
  const Shape& value = op.operand(0);
  if (value.IsTuple() && value.elements.size() >= 2 && value.elements[0].IsTuple())
    return absl::OkStatus();
  return Fail(op, 1, "expects ((operands), results, ...), found ", Text(value));
}

}  // namespace

// c2: the wrapped computation takes the operands. The contexts at the end are as stated.
absl::StatusOr<Shape> InferAsyncStart(const OpView& op) {
  ASSIGN_OR_RETURN(Signature wrapped, SignatureOf(op, 0));
  std::vector<const Shape*> operands;
  std::vector<Shape> operand_shapes;
  for (int64_t i = 0; i < op.operand_count(); ++i) {
    operands.push_back(&op.operand(i));
    operand_shapes.push_back(op.operand(i).WithoutLayout());
  }
  RETURN_IF_ERROR(ExpectParameters(op, wrapped, operands, 2));
  std::vector<Shape> elements = {Shape::Tuple(std::move(operand_shapes)),
                                 wrapped.result->WithoutLayout()};
  if (op.declared() != nullptr)
    for (size_t i = 2; i < op.declared()->elements.size(); ++i)
      elements.push_back(op.declared()->elements[i].WithoutLayout());
  return Shape::Tuple(std::move(elements));
}

absl::StatusOr<Shape> InferAsyncUpdate(const OpView& op) {
  RETURN_IF_ERROR(ExpectAsyncValue(op));
  return op.operand(0).WithoutLayout();
}

absl::StatusOr<Shape> InferAsyncDone(const OpView& op) {
  RETURN_IF_ERROR(ExpectAsyncValue(op));
  return op.operand(0).elements[1].WithoutLayout();
}

// (target, source, context).
absl::StatusOr<Shape> InferCopyStart(const OpView& op) {
  const Shape copied = op.operand(0).WithoutLayout();
  return Shape::Tuple({copied, copied, Shape::Scalar(ElementType::kU32)});
}

// c1: the operand is what copy-start returns.
absl::StatusOr<Shape> InferCopyDone(const OpView& op) {
  const Shape& start = op.operand(0);
  if (!start.IsTuple() || start.elements.size() < 2 ||
      !Compatible(start.elements[0], start.elements[1]))
    return Fail(op, 1, "expects what copy-start returns, found ", Text(start));
  return start.elements[0].WithoutLayout();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
