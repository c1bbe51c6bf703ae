// Sums of products and the operations made of them: dot, convolution, decompositions, FFT, batch
// normalisation.
//
// Errors are InvalidArgument with the label of the rule (docs/operations.md), kept in the builder.
// preferred_type asks for the result's (and sum's) element type. Source: XLA Operation Semantics.
#pragma once

#include <optional>

#include "builder/op_types.h"
#include "builder/xla_op.h"
#include "types/element_type.h"

namespace hlokit {

// The element type that a result shall have; nothing: as operands and rules say.
using MaybeType = std::optional<ElementType>;

// The last dimension of lhs by the first of rhs (the one before last where rhs has more than two):
// [n].[n] -> scalar, [m,k].[k,n] -> [m,n]. Two scalars are multiplied.
XlaOp Dot(XlaOp lhs, XlaOp rhs, const PrecisionConfig* precision = nullptr,
          MaybeType preferred_type = std::nullopt, Where where = Where::current());
// Summed over contracting dimensions, paired by position; result: batch dimensions, what is left of
// lhs, what is left of rhs.
XlaOp DotGeneral(XlaOp lhs, XlaOp rhs, const DotDimensionNumbers& numbers,
                 const PrecisionConfig* precision = nullptr,
                 MaybeType preferred_type = std::nullopt, Where where = Where::current());
// The same of operands that are multiplied by scales, one a block of elements.
XlaOp ScaledDot(XlaOp lhs, XlaOp rhs, XlaOp lhs_scale, XlaOp rhs_scale,
                const DotDimensionNumbers& numbers, const PrecisionConfig* precision = nullptr,
                MaybeType preferred_type = std::nullopt, Where where = Where::current());
// Rows of lhs in groups of group_sizes, each by its own part of rhs.
XlaOp RaggedDot(XlaOp lhs, XlaOp rhs, XlaOp group_sizes, const RaggedDotDimensionNumbers& numbers,
                const PrecisionConfig* precision = nullptr, MaybeType preferred_type = std::nullopt,
                Where where = Where::current());

// lhs: batch, features, spatial dimensions; rhs: output features, input features, spatial ones; the
// kernel is not reversed. `strides` are one a spatial dimension.
XlaOp Conv(XlaOp lhs, XlaOp rhs, DimSpan strides, Padding padding, int64_t feature_group_count = 1,
           int64_t batch_group_count = 1, const PrecisionConfig* precision = nullptr,
           MaybeType preferred_type = std::nullopt, Where where = Where::current());
XlaOp ConvWithGeneralPadding(XlaOp lhs, XlaOp rhs, DimSpan strides, const PaddingPairs& padding,
                             int64_t feature_group_count = 1, int64_t batch_group_count = 1,
                             const PrecisionConfig* precision = nullptr,
                             MaybeType preferred_type = std::nullopt,
                             Where where = Where::current());
// With dimension numbers of one's own.
XlaOp ConvWithGeneralDimensions(XlaOp lhs, XlaOp rhs, DimSpan strides, Padding padding,
                                const ConvolutionDimensionNumbers& numbers,
                                int64_t feature_group_count = 1, int64_t batch_group_count = 1,
                                const PrecisionConfig* precision = nullptr,
                                MaybeType preferred_type = std::nullopt,
                                Where where = Where::current());
XlaOp ConvGeneral(XlaOp lhs, XlaOp rhs, DimSpan strides, const PaddingPairs& padding,
                  const ConvolutionDimensionNumbers& numbers, int64_t feature_group_count = 1,
                  int64_t batch_group_count = 1, const PrecisionConfig* precision = nullptr,
                  MaybeType preferred_type = std::nullopt, Where where = Where::current());
// With dilations, and with the kernel reversed in dimensions where window_reversal says so;
// empty lists: none.
XlaOp ConvGeneralDilated(XlaOp lhs, XlaOp rhs, DimSpan strides, const PaddingPairs& padding,
                         DimSpan lhs_dilation, DimSpan rhs_dilation,
                         const ConvolutionDimensionNumbers& numbers,
                         int64_t feature_group_count = 1, int64_t batch_group_count = 1,
                         const PrecisionConfig* precision = nullptr,
                         MaybeType preferred_type = std::nullopt,
                         const std::vector<bool>& window_reversal = {},
                         Where where = Where::current());

// The triangle L (lower) or U with a = L L* or U* U, of each matrix in the last two dimensions.
XlaOp Cholesky(XlaOp a, bool lower = true, Where where = Where::current());
// x with op(a) x = b (left_side) or x op(a) = b; a is triangular, op as transpose_a says.
XlaOp TriangularSolve(XlaOp a, XlaOp b, bool left_side, bool lower, bool unit_diagonal,
                      TriangularTranspose transpose_a, Where where = Where::current());
// Of the last fft_length.size() dimensions.
XlaOp Fft(XlaOp operand, FftType type, DimSpan fft_length, Where where = Where::current());

// Normalised over all dimensions but feature_index: (result, mean, variance), each of the last two
// a vector of features, as scale and offset are.
XlaOp BatchNormTraining(XlaOp operand, XlaOp scale, XlaOp offset, float epsilon,
                        int64_t feature_index, Where where = Where::current());
XlaOp BatchNormInference(XlaOp operand, XlaOp scale, XlaOp offset, XlaOp mean, XlaOp variance,
                         float epsilon, int64_t feature_index, Where where = Where::current());
// (gradient of operand, of scale, of offset).
XlaOp BatchNormGrad(XlaOp operand, XlaOp scale, XlaOp batch_mean, XlaOp batch_var,
                    XlaOp grad_output, float epsilon, int64_t feature_index,
                    Where where = Where::current());

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
