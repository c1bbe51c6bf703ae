// Inference of send, recv, infeed and outfeed.
#include "ops/infer/infer_internal.h"

namespace hlokit {
namespace {

// The transfer in flight: (data, u32[], token[]); older text has no token.
Shape InFlight(const OpView& op, Shape data) {
  std::vector<Shape> elements = {std::move(data), Shape::Scalar(ElementType::kU32)};
  if (op.declared() == nullptr || op.declared()->elements.size() != 2)
    elements.push_back(Shape::Token());
  return Shape::Tuple(std::move(elements));
}

// c1: the operand is a transfer in flight.
absl::Status ExpectInFlight(const OpView& op) {
  const Shape& value = op.operand(0);
  if (value.IsTuple() && value.elements.size() >= 2 && value.elements[1].type == ElementType::kU32)
    return absl::OkStatus();
  return Fail(op, 1, "expects (data, u32[], token[]), found ", Text(value));
}

// The first element of the stated tuple. c2: there is one.
absl::StatusOr<Shape> StatedData(const OpView& op) {
  ASSIGN_OR_RETURN(Shape declared, ExpectDeclared(op));
  if (!declared.IsTuple() || declared.elements.empty())
    return Fail(op, 2, "expects a tuple that begins with the data as result, found ",
                Text(declared));
  return declared.elements[0];
}

}  // namespace

absl::StatusOr<Shape> InferSend(const OpView& op) {
  RETURN_IF_ERROR(ExpectToken(op, 1));
  return InFlight(op, op.operand(0).WithoutLayout());
}

absl::StatusOr<Shape> InferSendDone(const OpView& op) {
  RETURN_IF_ERROR(ExpectInFlight(op));
  return Shape::Token();
}

absl::StatusOr<Shape> InferRecv(const OpView& op) {
  RETURN_IF_ERROR(ExpectToken(op, 0));
  ASSIGN_OR_RETURN(Shape data, StatedData(op));
  return InFlight(op, std::move(data));
}

absl::StatusOr<Shape> InferRecvDone(const OpView& op) {
  RETURN_IF_ERROR(ExpectInFlight(op));
  return Shape::Tuple({op.operand(0).elements[0].WithoutLayout(), Shape::Token()});
}

// c2: the data is an array or a tuple of arrays.
absl::StatusOr<Shape> InferInfeed(const OpView& op) {
  RETURN_IF_ERROR(ExpectToken(op, 0));
  ASSIGN_OR_RETURN(Shape data, StatedData(op));
  for (const Shape& element : data.elements)
    if (!element.IsArray()) return Fail(op, 2, "the data is not flat: ", Text(data));
  return Shape::Tuple({std::move(data), Shape::Token()});
}

// c2: outfeed_shape, where stated, is the operand's.
absl::StatusOr<Shape> InferOutfeed(const OpView& op) {
  RETURN_IF_ERROR(ExpectToken(op, 1));
  const std::optional<Shape>& stated = op.attr<OutfeedAttrs>().outfeed_shape;
  if (stated && !Compatible(*stated, op.operand(0)))
    return Fail(op, 2, "outfeed_shape is ", Text(*stated), ", but the operand is ",
                Text(op.operand(0)));
  return Shape::Token();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
