// The index vectors of gather and scatter, and the operand positions that they name.
#pragma once

#include <vector>

#include "absl/types/span.h"
#include "types/literal.h"

namespace hlokit {

// All index vectors of `indices`, in row-major order of its dimensions other than index_vector_dim.
class IndexVectors {
 public:
  IndexVectors(const Literal& indices, int64_t index_vector_dim,
               absl::Span<const int64_t> index_map, absl::Span<const int64_t> operand_batching_dims,
               absl::Span<const int64_t> indices_batching_dims);

  int64_t count() const { return static_cast<int64_t>(offsets_.size()); }
  // Where window i starts in the operand (one number a dimension of it), neither clamped nor
  // checked.
  void Start(int64_t i, absl::Span<int64_t> start) const;

  DimVector batch_dims;   // dimensions of `indices` other than index_vector_dim
  DimVector batch_sizes;  // their sizes

 private:
  struct Batching {
    int64_t stride, size;  // of the vector's number
  };
  const Literal& indices_;
  DimVector index_map_, operand_batching_;
  std::vector<Batching> batching_;
  std::vector<int64_t> offsets_;
  int64_t vector_stride_ = 0;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
