// Inference of scatter.
#include "ops/infer/gather_internal.h"
#include "ops/infer/infer_internal.h"

namespace hlokit {
namespace {

// c8: update_window_dims are ascending dimensions of the updates, one for each operand dimension
// kept.
absl::Status CheckUpdateRank(const OpView& op, const Indexing& at, const Shape& updates) {
  const auto& attr = op.attr<ScatterAttrs>();
  const size_t kept = attr.update_window_dims.size();
  const int64_t rank =
      static_cast<int64_t>(kept + IndexDims(at.indices, attr.index_vector_dim).size()) - 1;
  if (updates.rank() != rank)
    return Fail(op, 8, "updates have rank ", updates.rank(), ", expected ", rank, ": ",
                Text(updates));
  if (!AscendingBelow(attr.update_window_dims, rank) ||
      kept + at.dropped.size() + at.operand_batching.size() != at.operand.dims.size())
    return Fail(op, 8, "update_window_dims=", ListText(attr.update_window_dims), " does not place ",
                Text(updates), " in ", Text(at.operand));
  return absl::OkStatus();
}

// c9: a window is no larger than the operand; c10: the other dimensions are those of the indices.
absl::Status CheckUpdateDims(const OpView& op, const Indexing& at, const Shape& updates) {
  const auto& attr = op.attr<ScatterAttrs>();
  const DimVector index_dims = IndexDims(at.indices, attr.index_vector_dim);
  int64_t window_dim = 0, index_dim = 0;
  for (int64_t d = 0; d < updates.rank(); ++d) {
    if (Contains(attr.update_window_dims, d)) {
      while (Contains(at.dropped, window_dim) || Contains(at.operand_batching, window_dim))
        ++window_dim;
      if (Exceeds(updates.dims[d], at.operand.dims[window_dim]))
        return Fail(op, 9, "updates exceed dimension ", window_dim,
                    " of the operand: ", Text(updates), " and ", Text(at.operand));
      ++window_dim;
    } else {
      if (index_dim == attr.index_vector_dim) ++index_dim;
      if (!SizesAgree(updates.dims[d], index_dims[index_dim]))
        return Fail(op, 10, "dimension ", d, " of the updates is not dimension ", index_dim,
                    " of the indices: ", Text(updates), " and ", Text(at.indices));
      ++index_dim;
    }
  }
  return absl::OkStatus();
}

absl::Status CheckCombiner(const OpView& op, int64_t n) {
  ASSIGN_OR_RETURN(Signature combiner, SignatureOf(op, 0));
  std::vector<ElementType> operand_types, update_types;
  for (int64_t i = 0; i < n; ++i) {
    operand_types.push_back(op.operand(i).type);
    update_types.push_back(op.operand(n + 1 + i).type);
  }
  return ExpectReducer(op, combiner, operand_types, update_types, 12).status();
}

}  // namespace

// c2 to c6: CheckIndexing; c7: N operands, indices, N updates; c11: operands (and updates) agree in
// dimensions; c12: to_apply combines 2N scalars into N.
absl::StatusOr<Shape> InferScatter(const OpView& op) {
  RETURN_IF_ERROR(ExpectArrays(op));
  if (op.operand_count() % 2 == 0)
    return Fail(op, 7, "expects N operands, the indices and N updates, found ", op.operand_count(),
                " operands");
  const int64_t n = op.operand_count() / 2;
  const auto& attr = op.attr<ScatterAttrs>();
  const Indexing at{op.operand(0),
                    op.operand(n),
                    attr.index_vector_dim,
                    attr.scatter_dims_to_operand_dims,
                    attr.inserted_window_dims,
                    attr.input_batching_dims,
                    attr.scatter_indices_batching_dims};
  RETURN_IF_ERROR(CheckIndexing(op, at));
  std::vector<Shape> results;
  for (int64_t i = 0; i < n; ++i) {
    if (!SameDims(op.operand(i), at.operand))
      return Fail(op, 11, "operands differ in dimensions: ", Text(at.operand), " and ",
                  Text(op.operand(i)));
    RETURN_IF_ERROR(CheckUpdateRank(op, at, op.operand(n + 1 + i)));
    RETURN_IF_ERROR(CheckUpdateDims(op, at, op.operand(n + 1 + i)));
    results.push_back(op.operand(i).WithoutLayout());
  }
  RETURN_IF_ERROR(CheckCombiner(op, n));
  return OneOrTuple(std::move(results));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
