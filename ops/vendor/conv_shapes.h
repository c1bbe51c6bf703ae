// The shapes of a convolution that a custom call of cuDNN asks for.
#pragma once

#include "absl/strings/match.h"
#include "ir/attributes.h"
#include "types/shape.h"

namespace hlokit {

// Whether batches and features of a convolution's arrays agree, by groups.
inline bool ConvSizesFit(const CustomCallAttrs& attrs, const Shape& input, const Shape& kernel,
                         const Shape& output) {
  const ConvDims& d = *attrs.dim_labels;
  const int64_t groups = attrs.feature_group_count, batches = attrs.batch_group_count;
  const int64_t features = output.dims[d.output_feature];
  return batches > 0 && features % groups == 0 && features % batches == 0 &&
         kernel.dims[d.kernel_output_feature] == features &&
         input.dims[d.input_feature] == kernel.dims[d.kernel_input_feature] * groups &&
         input.dims[d.input_batch] == output.dims[d.output_batch] * batches;
}

// Whether window, dim_labels and arrays of a call __cudnn$conv... fit together: the ranks, the
// window's sizes, which are those of the kernel (operand 1, or the result of a BackwardFilter),
// batches and features. Evaluation and expansion index the arrays by each other's sizes, so they
// ask this first.
inline bool ConvShapesFit(const CustomCallAttrs& attrs, const Shape& first, const Shape& second,
                          const Shape& result) {
  const int64_t rank = static_cast<int64_t>(attrs.window.size()) + 2;
  if (!attrs.dim_labels.has_value() || attrs.feature_group_count <= 0) return false;
  for (const Shape* shape : {&first, &second, &result})
    if (!shape->IsArray() || shape->rank() != rank) return false;
  const bool to_filter = absl::EndsWith(attrs.target, "BackwardFilter"),
             to_input = absl::EndsWith(attrs.target, "BackwardInput");
  const Shape& kernel = to_filter ? result : second;
  const DimVector& spatial = attrs.dim_labels->kernel_spatial;
  if (spatial.size() != attrs.window.size()) return false;
  for (size_t d = 0; d < spatial.size(); ++d)
    if (attrs.window[d].size != kernel.dims[spatial[d]]) return false;
  return ConvSizesFit(attrs, to_input ? result : first, kernel,
                      to_input    ? first
                      : to_filter ? second
                                  : result);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
