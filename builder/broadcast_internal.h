// Implicit broadcasting: operands converted to one shape, as XLA's builder writes it out.
#pragma once

#include "builder/xla_op.h"
#include "ir/attributes.h"
#include "ir/opcode.h"
#include "types/shape.h"

namespace hlokit {

// A function of two arrays, with the broadcasts and reshapes that bring them to one shape.
XlaOp EmitBroadcasting(const Where& where, Opcode opcode, XlaOp lhs, XlaOp rhs,
                       DimSpan broadcast_dimensions);
XlaOp EmitCompare(const Where& where, XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions,
                  const CompareAttrs& attributes);

// A scalar repeated to the dimensions of `shape`.
XlaOp StretchTo(XlaOp scalar, const Shape& shape, const Where& where);

// broadcast itself: operand dimension d becomes dimension map[d] of `result`.
XlaOp EmitBroadcast(const Where& where, XlaOp operand, const Shape& result, DimSpan map);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
