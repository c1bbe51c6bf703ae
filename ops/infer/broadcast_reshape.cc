// Inference of operations that rearrange elements: broadcast, reshape, transpose, reverse, bitcast,
// iota.
#include "ops/infer/infer_internal.h"

namespace hlokit {
namespace {

// Bits of a static array as the program stores it; -1 where that depends on tiling or run time.
__int128 StoredBits(const Shape& shape) {
  if (shape.HasUnboundedDims() || (shape.has_layout && shape.layout.extras != nullptr)) return -1;
  return static_cast<__int128>(shape.ElementCount()) * BitWidth(shape.type);
}

}  // namespace

// c2: an array of the operand's type is stated; c3: one result dimension for each of the operand's,
// each once; c4: the sizes agree.
absl::StatusOr<Shape> InferBroadcast(const OpView& op) {
  RETURN_IF_ERROR(ExpectArray(op, 0));
  ASSIGN_OR_RETURN(Shape result, ExpectDeclaredArray(op, 2));
  const Shape& operand = op.operand(0);
  const DimVector& map = op.attr<BroadcastAttrs>().dimensions;
  if (result.type != operand.type)
    return Fail(op, 2, "operand and result differ in type: ", Text(operand), " and ", Text(result));
  if (static_cast<int>(map.size()) != operand.rank() || !DistinctBelow(map, result.rank()))
    return Fail(op, 3, "dimensions=", ListText(map), " does not map ", Text(operand), " into ",
                Text(result));
  for (int d = 0; d < operand.rank(); ++d)
    if (!SizesAgree(operand.dims[d], result.dims[map[d]]))
      return Fail(op, 4, "dimension ", d, " of ", Text(operand), " does not fit dimension ", map[d],
                  " of ", Text(result));
  return result;
}

// c2: an array of the operand's type is stated; c3: with as many elements; c4: inferred_dimension
// is one of its own.
absl::StatusOr<Shape> InferReshape(const OpView& op) {
  RETURN_IF_ERROR(ExpectArray(op, 0));
  ASSIGN_OR_RETURN(Shape result, ExpectReshaped(op));
  const std::optional<int64_t> inferred = op.attr<ReshapeAttrs>().inferred_dimension;
  if (inferred && (*inferred < -1 || *inferred >= result.rank()))
    return Fail(op, 4, "inferred_dimension=", *inferred, " is no dimension of ", Text(result));
  return result;
}

// c2: dimensions is a permutation.
absl::StatusOr<Shape> InferTranspose(const OpView& op) {
  RETURN_IF_ERROR(ExpectArray(op, 0));
  const Shape& operand = op.operand(0);
  const DimVector& order = op.attr<DimensionsAttrs>().dimensions;
  if (!IsPermutation(order, operand.rank()))
    return Fail(op, 2, "dimensions=", ListText(order),
                " is not a permutation of the dimensions of ", Text(operand));
  Shape result = Shape::Array(operand.type, operand.dims);
  for (int d = 0; d < result.rank(); ++d) {
    result.dims[d] = operand.dims[order[d]];
    result.SetDynamic(d, operand.IsDynamic(static_cast<int>(order[d])));
  }
  return result;
}

// c2: the dimensions are distinct and in range.
absl::StatusOr<Shape> InferReverse(const OpView& op) {
  RETURN_IF_ERROR(ExpectArray(op, 0));
  const Shape& operand = op.operand(0);
  const DimVector& dimensions = op.attr<DimensionsAttrs>().dimensions;
  if (!DistinctBelow(dimensions, operand.rank()))
    return Fail(op, 2, "dimensions=", ListText(dimensions), " are not distinct dimensions of ",
                Text(operand));
  return operand.WithoutLayout();
}

// c1: operand and result are arrays; c3: of the same size in memory.
absl::StatusOr<Shape> InferBitcast(const OpView& op) {
  RETURN_IF_ERROR(ExpectArray(op, 0));
  ASSIGN_OR_RETURN(Shape result, ExpectDeclaredArray(op, 1));
  const __int128 from = StoredBits(op.operand(0));
  const __int128 to = StoredBits(*op.declared());
  if (from >= 0 && to >= 0 && from != to)
    return Fail(op, 3, "operand and result differ in size: ", Text(op.operand(0)), " and ",
                Text(result));
  return result;
}

// c2: an array of numbers is stated; c3: iota_dimension is one of its dimensions.
absl::StatusOr<Shape> InferIota(const OpView& op) {
  ASSIGN_OR_RETURN(Shape result, ExpectDeclaredArray(op, 2));
  if (IsPred(result.type)) return Fail(op, 2, "expects numbers, found ", Text(result));
  const int64_t dimension = op.attr<IotaAttrs>().iota_dimension;
  if (dimension < 0 || dimension >= result.rank())
    return Fail(op, 3, "iota_dimension=", dimension, " is no dimension of ", Text(result));
  return result;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
