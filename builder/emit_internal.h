// What the files of operations share: one instruction from a call, and the shapes of operands.
#pragma once

#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include "builder/xla_builder.h"
#include "support/status.h"

namespace hlokit {

// What an operation has besides operands and attributes.
struct EmitExtras {
  std::optional<Shape> shape = std::nullopt;
  std::vector<const XlaComputation*> called = {};
};

// The builder of the first operand that has one; null where none has.
XlaBuilder* BuilderOf(OpSpan operands);

// Adds one instruction, or reports its error at `where`.
XlaOp EmitHolder(XlaBuilder* builder, const Where& where, Opcode opcode, OpSpan operands,
                 std::unique_ptr<AttributesBase> attributes, EmitExtras extras);

template <typename A = NoAttrs>
XlaOp EmitIn(XlaBuilder* builder, const Where& where, Opcode opcode, OpSpan operands,
             A attributes = {}, EmitExtras extras = {}) {
  std::unique_ptr<AttributesBase> holder;
  if constexpr (!std::is_same_v<A, NoAttrs>)
    holder = std::make_unique<AttributesOf<A>>(std::move(attributes));
  return EmitHolder(builder, where, opcode, operands, std::move(holder), std::move(extras));
}

// The same in the operands' builder.
template <typename A = NoAttrs>
XlaOp Emit(const Where& where, Opcode opcode, std::initializer_list<XlaOp> operands,
           A attributes = {}, EmitExtras extras = {}) {
  return EmitIn(BuilderOf(operands), where, opcode, operands, std::move(attributes),
                std::move(extras));
}

// For operations that look at shapes first: calls `make` with a copy of each operand's shape,
// unless an operand is not valid; reports the error that it returns.
template <typename Make>
XlaOp WithShapes(const Where& where, std::initializer_list<XlaOp> operands, Make make) {
  XlaBuilder* builder = BuilderOf(operands);
  if (builder == nullptr) return XlaOp();
  std::vector<Shape> shapes;
  for (XlaOp operand : operands) {
    absl::StatusOr<Shape> shape = builder->GetShape(operand);
    if (!shape.ok()) return builder->ReportError(shape.status(), where);
    shapes.push_back(*std::move(shape));
  }
  absl::StatusOr<XlaOp> made = make(shapes);
  return builder->ReportErrorOrReturn(std::move(made), where);
}

inline DimVector ToDims(DimSpan dims) { return DimVector(dims.begin(), dims.end()); }

// Operands first, then `more`.
std::vector<XlaOp> Joined(OpSpan operands, OpSpan more);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
