// One instruction from a call of an operation.
#include "builder/emit_internal.h"

namespace hlokit {

XlaBuilder* BuilderOf(OpSpan operands) {
  for (const XlaOp& operand : operands)
    if (operand.builder() != nullptr) return operand.builder();
  return nullptr;
}

XlaOp EmitHolder(XlaBuilder* builder, const Where& where, Opcode opcode, OpSpan operands,
                 std::unique_ptr<AttributesBase> attributes, EmitExtras extras) {
  if (builder == nullptr) return XlaOp();
  XlaBuilder::NewOp op{
      opcode, operands, std::move(attributes), std::move(extras.shape), std::move(extras.called),
      ""};
  return builder->ReportErrorOrReturn(builder->AddInstruction(std::move(op)), where);
}

std::vector<XlaOp> Joined(OpSpan operands, OpSpan more) {
  std::vector<XlaOp> all(operands.begin(), operands.end());
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
