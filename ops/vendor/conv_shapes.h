// The shapes of a convolution that a custom call of cuDNN asks for.
#pragma once

#include "absl/strings/match.h"
#include "ir/attributes.h"
#include "types/shape.h"

namespace hlokit {

// Whether window, dim_labels and arrays of a call __cudnn$conv... fit together: the ranks, and the
// window's sizes, which are those of the kernel: operand 1, or the result of a BackwardFilter.
// Evaluation and expansion index the kernel by the window, so they ask this first.
inline bool ConvShapesFit(const CustomCallAttrs& attrs, const Shape& first, const Shape& second,
                          const Shape& result) {
  const int64_t rank = static_cast<int64_t>(attrs.window.size()) + 2;
  if (!attrs.dim_labels.has_value() || attrs.feature_group_count <= 0) return false;
  for (const Shape* shape : {&first, &second, &result})
    if (!shape->IsArray() || shape->rank() != rank) return false;
  const Shape& kernel = absl::EndsWith(attrs.target, "BackwardFilter") ? result : second;
  const DimVector& spatial = attrs.dim_labels->kernel_spatial;
  if (spatial.size() != attrs.window.size()) return false;
  for (size_t d = 0; d < spatial.size(); ++d)
    if (attrs.window[d].size != kernel.dims[spatial[d]]) return false;
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
