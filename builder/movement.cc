// Broadcasts, reshapes, slices and their kin.
//
// HLO's instructions take complete attributes; XLA's functions fill them in:
//   Broadcast(f32[3], {2})                new dimensions in front: broadcast f32[2,3],
// dimensions={1}
//   BroadcastInDim(f32[1,3], {4,3}, {0,1})  a dimension of size 1 is reshaped away first
//   Collapse(f32[2,3,4], {1,2})           reshape f32[2,12]
//   SliceInDim(x, 1, 5, 2, 0)             slice of one dimension, the others whole
// So each looks at its operands' shapes (WithShapes), and an error of an operand passes through.
#include "builder/movement.h"

#include <algorithm>
#include <numeric>

#include "builder/broadcast_internal.h"
#include "builder/constants.h"
#include "builder/emit_internal.h"
#include "ops/dim_lists.h"

namespace hlokit {

XlaOp Broadcast(XlaOp operand, DimSpan sizes, Where where) {
  return WithShapes(where, {operand}, [&](const std::vector<Shape>& s) -> absl::StatusOr<XlaOp> {
    if (!s[0].IsArray()) return LabeledError("broadcast-c1", "broadcast of ", Text(s[0]));
    Shape result = Shape::Array(s[0].type, sizes);
    DimVector map;
    for (int d = 0; d < s[0].rank(); ++d) {
      map.push_back(result.rank());
      result.dims.push_back(s[0].dims[d]);
      result.SetDynamic(result.rank() - 1, s[0].IsDynamic(d));
    }
    for (int64_t size : sizes)
      if (size < 0) return LabeledError("broadcast-c2", "broadcast: size ", size, " is negative");
    return EmitBroadcast(where, operand, result, map);
  });
}

XlaOp BroadcastInDim(XlaOp operand, DimSpan out_sizes, DimSpan map, Where where) {
  return WithShapes(where, {operand}, [&](const std::vector<Shape>& s) -> absl::StatusOr<XlaOp> {
    const int64_t rank = static_cast<int64_t>(out_sizes.size());
    if (static_cast<int>(map.size()) != s[0].rank() || !DistinctBelow(map, rank))
      return LabeledError("broadcast-c3", "broadcast: dimensions=", ListText(map), " do not map ",
                          Text(s[0]), " into ", rank, " dimensions");
    Shape kept = Shape::Array(s[0].type, {});
    DimVector kept_map;
    for (int d = 0; d < s[0].rank(); ++d) {
      if (s[0].dims[d] == 1 && out_sizes[map[d]] != 1) continue;
      kept.dims.push_back(s[0].dims[d]);
      kept_map.push_back(map[d]);
    }
    XlaOp from = operand;
    if (kept.rank() != s[0].rank())
      from = Emit(where, Opcode::kReshape, {operand}, ReshapeAttrs(), {kept});
    return EmitBroadcast(where, from, Shape::Array(s[0].type, out_sizes), kept_map);
  });
}

XlaOp Reshape(XlaOp operand, DimSpan sizes, Where where) {
  return WithShapes(where, {operand}, [&](const std::vector<Shape>& s) -> absl::StatusOr<XlaOp> {
    return Reshape(Shape::Array(s[0].type, sizes), operand, where);
  });
}

XlaOp Reshape(const Shape& shape, XlaOp operand, Where where) {
  return Emit(where, Opcode::kReshape, {operand}, ReshapeAttrs(), {shape});
}

XlaOp Reshape(XlaOp operand, DimSpan dimensions, DimSpan sizes, Where where) {
  const bool ordered = std::is_sorted(dimensions.begin(), dimensions.end());
  return Reshape(ordered ? operand : Transpose(operand, dimensions, where), sizes, where);
}

XlaOp Collapse(XlaOp operand, DimSpan dimensions, Where where) {
  return WithShapes(where, {operand}, [&](const std::vector<Shape>& s) -> absl::StatusOr<XlaOp> {
    if (dimensions.size() <= 1) return operand;
    for (size_t i = 0; i < dimensions.size(); ++i)
      if (dimensions[i] != dimensions[0] + static_cast<int64_t>(i) || dimensions[i] < 0 ||
          dimensions[i] >= s[0].rank())
        return InvalidArgument("collapse: dimensions ", ListText(dimensions),
                               " are not consecutive dimensions of ", Text(s[0]));
    DimVector sizes;
    for (int d = 0; d < s[0].rank(); ++d) {
      const bool joins = d > dimensions.front() && d <= dimensions.back();
      if (joins) {
        sizes.back() *= s[0].dims[d];
      } else {
        sizes.push_back(s[0].dims[d]);
      }
    }
    return Reshape(operand, sizes, where);
  });
}

XlaOp DynamicReshape(XlaOp operand, OpSpan sizes, DimSpan bounds, const std::vector<bool>& dynamic,
                     Where where) {
  return WithShapes(where, {operand}, [&](const std::vector<Shape>& s) -> absl::StatusOr<XlaOp> {
    if (bounds.size() != dynamic.size() || bounds.size() != sizes.size())
      return InvalidArgument("dynamic-reshape: ", sizes.size(), " sizes, ", bounds.size(),
                             " bounds and ", dynamic.size(), " marks");
    Shape result = Shape::Array(s[0].type, bounds);
    for (int d = 0; d < result.rank(); ++d) result.SetDynamic(d, dynamic[d]);
    return EmitIn(operand.builder(), where, Opcode::kDynamicReshape, Joined({operand}, sizes),
                  NoAttrs(), {result});
  });
}

XlaOp Transpose(XlaOp operand, DimSpan permutation, Where where) {
  return Emit(where, Opcode::kTranspose, {operand}, DimensionsAttrs{ToDims(permutation)});
}

XlaOp Trans(XlaOp operand, Where where) {
  return WithShapes(where, {operand}, [&](const std::vector<Shape>& s) -> absl::StatusOr<XlaOp> {
    DimVector reversed(s[0].rank());
    std::iota(reversed.rbegin(), reversed.rend(), 0);
    return Transpose(operand, reversed, where);
  });
}

XlaOp Rev(XlaOp operand, DimSpan dimensions, Where where) {
  return Emit(where, Opcode::kReverse, {operand}, DimensionsAttrs{ToDims(dimensions)});
}

XlaOp Slice(XlaOp operand, DimSpan starts, DimSpan limits, DimSpan strides, Where where) {
  return WithShapes(where, {operand}, [&](const std::vector<Shape>&) -> absl::StatusOr<XlaOp> {
    if (starts.size() != limits.size() || (!strides.empty() && strides.size() != starts.size()))
      return InvalidArgument("slice: ", starts.size(), " starts, ", limits.size(), " limits and ",
                             strides.size(), " strides");
    SliceAttrs attributes;
    for (size_t d = 0; d < starts.size(); ++d)
      attributes.slice.push_back({starts[d], limits[d], strides.empty() ? 1 : strides[d]});
    return Emit(where, Opcode::kSlice, {operand}, std::move(attributes));
  });
}

XlaOp SliceInDim(XlaOp operand, int64_t start, int64_t limit, int64_t stride, int64_t dimension,
                 Where where) {
  return WithShapes(where, {operand}, [&](const std::vector<Shape>& s) -> absl::StatusOr<XlaOp> {
    if (dimension < 0 || dimension >= s[0].rank())
      return InvalidArgument("slice: ", Text(s[0]), " has no dimension ", dimension);
    DimVector starts(s[0].rank(), 0), limits = s[0].dims, strides(s[0].rank(), 1);
    starts[dimension] = start;
    limits[dimension] = limit;
    strides[dimension] = stride;
    return Slice(operand, starts, limits, strides, where);
  });
}

namespace {

// The elements of a vector as scalars.
absl::StatusOr<std::vector<XlaOp>> Scalars(XlaOp vector, const Where& where) {
  ASSIGN_OR_RETURN(const Shape shape, vector.builder()->GetShape(vector));
  if (shape.rank() != 1) return InvalidArgument("starts are no vector: ", Text(shape));
  std::vector<XlaOp> scalars;
  for (int64_t i = 0; i < shape.dims[0]; ++i)
    scalars.push_back(Reshape(Slice(vector, {i}, {i + 1}, {}, where), DimSpan(), where));
  return scalars;
}

}  // namespace

XlaOp DynamicSlice(XlaOp operand, OpSpan starts, DimSpan sizes, Where where) {
  return EmitIn(operand.builder(), where, Opcode::kDynamicSlice, Joined({operand}, starts),
                DynamicSliceAttrs{ToDims(sizes)});
}

XlaOp DynamicSlice(XlaOp operand, XlaOp starts, DimSpan sizes, Where where) {
  return WithShapes(where, {operand, starts}, [&](const auto&) -> absl::StatusOr<XlaOp> {
    ASSIGN_OR_RETURN(const std::vector<XlaOp> scalars, Scalars(starts, where));
    return DynamicSlice(operand, scalars, sizes, where);
  });
}

XlaOp DynamicUpdateSlice(XlaOp operand, XlaOp update, OpSpan starts, Where where) {
  return EmitIn(operand.builder(), where, Opcode::kDynamicUpdateSlice,
                Joined({operand, update}, starts));
}

XlaOp DynamicUpdateSlice(XlaOp operand, XlaOp update, XlaOp starts, Where where) {
  return WithShapes(where, {operand, update, starts}, [&](const auto&) -> absl::StatusOr<XlaOp> {
    ASSIGN_OR_RETURN(const std::vector<XlaOp> scalars, Scalars(starts, where));
    return DynamicUpdateSlice(operand, update, scalars, where);
  });
}

XlaOp ConcatInDim(XlaBuilder* builder, OpSpan operands, int64_t dimension, Where where) {
  return EmitIn(builder, where, Opcode::kConcatenate, operands, DimensionsAttrs{{dimension}});
}

XlaOp Concatenate(OpSpan operands, int64_t dimension, Where where) {
  return ConcatInDim(BuilderOf(operands), operands, dimension, where);
}

XlaOp Pad(XlaOp operand, XlaOp value, const PaddingConfig& padding, Where where) {
  return Emit(where, Opcode::kPad, {operand, value}, PadAttrs{padding});
}

XlaOp PadInDim(XlaOp operand, XlaOp value, int64_t dimension, int64_t low, int64_t high,
               Where where) {
  return WithShapes(where, {operand}, [&](const std::vector<Shape>& s) -> absl::StatusOr<XlaOp> {
    if (dimension < 0 || dimension >= s[0].rank())
      return InvalidArgument("pad: ", Text(s[0]), " has no dimension ", dimension);
    PaddingConfig padding(s[0].rank());
    padding[dimension] = {low, high, 0};
    return Pad(operand, value, padding, where);
  });
}

XlaOp Gather(XlaOp operand, XlaOp indices, const GatherDimensionNumbers& numbers,
             DimSpan slice_sizes, bool indices_are_sorted, Where where) {
  GatherAttrs attributes;
  attributes.offset_dims = numbers.offset_dims;
  attributes.collapsed_slice_dims = numbers.collapsed_slice_dims;
  attributes.start_index_map = numbers.start_index_map;
  attributes.operand_batching_dims = numbers.operand_batching_dims;
  attributes.start_indices_batching_dims = numbers.start_indices_batching_dims;
  attributes.index_vector_dim = numbers.index_vector_dim;
  attributes.slice_sizes = ToDims(slice_sizes);
  attributes.indices_are_sorted = indices_are_sorted;
  return Emit(where, Opcode::kGather, {operand, indices}, std::move(attributes));
}

XlaOp GetDimensionSize(XlaOp operand, int64_t dimension, Where where) {
  return Emit(where, Opcode::kGetDimensionSize, {operand}, DimensionsAttrs{{dimension}});
}

XlaOp SetDimensionSize(XlaOp operand, XlaOp size, int64_t dimension, Where where) {
  return Emit(where, Opcode::kSetDimensionSize, {operand, size}, DimensionsAttrs{{dimension}});
}

XlaOp RemoveDynamicDimension(XlaOp operand, int64_t dimension, Where where) {
  return WithShapes(where, {operand}, [&](const std::vector<Shape>& s) -> absl::StatusOr<XlaOp> {
    if (dimension < 0 || dimension >= s[0].rank())
      return InvalidArgument("set-dimension-size: ", Text(s[0]), " has no dimension ", dimension);
    const auto bound = static_cast<int32_t>(s[0].dims[dimension]);
    Shape result = s[0];
    result.SetDynamic(static_cast<int>(dimension), false);
    return Emit(where, Opcode::kSetDimensionSize,
                {operand, ConstantR0<int32_t>(operand.builder(), bound, where)},
                DimensionsAttrs{{dimension}}, {result});
  });
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
