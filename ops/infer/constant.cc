// Inference of operations whose shape the text states: constant, parameter, custom-call.
#include "ops/infer/infer_internal.h"

namespace hlokit {

// c1: a constant's literal has the stated shape.
absl::StatusOr<Shape> InferDeclared(const OpView& op) {
  const bool constant = op.opcode() == Opcode::kConstant;
  const Literal* literal = constant ? op.attr<ConstantAttrs>().literal.get() : nullptr;
  if (literal == nullptr) return ExpectDeclared(op);
  if (op.declared() != nullptr && !Compatible(literal->shape(), *op.declared()))
    return Fail(op, 1, "the literal is ", Text(literal->shape()), ", but ", Text(*op.declared()),
                " is stated");
  return literal->shape().WithoutLayout();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
