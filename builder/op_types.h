// What operations take besides values: precision, accuracy, dimension numbers, channels.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/attribute_types.h"

namespace hlokit {

// How hard the machine shall try where it has only narrower units: one entry an operand, or none.
// `algorithm` names a dot's algorithm in full, such as "dot_bf16_bf16_f32"; empty: free.
// Source: XLA Operation Semantics, "Dot" and "Conv".
struct PrecisionConfig {
  std::vector<Precision> operand_precision;  // one an operand, or none
  std::string algorithm;                     // of a dot; empty: free
};

// Which dimensions of a dot's operands are summed over, and which are paired.
struct DotDimensionNumbers {
  // Of the operands, pairwise: summed over, and paired.
  DimVector lhs_contracting_dimensions, rhs_contracting_dimensions;
  DimVector lhs_batch_dimensions, rhs_batch_dimensions;
};

// A dot whose lhs is cut into groups of rows of run-time sizes.
struct RaggedDotDimensionNumbers {
  // Of the dot; of the lhs the dimension that is cut, of the rhs the one that numbers groups.
  DotDimensionNumbers dot_dimension_numbers;
  DimVector lhs_ragged_dimensions, rhs_group_dimensions;
};

// Where slices lie in a gather's operand, indices and result.
struct GatherDimensionNumbers {
  // Dimensions of the result that slices have; of the operand, those that slices drop and those
  // that indices count in.
  DimVector offset_dims, collapsed_slice_dims, start_index_map;
  // Of the indices: the dimension along which an index lies.
  int64_t index_vector_dim = 0;
  // Of operand and indices, pairwise: paired.
  DimVector operand_batching_dims, start_indices_batching_dims;
};

// Where windows lie in a scatter's updates, indices and operand.
struct ScatterDimensionNumbers {
  // Dimensions of the updates that windows have; of the operand, those that windows lack and those
  // that indices count in.
  DimVector update_window_dims, inserted_window_dims, scatter_dims_to_operand_dims;
  // Of the indices: the dimension along which an index lies.
  int64_t index_vector_dim = 0;
  // Of operand and indices, pairwise: paired.
  DimVector input_batching_dims, scatter_indices_batching_dims;
};

// ConvDims by its older name.
using ConvolutionDimensionNumbers = ConvDims;

// What ties a send to its recv.
struct ChannelHandle {
  int64_t handle = 0;  // the channel_id; positive in use
};

// Padding of windows by rule: none, where windows that do not fit are dropped; or as much as makes
// ceil(size / stride) results, the odd element at the end. Source: TensorFlow's SAME and VALID.
enum class Padding : uint8_t { kValid, kSame };

// (low, high) for each dimension, in elements.
using PaddingPairs = std::vector<std::pair<int64_t, int64_t>>;

// The pairs that `padding` comes to. Sizes, windows and strides count elements; one of each a
// dimension. Errors: InvalidArgument where their numbers differ, a window or a stride is not
// positive or a size is negative.
absl::StatusOr<PaddingPairs> MakePadding(absl::Span<const int64_t> sizes,
                                         absl::Span<const int64_t> windows,
                                         absl::Span<const int64_t> strides, Padding padding);

// dim_labels=b{f}{spatial}_{o}{i}{spatial}: batch and features (output and input) first, then
// `spatial` dimensions. Source: the builder's defaults.
ConvolutionDimensionNumbers DefaultConvDimensionNumbers(int spatial = 2);

// A PaddingConfig without interior padding.
PaddingConfig MakeEdgePaddingConfig(absl::Span<const std::pair<int64_t, int64_t>> padding);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
