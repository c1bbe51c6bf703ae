// Window arithmetic, and inference of reduce-window and select-and-scatter.
#include "ops/infer/infer_internal.h"

namespace hlokit {
namespace {

// The size that spreading `size` elements `dilation` apart takes.
__int128 Dilated(int64_t size, int64_t dilation) {
  return size == 0 ? 0 : static_cast<__int128>(size - 1) * dilation + 1;
}

absl::StatusOr<int64_t> WindowedSize(const OpView& op, int64_t size, const WindowDim& window,
                                     size_t d) {
  if (window.size < 1 || window.stride < 1 || window.base_dilation < 1 ||
      window.window_dilation < 1)
    return Fail(op, 92, "window size ", window.size, ", stride ", window.stride, " and dilations ",
                window.base_dilation, ", ", window.window_dilation, " of dimension ", d,
                " must be positive");
  if (size == kUnbounded) return kUnbounded;
  const __int128 padded = Dilated(size, window.base_dilation) + window.pad_low + window.pad_high;
  if (padded < 0 || padded > std::numeric_limits<int64_t>::max())
    return Fail(op, 93, "padding ", window.pad_low, "_", window.pad_high,
                " leaves no size for dimension ", d);
  const __int128 reach = Dilated(window.size, window.window_dilation);
  return reach > padded ? 0 : static_cast<int64_t>((padded - reach) / window.stride + 1);
}

}  // namespace

absl::StatusOr<DimVector> WindowedDims(const OpView& op, absl::Span<const int64_t> dims,
                                       const Window& window) {
  if (window.size() != dims.size())
    return Fail(op, 91, "window has ", window.size(), " dimensions, expected ", dims.size());
  DimVector result(dims.size());
  for (size_t d = 0; d < dims.size(); ++d) {
    ASSIGN_OR_RETURN(result[d], WindowedSize(op, dims[d], window[d], d));
  }
  return result;
}

// c2, c3, c4, c6: ExpectReduction; the window's own rules are c91 to c93.
absl::StatusOr<Shape> InferReduceWindow(const OpView& op) {
  ASSIGN_OR_RETURN(Reduction reduction, ExpectReduction(op));
  Shape result = op.operand(0).WithoutLayout();
  ASSIGN_OR_RETURN(result.dims,
                   WindowedDims(op, op.operand(0).dims, op.attr<WindowAttrs>().window));
  // Unlike reduce's, the results have the types of the initial values.
  const size_t n = reduction.types.size();
  for (size_t i = 0; i < n; ++i) reduction.types[i] = op.operand(static_cast<int64_t>(n + i)).type;
  return ReductionResult(reduction, result);
}

// c2: operand, source and initial value have one type; c3: the initial value is a scalar; c4:
// select compares two elements; c5: scatter combines two; c6: the source has the dimensions that
// the window makes.
absl::StatusOr<Shape> InferSelectAndScatter(const OpView& op) {
  RETURN_IF_ERROR(ExpectArrays(op));
  const Shape& operand = op.operand(0);
  const Shape& source = op.operand(1);
  const Shape& init = op.operand(2);
  if (!SameTypeOrFloats(operand.type, source.type) || !SameTypeOrFloats(operand.type, init.type))
    return Fail(op, 2, "operand, source and initial value differ in type: ", Text(operand), ", ",
                Text(source), ", ", Text(init));
  if (!init.IsScalar()) return Fail(op, 3, "initial value is not a scalar: ", Text(init));
  ASSIGN_OR_RETURN(Signature select, SignatureOf(op, 0));
  const Shape scalar = Shape::Scalar(operand.type);
  RETURN_IF_ERROR(ExpectParameters(op, select, {&scalar, &scalar}, 4));
  if (!select.result->IsScalar() || !IsPred(select.result->type))
    return Fail(op, 4, select.computation->name(), " returns ", Text(*select.result),
                ", expected pred[]");
  ASSIGN_OR_RETURN(Signature scatter, SignatureOf(op, 1));
  RETURN_IF_ERROR(ExpectReducer(op, scatter, {init.type}, {source.type}, 5).status());
  ASSIGN_OR_RETURN(DimVector dims, WindowedDims(op, operand.dims, op.attr<WindowAttrs>().window));
  if (!SameDims(source, Shape::Array(source.type, dims)))
    return Fail(op, 6, "source is ", Text(source), ", but the window makes ",
                Text(Shape::Array(source.type, dims)));
  return operand.WithoutLayout();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
