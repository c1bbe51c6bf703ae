// Operations that move elements: broadcasts, reshapes, slices, padding, gather, dynamic sizes.
//
// Dimensions are numbered from 0, the most major one; sizes and offsets count elements. Errors are
// InvalidArgument with the label of the rule (docs/operations.md), kept in the builder.
// Source: XLA Operation Semantics.
#pragma once

#include "builder/op_types.h"
#include "builder/xla_op.h"
#include "types/shape.h"

namespace hlokit {

// The operand repeated: result dimensions are `sizes`, then the operand's.
XlaOp Broadcast(XlaOp operand, DimSpan sizes, Where where = Where::current());
// Operand dimension d becomes dimension broadcast_dimensions[d] of an array of out_sizes; a size
// of 1 is repeated.
XlaOp BroadcastInDim(XlaOp operand, DimSpan out_sizes, DimSpan broadcast_dimensions,
                     Where where = Where::current());

// The same elements in row-major order, as an array of other sizes.
XlaOp Reshape(XlaOp operand, DimSpan sizes, Where where = Where::current());
// The same with the result's shape, layout included.
XlaOp Reshape(const Shape& shape, XlaOp operand, Where where = Where::current());
// Taken in the order of `dimensions`, major first, then reshaped: Reshape(Transpose(..)). Source:
// the older builders.
XlaOp Reshape(XlaOp operand, DimSpan dimensions, DimSpan sizes, Where where = Where::current());
// One dimension for the consecutive ones named. Errors: InvalidArgument where they are not.
XlaOp Collapse(XlaOp operand, DimSpan dimensions, Where where = Where::current());
// Sizes that the run knows: sizes[d] scalars, at most bounds[d] where dynamic[d].
XlaOp DynamicReshape(XlaOp operand, OpSpan sizes, DimSpan bounds, const std::vector<bool>& dynamic,
                     Where where = Where::current());

// Result dimension d is operand dimension permutation[d].
XlaOp Transpose(XlaOp operand, DimSpan permutation, Where where = Where::current());
// All dimensions in the opposite order. Source: the oldest builder, for matrices.
XlaOp Trans(XlaOp operand, Where where = Where::current());
// The elements along `dimensions` in the opposite order.
XlaOp Rev(XlaOp operand, DimSpan dimensions, Where where = Where::current());

// Elements start, start + stride, ... below limit in each dimension; no strides: 1 each.
XlaOp Slice(XlaOp operand, DimSpan starts, DimSpan limits, DimSpan strides = {},
            Where where = Where::current());
// The same in one dimension.
XlaOp SliceInDim(XlaOp operand, int64_t start, int64_t limit, int64_t stride, int64_t dimension,
                 Where where = Where::current());
// A slice of `sizes` at starts that the run knows, moved inside where it would not fit. `starts`:
// a scalar a dimension, or one vector of them.
XlaOp DynamicSlice(XlaOp operand, OpSpan starts, DimSpan sizes, Where where = Where::current());
XlaOp DynamicSlice(XlaOp operand, XlaOp starts, DimSpan sizes, Where where = Where::current());
// The operand with `update` written at such starts.
XlaOp DynamicUpdateSlice(XlaOp operand, XlaOp update, OpSpan starts,
                         Where where = Where::current());
XlaOp DynamicUpdateSlice(XlaOp operand, XlaOp update, XlaOp starts, Where where = Where::current());

// The operands one after another along `dimension`.
XlaOp ConcatInDim(XlaBuilder* builder, OpSpan operands, int64_t dimension,
                  Where where = Where::current());
XlaOp Concatenate(OpSpan operands, int64_t dimension, Where where = Where::current());

// The scalar `value` around and between the elements; low and high may be negative, and crop.
XlaOp Pad(XlaOp operand, XlaOp value, const PaddingConfig& padding, Where where = Where::current());
XlaOp PadInDim(XlaOp operand, XlaOp value, int64_t dimension, int64_t low, int64_t high,
               Where where = Where::current());

// Slices of `slice_sizes` at the places that `indices` name.
XlaOp Gather(XlaOp operand, XlaOp indices, const GatherDimensionNumbers& numbers,
             DimSpan slice_sizes, bool indices_are_sorted = false, Where where = Where::current());

// The run-time size of a dimension, s32[].
XlaOp GetDimensionSize(XlaOp operand, int64_t dimension, Where where = Where::current());
// The operand with the dimension's run-time size `size` (s32[]); its bound stays. And back.
XlaOp SetDimensionSize(XlaOp operand, XlaOp size, int64_t dimension,
                       Where where = Where::current());
XlaOp RemoveDynamicDimension(XlaOp operand, int64_t dimension, Where where = Where::current());

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
