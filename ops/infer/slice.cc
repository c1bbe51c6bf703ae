// Inference of slice, dynamic-slice and dynamic-update-slice.
#include "ops/infer/infer_internal.h"

namespace hlokit {
namespace {

// Start indices from operand `first` on: one integer scalar a dimension, or (older text) one vector
// of them. c4: their number and kind; c5: they share one type.
absl::Status ExpectStartIndices(const OpView& op, int64_t first, int rank) {
  const int64_t count = op.operand_count() - first;
  if (count == 1 && op.operand(first).rank() == 1) {
    const Shape& starts = op.operand(first);
    if (IsInteger(starts.type) && starts.dims[0] == rank) return absl::OkStatus();
    return Fail(op, 4, "expects ", rank, " start indices, found ", Text(starts));
  }
  if (count != rank) return Fail(op, 4, "expects ", rank, " start indices, found ", count);
  for (int64_t i = first; i < op.operand_count(); ++i) {
    RETURN_IF_ERROR(ExpectIntegerScalar(op, i, 4));
    if (op.operand(i).type != op.operand(first).type)
      return Fail(op, 5, "start indices differ in type: ", Text(op.operand(first)), " and ",
                  Text(op.operand(i)));
  }
  return absl::OkStatus();
}

}  // namespace

// c2: one [start:limit:stride] a dimension; c3: 0 <= start <= limit <= size and stride > 0.
absl::StatusOr<Shape> InferSlice(const OpView& op) {
  RETURN_IF_ERROR(ExpectArray(op, 0));
  const Shape& operand = op.operand(0);
  const SliceSpec& slice = op.attr<SliceAttrs>().slice;
  if (static_cast<int>(slice.size()) != operand.rank())
    return Fail(op, 2, "slices ", slice.size(), " dimensions of ", Text(operand));
  Shape result = Shape::Array(operand.type, operand.dims);
  for (int d = 0; d < operand.rank(); ++d) {
    const auto& [start, limit, stride] = slice[d];
    if (start < 0 || start > limit || Exceeds(limit, operand.dims[d]) || stride <= 0)
      return Fail(op, 3, "[", start, ":", limit, ":", stride, "] is no slice of dimension ", d,
                  " of ", Text(operand));
    result.dims[d] = (limit - start) / stride + ((limit - start) % stride != 0);
    result.SetDynamic(d, operand.IsDynamic(d) && result.dims[d] == operand.dims[d]);
  }
  return result;
}

// c2: one size a dimension; c3: each at most the operand's.
absl::StatusOr<Shape> InferDynamicSlice(const OpView& op) {
  RETURN_IF_ERROR(ExpectArrays(op));
  const Shape& operand = op.operand(0);
  const DimVector& sizes = op.attr<DynamicSliceAttrs>().dynamic_slice_sizes;
  RETURN_IF_ERROR(ExpectStartIndices(op, 1, operand.rank()));
  if (static_cast<int>(sizes.size()) != operand.rank())
    return Fail(op, 2, "dynamic_slice_sizes=", ListText(sizes), " does not fit ", Text(operand));
  for (int d = 0; d < operand.rank(); ++d)
    if (sizes[d] < 0 || Exceeds(sizes[d], operand.dims[d]))
      return Fail(op, 3, "dynamic_slice_sizes=", ListText(sizes), " exceeds ", Text(operand),
                  " in dimension ", d);
  Shape result = Shape::Array(operand.type, sizes);
  for (int d = 0; d < operand.rank(); ++d)
    result.SetDynamic(d, operand.IsDynamic(d) && sizes[d] == operand.dims[d]);
  return result;
}

// c2: operand and update have one type and rank; c3: the update is no larger in any dimension.
absl::StatusOr<Shape> InferDynamicUpdateSlice(const OpView& op) {
  RETURN_IF_ERROR(ExpectArrays(op));
  const Shape& operand = op.operand(0);
  const Shape& update = op.operand(1);
  RETURN_IF_ERROR(ExpectStartIndices(op, 2, operand.rank()));
  if (operand.type != update.type || operand.rank() != update.rank())
    return Fail(op, 2, "operand and update differ in type or rank: ", Text(operand), " and ",
                Text(update));
  for (int d = 0; d < operand.rank(); ++d)
    if (Exceeds(update.dims[d], operand.dims[d]))
      return Fail(op, 3, "update exceeds the operand in dimension ", d, ": ", Text(update), " and ",
                  Text(operand));
  return operand.WithoutLayout();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
