// Inference of concatenate and pad.
#include "ops/infer/infer_internal.h"

namespace hlokit {

// c2: one dimension in range; c3: one type and rank; c4: equal sizes in the other dimensions; c5: a
// countable sum.
absl::StatusOr<Shape> InferConcatenate(const OpView& op) {
  RETURN_IF_ERROR(ExpectArrays(op));
  const Shape& first = op.operand(0);
  ASSIGN_OR_RETURN(const int along,
                   ExpectOneDimension(op, op.attr<DimensionsAttrs>().dimensions, first.rank(), 2));
  Shape result = first.WithoutLayout();
  for (int64_t i = 1; i < op.operand_count(); ++i) {
    const Shape& next = op.operand(i);
    if (next.type != first.type || next.rank() != first.rank())
      return Fail(op, 3, "operands differ in type or rank: ", Text(first), " and ", Text(next));
    for (int d = 0; d < result.rank(); ++d) {
      result.SetDynamic(d, result.IsDynamic(d) || next.IsDynamic(d));
      if (d == along) continue;
      if (!SizesAgree(result.dims[d], next.dims[d]))
        return Fail(op, 4, "operands differ in dimension ", d, ": ", Text(first), " and ",
                    Text(next));
      result.dims[d] = MoreSpecific(result.dims[d], next.dims[d]);
    }
    int64_t& sum = result.dims[along];
    if (sum == kUnbounded || next.dims[along] == kUnbounded) {
      sum = kUnbounded;
    } else if (__builtin_add_overflow(sum, next.dims[along], &sum)) {
      return Fail(op, 5, "the sizes of dimension ", along, " do not add up to a 64-bit number");
    }
  }
  return result;
}

// c2: the padding value is a scalar of the operand's type; c3: one entry a dimension; c4: interior
// padding is not negative; c5: nor is a size of the result.
absl::StatusOr<Shape> InferPad(const OpView& op) {
  RETURN_IF_ERROR(ExpectArrays(op));
  const Shape& operand = op.operand(0);
  const Shape& value = op.operand(1);
  const PaddingConfig& padding = op.attr<PadAttrs>().padding;
  if (!value.IsScalar() || value.type != operand.type)
    return Fail(op, 2, "expects a scalar ", Text(operand.type), "[] as padding value, found ",
                Text(value));
  if (static_cast<int>(padding.size()) != operand.rank())
    return Fail(op, 3, "pads ", padding.size(), " dimensions of ", Text(operand));
  Shape result = operand.WithoutLayout();
  for (int d = 0; d < operand.rank(); ++d) {
    const auto& [low, high, interior] = padding[d];
    if (interior < 0)
      return Fail(op, 4, "interior padding of dimension ", d, " is negative: ", interior);
    if (operand.dims[d] == kUnbounded) continue;
    const __int128 between =
        operand.dims[d] > 1 ? static_cast<__int128>(operand.dims[d] - 1) * interior : 0;
    const __int128 size = static_cast<__int128>(operand.dims[d]) + low + high + between;
    if (size < 0 || size > std::numeric_limits<int64_t>::max())
      return Fail(op, 5, "padding ", low, "_", high, "_", interior,
                  " leaves no size for dimension ", d, " of ", Text(operand));
    result.dims[d] = static_cast<int64_t>(size);
  }
  return result;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
