// Broadcasting written out: first the operand of lower rank is spread over the dimensions that it
// names, then sizes of 1 are dropped and repeated.
#include "builder/broadcast_internal.h"
#include "builder/emit_internal.h"
#include "ops/broadcastable.h"

namespace hlokit {
namespace {

// `operand`, of `shape`, with its sizes of 1 repeated to those of `result`, of the same rank.
XlaOp Stretch(const Where& where, XlaOp operand, const Shape& shape, const Shape& result) {
  if (SameDims(shape, result)) return operand;
  if (shape.IsScalar()) return StretchTo(operand, result, where);
  Shape kept = Shape::Array(shape.type, {});
  DimVector map;
  for (int d = 0; d < shape.rank(); ++d) {
    if (shape.dims[d] != result.dims[d]) continue;
    kept.SetDynamic(kept.rank(), shape.IsDynamic(d));
    kept.dims.push_back(shape.dims[d]);
    map.push_back(d);
  }
  const XlaOp reshaped = Emit(where, Opcode::kReshape, {operand}, ReshapeAttrs(), {kept});
  return EmitBroadcast(where, reshaped, result, map);
}

// `lower` spread over the dimensions `map` of an array of `higher`: those have its own sizes.
XlaOp Spread(const Where& where, XlaOp lower, const Shape& shape, const Shape& higher, DimSpan map,
             Shape& spread) {
  spread = higher.WithoutLayout();
  for (int d = 0; d < shape.rank(); ++d) {
    spread.dims[map[d]] = shape.dims[d];
    spread.SetDynamic(static_cast<int>(map[d]), shape.IsDynamic(d));
  }
  return EmitBroadcast(where, lower, spread, map);
}

struct Pair {
  XlaOp lhs, rhs;
};

absl::StatusOr<Pair> ToOneShape(const Where& where, absl::string_view what, Pair ops, Shape lhs,
                                Shape rhs, DimSpan map) {
  absl::StatusOr<Shape> result = BroadcastOperands(lhs, rhs, map);
  if (!result.ok()) return Annotate(result.status(), what);
  if (lhs.rank() < rhs.rank()) {
    ops.lhs = Spread(where, ops.lhs, Shape(lhs), rhs, map, lhs);
  } else if (rhs.rank() < lhs.rank()) {
    ops.rhs = Spread(where, ops.rhs, Shape(rhs), lhs, map, rhs);
  }
  ops.lhs = Stretch(where, ops.lhs, lhs, *result);
  ops.rhs = Stretch(where, ops.rhs, rhs, *result);
  return ops;
}

// Brings both to one shape and makes the instruction.
template <typename A>
XlaOp EmitPair(const Where& where, Opcode opcode, XlaOp lhs, XlaOp rhs, DimSpan map,
               const A& attributes) {
  return WithShapes(where, {lhs, rhs}, [&](const std::vector<Shape>& s) -> absl::StatusOr<XlaOp> {
    Pair ops{lhs, rhs};
    if (s[0].IsArray() && s[1].IsArray()) {
      ASSIGN_OR_RETURN(ops, ToOneShape(where, Text(opcode), ops, s[0], s[1], map));
    }
    return Emit(where, opcode, {ops.lhs, ops.rhs}, attributes);
  });
}

// True if `order` says no more than the operands' type.
bool IsOwnOrder(ComparisonType order, ElementType type) {
  switch (order) {
    case ComparisonType::kFloat:
      return IsFloat(type) || IsComplex(type);
    case ComparisonType::kSigned:
      return IsSigned(type);
    case ComparisonType::kUnsigned:
      return IsUnsigned(type) || IsPred(type);
    default:
      return false;
  }
}

}  // namespace

XlaOp EmitBroadcast(const Where& where, XlaOp operand, const Shape& result, DimSpan map) {
  return WithShapes(where, {operand}, [&](const std::vector<Shape>& s) -> absl::StatusOr<XlaOp> {
    return Emit(where, Opcode::kBroadcast, {operand}, BroadcastAttrs{ToDims(map)},
                {result.WithType(s[0].type).WithoutLayout()});
  });
}

XlaOp StretchTo(XlaOp scalar, const Shape& shape, const Where& where) {
  return EmitBroadcast(where, scalar, shape, {});
}

XlaOp EmitBroadcasting(const Where& where, Opcode opcode, XlaOp lhs, XlaOp rhs, DimSpan map) {
  return EmitPair(where, opcode, lhs, rhs, map, NoAttrs());
}

XlaOp EmitCompare(const Where& where, XlaOp lhs, XlaOp rhs, DimSpan map,
                  const CompareAttrs& attributes) {
  return WithShapes(where, {lhs, rhs}, [&](const std::vector<Shape>& s) -> absl::StatusOr<XlaOp> {
    CompareAttrs kept = attributes;
    if (IsOwnOrder(kept.type, s[0].type)) kept.type = ComparisonType::kDefault;
    return EmitPair(where, Opcode::kCompare, lhs, rhs, map, kept);
  });
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
