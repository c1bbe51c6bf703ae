// Evaluates ops that move data: broadcast, reshape, transpose, slices, pad, concatenate, reverse,
// iota.
//
// Nearly all are one strided copy (CopyStrided): a box of elements, with a stride per dimension on
// either side. A broadcast has source strides of 0, a reverse negative ones, a pad starts at an
// offset and steps by interior + 1 in the result. Literals are row-major. Dynamic sizes narrow the box, elements beyond them are zero.
#include <algorithm>
#include <cstring>

#include "ops/evaluate/evaluate.h"
#include "ops/evaluate/movement.h"
#include "ops/evaluate/strided.h"
#include "ops/evaluate/values.h"
#include "ops/reshape_groups.h"
#include "support/status.h"

namespace hlokit {
namespace {

uint8_t* At(Literal& literal, int64_t offset) {
  return literal.data() + offset * ByteWidth(literal.type());
}
const uint8_t* At(const Literal& literal, int64_t offset) {
  return literal.data() + offset * ByteWidth(literal.type());
}

DimVector StridesOf(const Literal& literal) { return RowMajorStrides(literal.shape().dims); }

int64_t Dot(absl::Span<const int64_t> a, absl::Span<const int64_t> b) {
  int64_t sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

void SetRuntimeDim(Literal& literal, int d, int64_t size) {
  if (literal.shape().IsDynamic(d)) literal.set_dynamic_size(d, size);
}

// A scalar index as a signed number; unsigned ones past int64 become its largest.
int64_t IndexValue(const Literal& literal, int64_t i) {
  const int64_t value = literal.GetInt(i);
  return IsUnsigned(literal.type()) && value < 0 ? INT64_MAX : value;
}

}  // namespace

DimVector ClampedStarts(absl::Span<const Literal* const> indices, absl::Span<const int64_t> dims,
                        absl::Span<const int64_t> sizes) {
  DimVector starts;
  for (size_t d = 0; d < dims.size(); ++d) {
    const bool vector =
        !indices.empty() && indices[0]->shape().rank() == 1;  // the older form: one vector
    const int64_t start = vector ? IndexValue(*indices[0], d) : IndexValue(*indices[d], 0);
    starts.push_back(std::max<int64_t>(0, std::min(start, dims[d] - sizes[d])));
  }
  return starts;
}

void UpdateSlice(Literal& target, const Literal& update, absl::Span<const Literal* const> indices) {
  const DimVector starts = ClampedStarts(indices, target.shape().dims, update.shape().dims);
  const DimVector strides = StridesOf(target);
  CopyStrided(RuntimeDims(update), update.data(), StridesOf(update),
              At(target, Dot(starts, strides)), strides, ByteWidth(target.type()));
  // As in XLA, an update of a whole dynamic dimension says how long it is from there on.
  for (int d = 0; d < target.shape().rank(); ++d)
    if (update.shape().IsDynamic(d) && update.shape().dims[d] == target.shape().dims[d])
      SetRuntimeDim(target, d, update.dynamic_size(d));
}

Literal SliceBox(const Literal& operand, absl::Span<const int64_t> starts,
                 absl::Span<const int64_t> sizes) {
  Literal part(Shape::Array(operand.type(), sizes));
  const DimVector strides = StridesOf(operand);
  CopyStrided(sizes, At(operand, Dot(starts, strides)), strides, part.data(), StridesOf(part),
              ByteWidth(part.type()));
  return part;
}

void PlaceBox(const Literal& part, absl::Span<const int64_t> starts, Literal& into) {
  const DimVector strides = StridesOf(into);
  CopyStrided(part.shape().dims, part.data(), StridesOf(part), At(into, Dot(starts, strides)),
              strides, ByteWidth(part.type()));
}

absl::StatusOr<Literal> EvaluateBroadcast(const EvalContext& context) {
  const Literal& operand = *context.operands[0];
  const DimVector& dimensions = context.instruction.attr<BroadcastAttrs>().dimensions;
  Literal result(context.instruction.shape());
  const DimVector own = StridesOf(operand);
  DimVector strides(result.shape().rank(), 0);
  for (size_t i = 0; i < dimensions.size(); ++i) {
    strides[dimensions[i]] = operand.shape().dims[i] == 1 ? 0 : own[i];
    SetRuntimeDim(result, dimensions[i], operand.dynamic_size(i));
  }
  CopyStrided(result.shape().dims, operand.data(), strides, result.data(), StridesOf(result),
              ByteWidth(result.type()));
  return result;
}

namespace {

// Places of one element in the operand and in the result.
struct Pair {
  int64_t from, to;
};

// The elements of a group that both sides have, in row-major order of the sizes, besides those of
// the groups before.
std::vector<Pair> WithGroup(const std::vector<Pair>& before, absl::Span<const int64_t> from,
                            absl::Span<const int64_t> to) {
  const size_t count = std::min(from.size(), to.size());
  std::vector<Pair> pairs;
  pairs.reserve(before.size() * count);
  for (const Pair& p : before)
    for (size_t k = 0; k < count; ++k) pairs.push_back({p.from + from[k], p.to + to[k]});
  return pairs;
}

}  // namespace

// With run-time sizes, the valid elements of each group of dimensions fill those of the result.
absl::StatusOr<Literal> EvaluateReshape(const EvalContext& context) {
  const Literal& operand = *context.operands[0];
  Literal result(context.instruction.shape());
  if (operand.byte_size() != result.byte_size())
    return InvalidArgument("reshape: element counts differ");
  if (!HasDynamicSizes(operand)) {
    std::memcpy(result.data(), operand.data(), result.byte_size());
    return result;
  }
  const Shape& shape = result.shape();
  const std::vector<ReshapeGroup> groups = ReshapeGroups(operand.shape().dims, shape.dims);
  const DimVector valid = RuntimeDims(operand), sizes = ReshapedSizes(groups, valid, shape);
  const DimVector from = StridesOf(operand), to = StridesOf(result);
  std::vector<Pair> pairs = {{0, 0}};
  for (const ReshapeGroup& g : groups) {
    const auto part = [](const DimVector& list, int first, int end) {
      return absl::MakeConstSpan(list).subspan(first, end - first);
    };
    pairs =
        WithGroup(pairs, Offsets(part(valid, g.from, g.from_end), part(from, g.from, g.from_end)),
                  Offsets(part(sizes, g.to, g.to_end), part(to, g.to, g.to_end)));
  }
  const int width = ByteWidth(result.type());
  for (const Pair& p : pairs)
    std::memcpy(result.data() + p.to * width, operand.data() + p.from * width, width);
  for (int d = 0; d < shape.rank(); ++d) SetRuntimeDim(result, d, sizes[d]);
  return result;
}

absl::StatusOr<Literal> EvaluateDynamicReshape(const EvalContext& context) {
  const Literal& operand = *context.operands[0];
  Literal result(context.instruction.shape());
  DimVector sizes;
  for (int d = 0; d < result.shape().rank(); ++d) {
    const int64_t size = IndexValue(*context.operands[d + 1], 0);
    if (size < 0 || size > result.shape().dims[d])
      return InvalidArgument("dynamic-reshape: size ", size, " of dimension ", d,
                             " is out of range");
    sizes.push_back(size);
    SetRuntimeDim(result, d, size);
  }
  const DimVector valid = RuntimeDims(operand);
  if (Product(valid) != Product(sizes))
    return InvalidArgument("dynamic-reshape: ", Product(valid), " elements do not fill ",
                           Product(sizes));
  const int width = ByteWidth(result.type());
  Literal packed(Shape::Array(operand.type(), {Product(valid)}));
  CopyStrided(valid, operand.data(), StridesOf(operand), packed.data(), RowMajorStrides(valid),
              width);
  CopyStrided(sizes, packed.data(), RowMajorStrides(sizes), result.data(), StridesOf(result),
              width);
  return result;
}

absl::StatusOr<Literal> EvaluateTranspose(const EvalContext& context) {
  const Literal& operand = *context.operands[0];
  const DimVector& permutation = context.instruction.attr<DimensionsAttrs>().dimensions;
  Literal result(context.instruction.shape());
  for (size_t d = 0; d < permutation.size(); ++d)
    SetRuntimeDim(result, d, operand.dynamic_size(permutation[d]));
  CopyStrided(result.shape().dims, operand.data(), Pick(StridesOf(operand), permutation),
              result.data(), StridesOf(result), ByteWidth(result.type()));
  return result;
}

absl::StatusOr<Literal> EvaluateSlice(const EvalContext& context) {
  const Literal& operand = *context.operands[0];
  Literal result(context.instruction.shape());
  DimVector strides = StridesOf(operand);
  int64_t start = 0;
  const SliceSpec& slice = context.instruction.attr<SliceAttrs>().slice;
  for (size_t d = 0; d < slice.size(); ++d) {
    start += slice[d].start * strides[d];
    strides[d] *= slice[d].stride;
    const int64_t valid = std::min(slice[d].limit, operand.dynamic_size(d)) - slice[d].start;
    SetRuntimeDim(result, d, std::max<int64_t>(0, (valid + slice[d].stride - 1) / slice[d].stride));
  }
  CopyStrided(result.shape().dims, At(operand, start), strides, result.data(), StridesOf(result),
              ByteWidth(result.type()));
  return result;
}

absl::StatusOr<Literal> EvaluateDynamicSlice(const EvalContext& context) {
  const Literal& operand = *context.operands[0];
  Literal result(context.instruction.shape());
  const DimVector strides = StridesOf(operand);
  const DimVector starts =
      ClampedStarts(context.operands.subspan(1), operand.shape().dims, result.shape().dims);
  for (int d = 0; d < result.shape().rank(); ++d)  // a whole dimension keeps its size
    if (result.shape().dims[d] == operand.shape().dims[d])
      SetRuntimeDim(result, d, operand.dynamic_size(d));
  CopyStrided(result.shape().dims, At(operand, Dot(starts, strides)), strides, result.data(),
              StridesOf(result), ByteWidth(result.type()));
  return result;
}

absl::StatusOr<Literal> EvaluateDynamicUpdateSlice(const EvalContext& context) {
  Literal result = *context.operands[0];
  UpdateSlice(result, *context.operands[1], context.operands.subspan(2));
  return result;
}

absl::StatusOr<Literal> EvaluatePad(const EvalContext& context) {
  const Literal& operand = *context.operands[0];
  const PaddingConfig& padding = context.instruction.attr<PadAttrs>().padding;
  Literal result(context.instruction.shape());
  Fill(result, *context.operands[1]);
  DimVector box = RuntimeDims(operand), from = StridesOf(operand), to = StridesOf(result);
  int64_t first = 0, target = 0;
  for (size_t d = 0; d < padding.size(); ++d) {
    const int64_t step = padding[d].interior + 1, low = padding[d].low, count = box[d];
    const int64_t end =
        low + count + std::max<int64_t>(count - 1, 0) * padding[d].interior + padding[d].high;
    SetRuntimeDim(result, d, std::max<int64_t>(end, 0));
    // Elements begin .. limit-1 of the operand land inside the result, element i at low + i * step.
    const int64_t begin = low < 0 ? (-low + step - 1) / step : 0;
    const int64_t limit = std::min(count, end > low ? (end - low + step - 1) / step : 0);
    box[d] = std::max<int64_t>(limit - begin, 0);
    first += begin * from[d];
    target += (low + begin * step) * to[d];
    to[d] *= step;
  }
  if (Product(box) > 0)
    CopyStrided(box, At(operand, first), from, At(result, target), to, ByteWidth(result.type()));
  return result;
}

absl::StatusOr<Literal> EvaluateConcatenate(const EvalContext& context) {
  const int64_t dimension = context.instruction.attr<DimensionsAttrs>().dimensions[0];
  Literal result(context.instruction.shape());
  const DimVector strides = StridesOf(result);
  int64_t at = 0;
  for (const Literal* operand : context.operands) {
    for (int d = 0; d < result.shape().rank(); ++d)
      if (d != dimension && operand->shape().IsDynamic(d))
        SetRuntimeDim(result, d, operand->dynamic_size(d));
    CopyStrided(RuntimeDims(*operand), operand->data(), StridesOf(*operand),
                At(result, at * strides[dimension]), strides, ByteWidth(result.type()));
    at += operand->dynamic_size(dimension);
  }
  SetRuntimeDim(result, dimension, at);
  return result;
}

absl::StatusOr<Literal> EvaluateReverse(const EvalContext& context) {
  const Literal& operand = *context.operands[0];
  Literal result(context.instruction.shape());
  CopyRuntimeDims(operand, result);
  const DimVector box = RuntimeDims(operand);
  DimVector strides = StridesOf(operand);
  int64_t last = 0;
  for (int64_t d : context.instruction.attr<DimensionsAttrs>().dimensions) {
    last += (box[d] - 1) * strides[d];
    strides[d] = -strides[d];
  }
  if (Product(box) > 0)
    CopyStrided(box, At(operand, last), strides, result.data(), StridesOf(result),
                ByteWidth(result.type()));
  return result;
}

absl::StatusOr<Literal> EvaluateIota(const EvalContext& context) {
  const int64_t dimension = context.instruction.attr<IotaAttrs>().iota_dimension;
  Literal result(context.instruction.shape());
  const int64_t size = result.shape().dims[dimension];
  Literal line(Shape::Array(result.type(), {size}));
  VisitWide(result.type(), [&](auto own) {
    std::vector<decltype(own)> values(size);
    for (int64_t i = 0; i < size; ++i) values[i] = static_cast<decltype(own)>(i);
    StoreWide(result.type(), values.data(), size, line.data());
  });
  DimVector strides(result.shape().rank(), 0);
  strides[dimension] = 1;
  CopyStrided(result.shape().dims, line.data(), strides, result.data(), StridesOf(result),
              ByteWidth(result.type()));
  return result;
}

absl::StatusOr<Literal> EvaluateGetDimensionSize(const EvalContext& context) {
  Literal result(context.instruction.shape());
  const int64_t dimension = context.instruction.attr<DimensionsAttrs>().dimensions[0];
  result.SetInt(0, context.operands[0]->dynamic_size(dimension));
  return result;
}

absl::StatusOr<Literal> EvaluateSetDimensionSize(const EvalContext& context) {
  const int64_t dimension = context.instruction.attr<DimensionsAttrs>().dimensions[0];
  const int64_t size = IndexValue(*context.operands[1], 0);
  if (size < 0 || size > context.operands[0]->shape().dims[dimension])
    return InvalidArgument("set-dimension-size: ", size, " is out of range of ",
                           Text(context.operands[0]->shape()));
  Literal result = *context.operands[0];
  result.set_dynamic_size(dimension, size);
  return result;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
