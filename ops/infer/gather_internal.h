// The rules that gather and scatter share: how index vectors point into the operand.
#pragma once

#include "ops/op_view.h"

namespace hlokit {

struct Indexing {
  const Shape& operand;
  const Shape& indices;
  int64_t index_vector_dim;
  const DimVector& index_map;         // operand dimension of each part of an index vector
  const DimVector& dropped;           // collapsed_slice_dims, inserted_window_dims
  const DimVector& operand_batching;  // and, pair by pair, the indices' dimension
  const DimVector& indices_batching;
};

// The indices' dimensions with the index vector's written out (index_vector_dim may be the rank:
// vectors of one).
DimVector IndexDims(const Shape& indices, int64_t index_vector_dim);

// Rules 2 (integers), 3 (index_vector_dim), 4 (the map), 5 (dimensions left out), 6 (batching
// dimensions).
absl::Status CheckIndexing(const OpView& op, const Indexing& at);
absl::Status CheckBatching(const OpView& op, const Indexing& at);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
