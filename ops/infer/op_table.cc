// The table from opcode to shape inference, and the checks that all opcodes share.
#include "ops/infer/op_table.h"

#include <array>

#include "absl/container/inlined_vector.h"
#include "ops/infer/infer.h"
#include "ops/infer/infer_internal.h"

namespace hlokit {
namespace {

using InferFunction = absl::StatusOr<Shape> (*)(const OpView&);

constexpr std::array<InferFunction, kOpcodeCount> kInfer = {{
#define HLO_OP(enumerator, text, arity, attrs, calls, traits, infer, evaluate, ...) &Infer##infer,
#include "ir/ops.def"
#undef HLO_OP
}};

absl::Status CheckOperandCount(const OpView& op) {
  const OpInfo& info = Info(op.opcode());
  if (info.exact ? op.operand_count() == info.min_operands
                 : op.operand_count() >= info.min_operands)
    return absl::OkStatus();
  return Fail(op, 0, "expects ", info.exact ? "" : "at least ", info.min_operands, " operand",
              info.min_operands == 1 ? "" : "s", ", found ", op.operand_count());
}

}  // namespace

absl::StatusOr<Shape> InferShape(const OpView& op) {
  RETURN_IF_ERROR(CheckOperandCount(op));
  return kInfer[static_cast<size_t>(op.opcode())](op);
}

absl::StatusOr<Shape> InferShape(const Instruction& instruction) {
  absl::InlinedVector<const Shape*, 4> operands;
  for (const Instruction* operand : instruction.operands()) operands.push_back(&operand->shape());
  return InferShape(OpView(instruction.opcode(), operands, instruction.attributes(),
                           instruction.called(), &instruction.shape()));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
