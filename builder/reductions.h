// Operations that run a computation over elements: reductions, windows, scans, sorting, scatter.
//
// A reducer of N values takes N accumulators, then N elements, and returns N scalars (a tuple
// where N > 1). The order of evaluation is free: it should be associative, and the initial values
// its identity. Sizes count elements. Errors are InvalidArgument with the label of the rule
// (docs/operations.md), kept in the builder. Source: XLA Operation Semantics.
#pragma once

#include <optional>

#include "builder/op_types.h"
#include "builder/xla_computation.h"
#include "builder/xla_op.h"

namespace hlokit {

// The dimensions named are reduced away.
XlaOp Reduce(XlaOp operand, XlaOp init, const XlaComputation& computation, DimSpan dimensions,
             Where where = Where::current());
// N arrays of the same dimensions, N initial values; a tuple where N > 1.
XlaOp Reduce(XlaBuilder* builder, OpSpan operands, OpSpan inits, const XlaComputation& computation,
             DimSpan dimensions, Where where = Where::current());
// All dimensions.
XlaOp ReduceAll(XlaOp operand, XlaOp init, const XlaComputation& computation,
                Where where = Where::current());

// Windows of `sizes` every `strides`; dilations put so many steps between elements of the operand
// (base) or of the window; empty: 1 each.
struct WindowOptions {
  // Elements, one a dimension.
  DimVector sizes, strides;
  DimVector base_dilations = {}, window_dilations = {};
  PaddingPairs padding = {};  // empty: none
};
// Each window of the operands reduced to one element.
XlaOp ReduceWindow(XlaOp operand, XlaOp init, const XlaComputation& computation, DimSpan sizes,
                   DimSpan strides, Padding padding, Where where = Where::current());
XlaOp ReduceWindow(XlaBuilder* builder, OpSpan operands, OpSpan inits,
                   const XlaComputation& computation, DimSpan sizes, DimSpan strides,
                   Padding padding, Where where = Where::current());
XlaOp ReduceWindowWithGeneralPadding(XlaOp operand, XlaOp init, const XlaComputation& computation,
                                     DimSpan sizes, DimSpan strides, DimSpan base_dilations,
                                     DimSpan window_dilations, const PaddingPairs& padding,
                                     Where where = Where::current());
XlaOp ReduceWindowWithGeneralPadding(XlaOp operand, XlaOp init, const XlaComputation& computation,
                                     DimSpan sizes, DimSpan strides, const PaddingPairs& padding,
                                     Where where = Where::current());
XlaOp ReduceWindowWithGeneralPadding(XlaBuilder* builder, OpSpan operands, OpSpan inits,
                                     const XlaComputation& computation, const WindowOptions& window,
                                     Where where = Where::current());

// `source`, one element a window, scattered to the element of each window that `select` prefers
// (true: the first of two), and combined there by `scatter`, beginning with `init`.
XlaOp SelectAndScatter(XlaOp operand, const XlaComputation& select, DimSpan sizes, DimSpan strides,
                       Padding padding, XlaOp source, XlaOp init, const XlaComputation& scatter,
                       Where where = Where::current());
XlaOp SelectAndScatterWithGeneralPadding(XlaOp operand, const XlaComputation& select, DimSpan sizes,
                                         DimSpan strides, const PaddingPairs& padding, XlaOp source,
                                         XlaOp init, const XlaComputation& scatter,
                                         Where where = Where::current());

// to_apply(elements, carries) -> (outputs, carries) along one dimension, from 0 or backwards; the
// result is the stacked outputs, then the last carries. `is_associative`: any order may be taken.
XlaOp Scan(XlaBuilder* builder, OpSpan inputs, OpSpan inits, const XlaComputation& to_apply,
           int64_t dimension, bool is_reverse = false,
           std::optional<bool> is_associative = std::nullopt, Where where = Where::current());

// computation(one element of each operand), everywhere; `dimensions` are all of them.
// static_operands, whole values for further parameters, are captured as arguments repeated to the
// operands' dimensions, so they must be scalars. Source of those: the older builders.
XlaOp Map(XlaBuilder* builder, OpSpan operands, const XlaComputation& computation,
          DimSpan dimensions, OpSpan static_operands = {}, Where where = Where::current());

// Rows along one dimension (-1: the last) in the order of `comparator`(a, b of each operand) ->
// pred, true where a comes first. Several operands move together, and give a tuple.
XlaOp Sort(OpSpan operands, const XlaComputation& comparator, int64_t dimension = -1,
           bool is_stable = false, Where where = Where::current());
// In increasing order along the last dimension; floats in their total order.
XlaOp Sort(XlaOp operand, Where where = Where::current());

// The k largest (or smallest) along the last dimension, best first, and their indices (s32).
XlaOp TopK(XlaOp operand, int64_t k, bool largest = true, Where where = Where::current());
// The first k in the order of `comparator`, by a stable sort. Source: an older form.
XlaOp TopK(XlaOp operand, int64_t k, const XlaComputation& comparator,
           Where where = Where::current());

// Windows of `updates` combined into `inputs` at the places that `indices` name:
// computation(what is there, the update). Promises not kept give results that are not specified.
XlaOp Scatter(XlaOp input, XlaOp indices, XlaOp updates, const XlaComputation& computation,
              const ScatterDimensionNumbers& numbers, bool indices_are_sorted = false,
              bool unique_indices = false, Where where = Where::current());
XlaOp Scatter(OpSpan inputs, XlaOp indices, OpSpan updates, const XlaComputation& computation,
              const ScatterDimensionNumbers& numbers, bool indices_are_sorted = false,
              bool unique_indices = false, Where where = Where::current());

// Two-argument computations on scalars of a type, such as reducers: Add, Mul, Max, Min, And, Or.
XlaComputation ScalarComputation(Opcode opcode, ElementType type);
// pred(a, b): a stands in `direction` to b; floats in their total order. With `operands` types, the
// first one is compared, as Sort wants it.
XlaComputation ScalarComparison(ComparisonDirection direction,
                                absl::Span<const ElementType> operands);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
