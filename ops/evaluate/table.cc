// Evaluate: looks the opcode up, guards against values too large, and gives the result the
// instruction's shape.
#include <array>
#include <new>
#include <optional>

#include "ops/evaluate/evaluate.h"
#include "ops/evaluate/runtime_sizes.h"
#include "support/status.h"

namespace hlokit {
namespace {

using EvaluateFunction = absl::StatusOr<Literal> (*)(const EvalContext&);

constexpr std::array<EvaluateFunction, kOpcodeCount> kEvaluate = {{
#define HLO_OP(enumerator, text, arity, attrs, calls, traits, infer, evaluate, ...) \
  &Evaluate##evaluate,
#include "ir/ops.def"
#undef HLO_OP
}};

constexpr int64_t kMaxBytes = int64_t{1} << 40;

absl::Status CheckSize(const Shape& shape) {
  for (const Shape& e : shape.elements) RETURN_IF_ERROR(CheckSize(e));
  if (!shape.IsArray()) return absl::OkStatus();
  if (shape.HasUnboundedDims()) return Unimplemented("a value of unbounded shape ", Text(shape));
  if (shape.ElementCount() > kMaxBytes / ByteWidth(shape.type))
    return ResourceExhausted("a value of ", Text(shape), " does not fit in memory");
  return absl::OkStatus();
}

// Operations that walk over all places of an array, however few elements lie there, and do nothing
// else.
bool WalksPlaces(Opcode opcode) {
  switch (opcode) {
    case Opcode::kConvolution:
    case Opcode::kDot:
    case Opcode::kGather:
    case Opcode::kIota:
    case Opcode::kReduce:
    case Opcode::kReduceWindow:
    case Opcode::kScatter:
    case Opcode::kSelectAndScatter:
    case Opcode::kSort:
      return true;
    default:
      return false;
  }
}

// No element of static size: there is nothing to compute, and other dimensions may be huge.
bool IsNothing(const Shape& shape) {
  if (!shape.IsTuple())
    return shape.IsArray() && !shape.HasDynamicDims() && shape.ElementCount() == 0;
  for (const Shape& e : shape.elements)
    if (!IsNothing(e)) return false;
  return !shape.elements.empty();
}

// Takes over layouts and dynamic bits. False where the value is of another shape.
bool Stamp(Literal& value, const Shape& shape) {
  if (shape.IsTuple()) {
    if (value.elements().size() != shape.elements.size() || !value.shape().IsTuple()) return false;
    for (size_t i = 0; i < shape.elements.size(); ++i)
      if (!Stamp(value.elements()[i], shape.elements[i])) return false;
  } else if (value.type() != shape.type || !SameDims(value.shape(), shape)) {
    return false;
  }
  value.set_shape(shape);
  return true;
}

}  // namespace

absl::StatusOr<Literal> Evaluate(const EvalContext& context) {
  const Instruction& instruction = context.instruction;
  RETURN_IF_ERROR(CheckSize(instruction.shape()));
  if (WalksPlaces(instruction.opcode()) && IsNothing(instruction.shape()))
    return Literal(instruction.shape());
  try {
    ASSIGN_OR_RETURN(std::optional<Literal> cropped, EvaluateAtRuntimeSizes(context));
    if (cropped.has_value()) return *std::move(cropped);
    ASSIGN_OR_RETURN(Literal value, kEvaluate[static_cast<size_t>(instruction.opcode())](context));
    if (!Stamp(value, instruction.shape()))
      return InvalidArgument(Text(instruction.opcode()), " gives ", Text(value.shape()),
                             ", but is declared ", Text(instruction.shape()));
    return value;
  } catch (const std::bad_alloc&) {
    return ResourceExhausted("out of memory in ", Text(instruction.opcode()), " of ",
                             Text(instruction.shape()));
  }
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
