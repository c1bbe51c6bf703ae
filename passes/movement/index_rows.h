// Index arrays of gathers and scatters as a list of rows, one row a coordinate vector.
#pragma once

#include "passes/rewrite/rewriter.h"

namespace hlokit {

struct IndexRows {
  Instruction* indices;  // [count, coordinates]
  DimVector batch;       // the dimensions that `count` is the product of
  int64_t count;
};

// With a transpose where index_vector_dim is not the last dimension and a reshape where there is
// not exactly one other. The dimension may be one past the last: coordinates of one number.
IndexRows MakeIndexRows(Instruction* indices, int64_t index_vector_dim, Rewriter& r);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
