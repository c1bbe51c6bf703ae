// Reductions, windows, scans, sorting and scatter.
//
// Each function is XLA's of the same name: it gathers operands and attributes and leaves inference
// and checks to the opcode's rules (EmitIn). What it adds is what XLA's builder adds: a reduce over
// all dimensions, padding worked out from SAME and VALID,
//   SAME, 10 elements, windows of 3, stride 2: 5 windows, which reach over 11: pads 0 and 1
// and an operand's type where a computation or an initial value follows from it.
#include "builder/reductions.h"

#include <numeric>

#include "builder/broadcast_internal.h"
#include "builder/constants.h"
#include "builder/control.h"
#include "builder/elementwise.h"
#include "builder/emit_internal.h"
#include "builder/movement.h"

namespace hlokit {
namespace {

int64_t At(DimSpan values, size_t d) { return values.empty() ? 1 : values[d]; }

// The window that such lists make. Errors: InvalidArgument where their lengths differ.
absl::StatusOr<Window> MakeWindow(absl::string_view what, const WindowOptions& options) {
  const size_t rank = options.sizes.size();
  const auto fits = [&](size_t count) { return count == rank || count == 0; };
  if (!fits(options.strides.size()) || !fits(options.base_dilations.size()) ||
      !fits(options.window_dilations.size()) || !fits(options.padding.size()))
    return InvalidArgument(what, ": the window has ", rank, " sizes, ", options.strides.size(),
                           " strides, ", options.base_dilations.size(), " and ",
                           options.window_dilations.size(), " dilations and ",
                           options.padding.size(), " paddings");
  Window window(rank);
  for (size_t d = 0; d < rank; ++d) {
    window[d].size = options.sizes[d];
    window[d].stride = At(options.strides, d);
    window[d].base_dilation = At(options.base_dilations, d);
    window[d].window_dilation = At(options.window_dilations, d);
    if (options.padding.empty()) continue;
    window[d].pad_low = options.padding[d].first;
    window[d].pad_high = options.padding[d].second;
  }
  return window;
}

WindowOptions Options(DimSpan sizes, DimSpan strides, const PaddingPairs& padding) {
  return {ToDims(sizes), ToDims(strides), {}, {}, padding};
}

}  // namespace

XlaOp Reduce(XlaBuilder* builder, OpSpan operands, OpSpan inits, const XlaComputation& computation,
             DimSpan dimensions, Where where) {
  return EmitIn(builder, where, Opcode::kReduce, Joined(operands, inits),
                DimensionsAttrs{ToDims(dimensions)}, {std::nullopt, {&computation}});
}

XlaOp Reduce(XlaOp operand, XlaOp init, const XlaComputation& computation, DimSpan dimensions,
             Where where) {
  return Reduce(operand.builder(), {operand}, {init}, computation, dimensions, where);
}

XlaOp ReduceAll(XlaOp operand, XlaOp init, const XlaComputation& computation, Where where) {
  return WithShapes(where, {operand}, [&](const std::vector<Shape>& s) -> absl::StatusOr<XlaOp> {
    DimVector all(s[0].rank());
    std::iota(all.begin(), all.end(), 0);
    return Reduce(operand, init, computation, all, where);
  });
}

XlaOp ReduceWindowWithGeneralPadding(XlaBuilder* builder, OpSpan operands, OpSpan inits,
                                     const XlaComputation& computation,
                                     const WindowOptions& options, Where where) {
  if (builder == nullptr) return XlaOp();
  absl::StatusOr<Window> window = MakeWindow("reduce-window", options);
  if (!window.ok()) return builder->ReportError(window.status(), where);
  return EmitIn(builder, where, Opcode::kReduceWindow, Joined(operands, inits),
                WindowAttrs{*std::move(window)}, {std::nullopt, {&computation}});
}

XlaOp ReduceWindowWithGeneralPadding(XlaOp operand, XlaOp init, const XlaComputation& computation,
                                     DimSpan sizes, DimSpan strides, DimSpan base_dilations,
                                     DimSpan window_dilations, const PaddingPairs& padding,
                                     Where where) {
  return ReduceWindowWithGeneralPadding(
      operand.builder(), {operand}, {init}, computation,
      {ToDims(sizes), ToDims(strides), ToDims(base_dilations), ToDims(window_dilations), padding},
      where);
}

XlaOp ReduceWindowWithGeneralPadding(XlaOp operand, XlaOp init, const XlaComputation& computation,
                                     DimSpan sizes, DimSpan strides, const PaddingPairs& padding,
                                     Where where) {
  return ReduceWindowWithGeneralPadding(operand.builder(), {operand}, {init}, computation,
                                        Options(sizes, strides, padding), where);
}

XlaOp ReduceWindow(XlaBuilder* builder, OpSpan operands, OpSpan inits,
                   const XlaComputation& computation, DimSpan sizes, DimSpan strides,
                   Padding padding, Where where) {
  if (builder == nullptr || operands.empty()) return XlaOp();
  return WithShapes(
      where, {operands[0]}, [&](const std::vector<Shape>& s) -> absl::StatusOr<XlaOp> {
        ASSIGN_OR_RETURN(const PaddingPairs pairs, MakePadding(s[0].dims, sizes, strides, padding));
        return ReduceWindowWithGeneralPadding(builder, operands, inits, computation,
                                              Options(sizes, strides, pairs), where);
      });
}

XlaOp ReduceWindow(XlaOp operand, XlaOp init, const XlaComputation& computation, DimSpan sizes,
                   DimSpan strides, Padding padding, Where where) {
  return ReduceWindow(operand.builder(), {operand}, {init}, computation, sizes, strides, padding,
                      where);
}

XlaOp SelectAndScatterWithGeneralPadding(XlaOp operand, const XlaComputation& select, DimSpan sizes,
                                         DimSpan strides, const PaddingPairs& padding, XlaOp source,
                                         XlaOp init, const XlaComputation& scatter, Where where) {
  return WithShapes(where, {operand, source, init}, [&](const auto&) -> absl::StatusOr<XlaOp> {
    ASSIGN_OR_RETURN(Window window,
                     MakeWindow("select-and-scatter", Options(sizes, strides, padding)));
    return Emit(where, Opcode::kSelectAndScatter, {operand, source, init},
                WindowAttrs{std::move(window)}, {std::nullopt, {&select, &scatter}});
  });
}

XlaOp SelectAndScatter(XlaOp operand, const XlaComputation& select, DimSpan sizes, DimSpan strides,
                       Padding padding, XlaOp source, XlaOp init, const XlaComputation& scatter,
                       Where where) {
  return WithShapes(where, {operand}, [&](const std::vector<Shape>& s) -> absl::StatusOr<XlaOp> {
    ASSIGN_OR_RETURN(const PaddingPairs pairs, MakePadding(s[0].dims, sizes, strides, padding));
    return SelectAndScatterWithGeneralPadding(operand, select, sizes, strides, pairs, source, init,
                                              scatter, where);
  });
}

XlaOp Scan(XlaBuilder* builder, OpSpan inputs, OpSpan inits, const XlaComputation& to_apply,
           int64_t dimension, bool is_reverse, std::optional<bool> is_associative, Where where) {
  ScanAttrs attributes;
  attributes.dimensions = {dimension};
  attributes.num_carries = static_cast<int64_t>(inits.size());
  attributes.is_reverse = is_reverse;
  attributes.is_associative = is_associative.value_or(false);
  return EmitIn(builder, where, Opcode::kScan, Joined(inputs, inits), std::move(attributes),
                {std::nullopt, {&to_apply}});
}

XlaOp Map(XlaBuilder* builder, OpSpan operands, const XlaComputation& computation,
          DimSpan dimensions, OpSpan static_operands, Where where) {
  if (builder == nullptr || operands.empty())
    return EmitIn(builder, where, Opcode::kMap, operands, MapAttrs{ToDims(dimensions)},
                  {std::nullopt, {&computation}});
  return WithShapes(where, {operands[0]},
                    [&](const std::vector<Shape>& s) -> absl::StatusOr<XlaOp> {
                      std::vector<XlaOp> all;
                      for (const XlaOp& operand : Joined(operands, static_operands)) {
                        ASSIGN_OR_RETURN(const Shape shape, builder->GetShape(operand));
                        const bool stretch = shape.IsScalar() && s[0].IsArray() && !s[0].IsScalar();
                        all.push_back(stretch ? StretchTo(operand, s[0], where) : operand);
                      }
                      return EmitIn(builder, where, Opcode::kMap, all, MapAttrs{ToDims(dimensions)},
                                    {std::nullopt, {&computation}});
                    });
}

XlaOp Sort(OpSpan operands, const XlaComputation& comparator, int64_t dimension, bool is_stable,
           Where where) {
  if (operands.empty()) return XlaOp();
  return WithShapes(where, {operands[0]},
                    [&](const std::vector<Shape>& s) -> absl::StatusOr<XlaOp> {
                      const int64_t along = dimension == -1 ? s[0].rank() - 1 : dimension;
                      return EmitIn(operands[0].builder(), where, Opcode::kSort, operands,
                                    SortAttrs{{along}, is_stable}, {std::nullopt, {&comparator}});
                    });
}

XlaOp Sort(XlaOp operand, Where where) {
  return WithShapes(where, {operand}, [&](const std::vector<Shape>& s) -> absl::StatusOr<XlaOp> {
    const XlaComputation less = ScalarComparison(ComparisonDirection::kLt, {s[0].type});
    return Sort({operand}, less, -1, false, where);
  });
}

XlaOp TopK(XlaOp operand, int64_t k, bool largest, Where where) {
  return Emit(where, Opcode::kTopK, {operand}, TopKAttrs{k, largest});
}

XlaOp TopK(XlaOp operand, int64_t k, const XlaComputation& comparator, Where where) {
  return WithShapes(where, {operand}, [&](const std::vector<Shape>& s) -> absl::StatusOr<XlaOp> {
    const int last = s[0].rank() - 1;
    if (last < 0 || k < 0 || k > s[0].dims[last])
      return LabeledError("topk-c3", "topk: k=", k, " of ", Text(s[0]));
    const XlaOp indices =
        Iota(operand.builder(), s[0].WithType(ElementType::kS32).WithoutLayout(), last, where);
    const XlaOp sorted = Sort({operand, indices}, comparator, last, true, where);
    const auto first = [&](int64_t part) {
      return SliceInDim(GetTupleElement(sorted, part, where), 0, k, 1, last, where);
    };
    const XlaOp values = first(0);
    return Tuple(operand.builder(), {values, first(1)}, where);
  });
}

XlaOp Scatter(OpSpan inputs, XlaOp indices, OpSpan updates, const XlaComputation& computation,
              const ScatterDimensionNumbers& numbers, bool indices_are_sorted, bool unique_indices,
              Where where) {
  ScatterAttrs attributes;
  attributes.update_window_dims = numbers.update_window_dims;
  attributes.inserted_window_dims = numbers.inserted_window_dims;
  attributes.scatter_dims_to_operand_dims = numbers.scatter_dims_to_operand_dims;
  attributes.input_batching_dims = numbers.input_batching_dims;
  attributes.scatter_indices_batching_dims = numbers.scatter_indices_batching_dims;
  attributes.index_vector_dim = numbers.index_vector_dim;
  attributes.indices_are_sorted = indices_are_sorted;
  attributes.unique_indices = unique_indices;
  return EmitIn(indices.builder(), where, Opcode::kScatter,
                Joined(Joined(inputs, {indices}), updates), std::move(attributes),
                {std::nullopt, {&computation}});
}

XlaOp Scatter(XlaOp input, XlaOp indices, XlaOp updates, const XlaComputation& computation,
              const ScatterDimensionNumbers& numbers, bool indices_are_sorted, bool unique_indices,
              Where where) {
  return Scatter(OpSpan({input}), indices, OpSpan({updates}), computation, numbers,
                 indices_are_sorted, unique_indices, where);
}

XlaComputation ScalarComputation(Opcode opcode, ElementType type) {
  XlaBuilder builder(absl::StrCat(Text(opcode), "_", Text(type)));
  const Shape scalar = Shape::Scalar(type);
  const XlaOp lhs = Parameter(&builder, 0, scalar, "lhs");
  EmitBroadcasting(Where::current(), opcode, lhs, Parameter(&builder, 1, scalar, "rhs"), {});
  return builder.BuildAndNoteError();
}

XlaComputation ScalarComparison(ComparisonDirection direction,
                                absl::Span<const ElementType> operands) {
  XlaBuilder builder(absl::StrCat("compare_", Text(direction)));
  std::vector<XlaOp> values;
  for (ElementType type : operands)
    for (int side = 0; side < 2; ++side)
      values.push_back(Parameter(&builder, static_cast<int64_t>(values.size()), Shape::Scalar(type),
                                 side == 0 ? "lhs" : "rhs"));
  if (values.empty()) return XlaComputation();
  const bool total = IsFloat(operands[0]);
  Compare(values[0], values[1], {}, direction,
          total ? ComparisonType::kTotalOrder : ComparisonType::kDefault);
  return builder.BuildAndNoteError();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
