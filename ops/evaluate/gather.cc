// Evaluates gather: a window of the operand for each index vector, starts clamped so that the
// window fits.
#include "ops/evaluate/index_vectors.h"

#include <algorithm>

#include "ops/evaluate/evaluate.h"
#include "ops/evaluate/strided.h"

namespace hlokit {

IndexVectors::IndexVectors(const Literal& indices, int64_t index_vector_dim,
                           absl::Span<const int64_t> index_map,
                           absl::Span<const int64_t> operand_batching_dims,
                           absl::Span<const int64_t> indices_batching_dims)
    : indices_(indices),
      index_map_(index_map.begin(), index_map.end()),
      operand_batching_(operand_batching_dims.begin(), operand_batching_dims.end()) {
  const Shape& shape = indices.shape();
  const DimVector strides = RowMajorStrides(shape.dims);
  batch_dims = Others(shape.rank(), {index_vector_dim});
  const DimVector runtime = Pick(RuntimeDims(indices), batch_dims);
  batch_sizes = runtime;
  offsets_ = Offsets(batch_sizes, Pick(strides, batch_dims));
  vector_stride_ = index_vector_dim < shape.rank() ? strides[index_vector_dim] : 0;
  // Batching dimensions of the indices name positions of the operand by themselves.
  const DimVector batch_strides = RowMajorStrides(batch_sizes);
  for (int64_t d : indices_batching_dims) {
    const int64_t position =
        std::find(batch_dims.begin(), batch_dims.end(), d) - batch_dims.begin();
    batching_.push_back({batch_strides[position], batch_sizes[position]});
  }
}

void IndexVectors::Start(int64_t i, absl::Span<int64_t> start) const {
  std::fill(start.begin(), start.end(), 0);
  for (size_t k = 0; k < index_map_.size(); ++k) {
    const int64_t value = indices_.GetInt(offsets_[i] + k * vector_stride_);
    start[index_map_[k]] = IsUnsigned(indices_.type()) && value < 0 ? INT64_MAX : value;
  }
  for (size_t k = 0; k < operand_batching_.size(); ++k)
    start[operand_batching_[k]] = i / batching_[k].stride % batching_[k].size;
}

absl::StatusOr<Literal> EvaluateGather(const EvalContext& context) {
  const GatherAttrs& attrs = context.instruction.attr<GatherAttrs>();
  const Literal& operand = *context.operands[0];
  Literal result(context.instruction.shape());
  const Shape& shape = operand.shape();
  const IndexVectors vectors(*context.operands[1], attrs.index_vector_dim, attrs.start_index_map,
                             attrs.operand_batching_dims, attrs.start_indices_batching_dims);
  const DimVector window_dims =
      Others(shape.rank(), attrs.collapsed_slice_dims, attrs.operand_batching_dims);
  const DimVector strides = RowMajorStrides(shape.dims),
                  out_strides = RowMajorStrides(result.shape().dims);
  const DimVector window = Pick(attrs.slice_sizes, window_dims);
  const DimVector from = Pick(strides, window_dims), to = Pick(out_strides, attrs.offset_dims);
  const auto size = [&](int64_t d, int64_t value) {
    if (result.shape().IsDynamic(static_cast<int>(d)))
      result.set_dynamic_size(static_cast<int>(d), value);
  };
  for (size_t k = 0; k < window_dims.size(); ++k)
    size(attrs.offset_dims[k],
         std::min(window[k], operand.dynamic_size(static_cast<int>(window_dims[k]))));
  const DimVector places = Others(result.shape().rank(), attrs.offset_dims);
  const std::vector<int64_t> targets = Offsets(vectors.batch_sizes, Pick(out_strides, places));
  for (size_t k = 0; k < places.size(); ++k) size(places[k], vectors.batch_sizes[k]);
  if (result.element_count() == 0 || operand.element_count() == 0) return result;  // zeros
  // So is what slices of nothing give whose empty dimension is dropped: a start may lie beyond the
  // operand.
  if (std::find(attrs.slice_sizes.begin(), attrs.slice_sizes.end(), 0) != attrs.slice_sizes.end())
    return result;
  const int width = ByteWidth(shape.type);
  DimVector start(shape.rank(), 0);
  for (size_t i = 0; i < targets.size(); ++i) {
    vectors.Start(i, absl::MakeSpan(start));
    int64_t at = 0;
    for (int d = 0; d < shape.rank(); ++d)
      at += strides[d] *
            std::max<int64_t>(0, std::min(start[d], shape.dims[d] - attrs.slice_sizes[d]));
    CopyStrided(window, operand.data() + at * width, from, result.data() + targets[i] * width, to,
                width);
  }
  return result;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
