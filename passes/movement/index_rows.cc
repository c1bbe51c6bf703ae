// An array of index vectors as a matrix: [a, v, b] with index_vector_dim=1 becomes [a * b, v].
#include "passes/movement/index_rows.h"
#include "passes/rewrite/matchers.h"
#include "passes/rewrite/rewriter.h"

namespace hlokit {

IndexRows MakeIndexRows(Instruction* indices, int64_t index_vector_dim, Rewriter& r) {
  const Shape shape = indices->shape();
  IndexRows rows{indices, {}, 1};
  DimVector order;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (d == index_vector_dim) continue;
    order.push_back(d);
    rows.batch.push_back(shape.dims[d]);
    rows.count *= shape.dims[d];
  }
  const bool has_vectors = index_vector_dim < shape.rank();
  if (has_vectors) order.push_back(index_vector_dim);
  if (!IsIota(order)) {
    Shape moved = Shape::Array(shape.type, {});
    for (int64_t d : order) moved.dims.push_back(shape.dims[d]);
    rows.indices =
        r.Add(Opcode::kTranspose, moved, {rows.indices}, DimensionsAttrs{std::move(order)});
  }
  if (!has_vectors && shape.rank() > 0) {
    Shape vectors = Shape::Array(shape.type, shape.dims);
    vectors.dims.push_back(1);
    rows.indices = r.Reshape(rows.indices, vectors);
  }
  const Shape flat = Shape::Array(
      shape.type, {rows.count, has_vectors ? shape.dims[index_vector_dim] : int64_t{1}});
  if (rows.indices->shape().dims != flat.dims) rows.indices = r.Reshape(rows.indices, flat);
  return rows;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
