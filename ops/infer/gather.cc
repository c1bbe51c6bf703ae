// Inference of gather.
#include "ops/infer/gather_internal.h"
#include "ops/infer/infer_internal.h"

namespace hlokit {

DimVector IndexDims(const Shape& indices, int64_t index_vector_dim) {
  DimVector dims = indices.dims;
  if (index_vector_dim == indices.rank()) dims.push_back(1);
  return dims;
}

absl::Status CheckIndexing(const OpView& op, const Indexing& at) {
  if (!IsInteger(at.indices.type))
    return Fail(op, 2, "expects integer indices, found ", Text(at.indices));
  if (at.index_vector_dim < 0 || at.index_vector_dim > at.indices.rank())
    return Fail(op, 3, "index_vector_dim=", at.index_vector_dim, " is no dimension of ",
                Text(at.indices));
  const int rank = at.operand.rank();
  const int64_t vector_size = IndexDims(at.indices, at.index_vector_dim)[at.index_vector_dim];
  if (!SizesAgree(vector_size, static_cast<int64_t>(at.index_map.size())) ||
      !DistinctBelow(at.index_map, rank))
    return Fail(op, 4, "index vectors of ", vector_size, " do not map to the operand dimensions ",
                ListText(at.index_map), " of ", Text(at.operand));
  if (!AscendingBelow(at.dropped, rank))
    return Fail(op, 5, "dimensions ", ListText(at.dropped),
                " left out are not ascending dimensions of ", Text(at.operand));
  return CheckBatching(op, at);
}

absl::Status CheckBatching(const OpView& op, const Indexing& at) {
  if (at.operand_batching.size() != at.indices_batching.size())
    return Fail(op, 6, "batching dimensions differ in number: ", ListText(at.operand_batching),
                " and ", ListText(at.indices_batching));
  if (!AscendingBelow(at.operand_batching, at.operand.rank()) ||
      !DistinctBelow(at.indices_batching, at.indices.rank()) ||
      Contains(at.indices_batching, at.index_vector_dim))
    return Fail(op, 6, "batching dimensions ", ListText(at.operand_batching), " and ",
                ListText(at.indices_batching), " are not distinct dimensions of ", Text(at.operand),
                " and ", Text(at.indices));
  for (size_t i = 0; i < at.operand_batching.size(); ++i) {
    const int64_t d = at.operand_batching[i];
    if (Contains(at.dropped, d) || Contains(at.index_map, d))
      return Fail(op, 6, "batching dimension ", d, " is indexed or left out as well");
    if (!SizesAgree(at.operand.dims[d], at.indices.dims[at.indices_batching[i]]))
      return Fail(op, 6, "batching dimension ", d, " of ", Text(at.operand),
                  " differs from dimension ", at.indices_batching[i], " of ", Text(at.indices));
  }
  return absl::OkStatus();
}

namespace {

// c7: one size a dimension, within the operand, and 1 at most where the dimension is left out or
// batched.
absl::Status CheckSliceSizes(const OpView& op, const Indexing& at, const DimVector& sizes) {
  if (static_cast<int>(sizes.size()) != at.operand.rank())
    return Fail(op, 7, "slice_sizes=", ListText(sizes), " does not fit ", Text(at.operand));
  for (int d = 0; d < at.operand.rank(); ++d) {
    if (sizes[d] < 0 || Exceeds(sizes[d], at.operand.dims[d]))
      return Fail(op, 7, "slice_sizes=", ListText(sizes), " exceeds ", Text(at.operand),
                  " in dimension ", d);
    if (sizes[d] > 1 && (Contains(at.dropped, d) || Contains(at.operand_batching, d)))
      return Fail(op, 7, "slice_sizes=", ListText(sizes), " is above 1 in dimension ", d,
                  ", which is left out");
  }
  return absl::OkStatus();
}

}  // namespace

// c2 to c6: CheckIndexing; c8: offset_dims are ascending dimensions of the result, one for each
// slice dimension kept.
absl::StatusOr<Shape> InferGather(const OpView& op) {
  RETURN_IF_ERROR(ExpectArrays(op));
  const auto& attr = op.attr<GatherAttrs>();
  const Indexing at{op.operand(0),
                    op.operand(1),
                    attr.index_vector_dim,
                    attr.start_index_map,
                    attr.collapsed_slice_dims,
                    attr.operand_batching_dims,
                    attr.start_indices_batching_dims};
  RETURN_IF_ERROR(CheckIndexing(op, at));
  RETURN_IF_ERROR(CheckSliceSizes(op, at, attr.slice_sizes));
  const DimVector index_dims = IndexDims(at.indices, attr.index_vector_dim);
  const int64_t rank = static_cast<int64_t>(attr.offset_dims.size() + index_dims.size()) - 1;
  const size_t accounted = attr.offset_dims.size() + at.dropped.size() + at.operand_batching.size();
  if (!AscendingBelow(attr.offset_dims, rank) || accounted != at.operand.dims.size() ||
      rank > kMaxRank)
    return Fail(op, 8, "offset_dims=", ListText(attr.offset_dims), " does not place the slices of ",
                Text(at.operand), " in a result of rank ", rank);
  Shape result = Shape::Array(at.operand.type, DimVector(rank, 0));
  int64_t slice_dim = 0, index_dim = 0;
  for (int64_t d = 0; d < rank; ++d) {
    if (Contains(attr.offset_dims, d)) {
      while (Contains(at.dropped, slice_dim) || Contains(at.operand_batching, slice_dim))
        ++slice_dim;
      result.dims[d] = attr.slice_sizes[slice_dim];
      result.SetDynamic(static_cast<int>(d), at.operand.IsDynamic(static_cast<int>(slice_dim)) &&
                                                 result.dims[d] == at.operand.dims[slice_dim]);
      ++slice_dim;
    } else {
      if (index_dim == attr.index_vector_dim) ++index_dim;
      result.SetDynamic(static_cast<int>(d),
                        index_dim < at.indices.rank() && at.indices.IsDynamic(index_dim));
      result.dims[d] = index_dims[index_dim++];
    }
  }
  return result;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
