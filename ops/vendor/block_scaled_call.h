// Custom calls on arrays of small floats with a scale for each block along their last dimension, as
// JAX and XLA write them: __op$quantize, __op$dequantize, __op$block_scaled_dot, and what cuDNN
// takes in place of the last.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "ops/vendor/call_config.h"
#include "types/shape.h"

namespace hlokit {

// How many elements of each side share a scale; 0 for a side without scales.
struct BlockScaledDot {
  int64_t lhs_block = 0, rhs_block = 0;
  bool swizzled = false;   // cuDNN's order of scales, see SwizzledDims
  int factor_operand = 0;  // a scalar for the whole product, 0: none
};

// lhs[B,M,K] or [M,K], rhs[B,N,K] or [N,K], their scales, and perhaps a factor. Errors:
// InvalidArgument where they or `result` do not fit together.
absl::StatusOr<BlockScaledDot> ReadBlockScaledDot(absl::string_view target,
                                                  const ConfigValue& config,
                                                  absl::Span<const Shape* const> operands,
                                                  const Shape& result);

// How many elements of `x` share an element of `scale`, whose other dimensions are equal. Errors:
// InvalidArgument where no such number is.
absl::StatusOr<int64_t> BlockOf(absl::string_view target, const Shape& x, const Shape& scale);

// The scales of cuDNN, [B,R,C] or [R,C], are stored as an array of these dimensions, [B, R/128,
// C/4, 32, 4, 4]: its dimensions {0, 1, 4, 3, 2, 5} are those of [B, R/128, 4, 32, C/4, 4], the
// scales in order.
DimVector SwizzledDims(const DimVector& scale_dims);

// The greatest power of two that a float type holds: what __op$quantize brings the largest element
// of a block to.
double QuantizationLimit(ElementType type);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
