// Convolutions: all forms come down to ConvGeneralDilated.
#include "builder/emit_internal.h"
#include "builder/products.h"

namespace hlokit {
namespace {

absl::Status CheckLengths(size_t spatial, std::initializer_list<size_t> lengths) {
  for (size_t length : lengths)
    if (length != 0 && length != spatial)
      return InvalidArgument("convolution: ", spatial, " spatial dimensions, but a list of ",
                             length, " strides, paddings or dilations");
  return absl::OkStatus();
}

int SpatialDims(const Shape& shape) { return shape.rank() < 2 ? 0 : shape.rank() - 2; }

// Padding by rule, of the spatial dimensions that `numbers` name.
absl::StatusOr<PaddingPairs> PairsOf(const Shape& lhs, const Shape& rhs, DimSpan strides,
                                     Padding padding, const ConvolutionDimensionNumbers& numbers) {
  DimVector sizes, windows;
  for (int64_t d : numbers.input_spatial) {
    if (d < 0 || d >= lhs.rank())
      return LabeledError("convolution-c2", "convolution: ", Text(lhs), " has no dimension ", d);
    sizes.push_back(lhs.dims[d]);
  }
  for (int64_t d : numbers.kernel_spatial) {
    if (d < 0 || d >= rhs.rank())
      return LabeledError("convolution-c2", "convolution: ", Text(rhs), " has no dimension ", d);
    windows.push_back(rhs.dims[d]);
  }
  return MakePadding(sizes, windows, strides, padding);
}

}  // namespace

XlaOp ConvGeneralDilated(XlaOp lhs, XlaOp rhs, DimSpan strides, const PaddingPairs& padding,
                         DimSpan lhs_dilation, DimSpan rhs_dilation,
                         const ConvolutionDimensionNumbers& numbers, int64_t feature_group_count,
                         int64_t batch_group_count, const PrecisionConfig* precision,
                         MaybeType preferred_type, const std::vector<bool>& window_reversal,
                         Where where) {
  return WithShapes(where, {lhs, rhs}, [&](const std::vector<Shape>& s) -> absl::StatusOr<XlaOp> {
    const size_t spatial = numbers.kernel_spatial.size();
    RETURN_IF_ERROR(CheckLengths(spatial, {strides.size(), padding.size(), lhs_dilation.size(),
                                           rhs_dilation.size(), window_reversal.size()}));
    ConvolutionAttrs attributes;
    attributes.window.resize(spatial);
    for (size_t d = 0; d < spatial; ++d) {
      WindowDim& window = attributes.window[d];
      const int64_t from = numbers.kernel_spatial[d];
      if (from < 0 || from >= s[1].rank())
        return LabeledError("convolution-c2", "convolution: ", Text(s[1]), " has no dimension ",
                            from);
      window.size = s[1].dims[from];
      if (!strides.empty()) window.stride = strides[d];
      if (!padding.empty()) std::tie(window.pad_low, window.pad_high) = padding[d];
      if (!lhs_dilation.empty()) window.base_dilation = lhs_dilation[d];
      if (!rhs_dilation.empty()) window.window_dilation = rhs_dilation[d];
      if (!window_reversal.empty()) window.reversal = window_reversal[d];
    }
    attributes.dim_labels = numbers;
    attributes.feature_group_count = feature_group_count;
    attributes.batch_group_count = batch_group_count;
    if (precision != nullptr)
      for (Precision p : precision->operand_precision)
        if (p != Precision::kDefault) attributes.operand_precision = precision->operand_precision;
    EmitExtras extras;
    if (preferred_type) extras.shape = Shape::Scalar(*preferred_type);
    return Emit(where, Opcode::kConvolution, {lhs, rhs}, std::move(attributes), std::move(extras));
  });
}

XlaOp ConvGeneral(XlaOp lhs, XlaOp rhs, DimSpan strides, const PaddingPairs& padding,
                  const ConvolutionDimensionNumbers& numbers, int64_t feature_group_count,
                  int64_t batch_group_count, const PrecisionConfig* precision,
                  MaybeType preferred_type, Where where) {
  return ConvGeneralDilated(lhs, rhs, strides, padding, {}, {}, numbers, feature_group_count,
                            batch_group_count, precision, preferred_type, {}, where);
}

XlaOp ConvWithGeneralDimensions(XlaOp lhs, XlaOp rhs, DimSpan strides, Padding padding,
                                const ConvolutionDimensionNumbers& numbers,
                                int64_t feature_group_count, int64_t batch_group_count,
                                const PrecisionConfig* precision, MaybeType preferred_type,
                                Where where) {
  return WithShapes(where, {lhs, rhs}, [&](const std::vector<Shape>& s) -> absl::StatusOr<XlaOp> {
    ASSIGN_OR_RETURN(const PaddingPairs pairs, PairsOf(s[0], s[1], strides, padding, numbers));
    return ConvGeneral(lhs, rhs, strides, pairs, numbers, feature_group_count, batch_group_count,
                       precision, preferred_type, where);
  });
}

XlaOp ConvWithGeneralPadding(XlaOp lhs, XlaOp rhs, DimSpan strides, const PaddingPairs& padding,
                             int64_t feature_group_count, int64_t batch_group_count,
                             const PrecisionConfig* precision, MaybeType preferred_type,
                             Where where) {
  return WithShapes(where, {lhs, rhs}, [&](const std::vector<Shape>& s) -> absl::StatusOr<XlaOp> {
    return ConvGeneral(lhs, rhs, strides, padding, DefaultConvDimensionNumbers(SpatialDims(s[0])),
                       feature_group_count, batch_group_count, precision, preferred_type, where);
  });
}

XlaOp Conv(XlaOp lhs, XlaOp rhs, DimSpan strides, Padding padding, int64_t feature_group_count,
           int64_t batch_group_count, const PrecisionConfig* precision, MaybeType preferred_type,
           Where where) {
  return WithShapes(where, {lhs, rhs}, [&](const std::vector<Shape>& s) -> absl::StatusOr<XlaOp> {
    return ConvWithGeneralDimensions(
        lhs, rhs, strides, padding, DefaultConvDimensionNumbers(SpatialDims(s[0])),
        feature_group_count, batch_group_count, precision, preferred_type, where);
  });
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
