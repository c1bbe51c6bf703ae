// gather_simplifier: canonicalizes gathers: two-dimensional indices, one start vector a row,
// collapsed dimensions by reshape.
// Matches gathers without batching dimensions. Leaves a gather of indices [rows, coordinates] that
// gives [rows, whole slice], with a transpose and a reshape of the indices before it, and reshapes
// and a transpose of the result after it, each where it moves or counts anything. Cost: linear.
//
// Gathers by rows of indices.
#include "ops/dim_lists.h"
#include "passes/framework/pass.h"
#include "passes/movement/index_rows.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/matchers.h"

namespace hlokit {
namespace {

bool IsSimpleGather(const GatherAttrs& attrs, const Shape& operand, const Shape& indices) {
  if (indices.rank() != 2 || attrs.index_vector_dim != 1 || !attrs.collapsed_slice_dims.empty())
    return false;
  for (int64_t d = 0; d < operand.rank(); ++d)
    if (attrs.offset_dims[d] != d + 1) return false;
  return true;
}

// The result [rows, kept slice dimensions] as the gather gives it: rows as the indices have them,
// and the slice's dimensions where offset_dims says.
Instruction* PlaceOffsets(Instruction* rows, const DimVector& batch, const Instruction* gather,
                          Rewriter& r) {
  const DimVector& offsets = gather->attr<GatherAttrs>().offset_dims;
  Shape split = rows->shape().WithoutLayout();
  split.dims = batch;
  split.dims.insert(split.dims.end(), rows->shape().dims.begin() + 1, rows->shape().dims.end());
  if (split.dims != rows->shape().dims) rows = r.Reshape(rows, split);
  DimVector order;
  int64_t next_batch = 0, next_offset = static_cast<int64_t>(batch.size());
  for (int64_t d = 0; d < gather->shape().rank(); ++d)
    order.push_back(Contains(offsets, d) ? next_offset++ : next_batch++);
  if (IsIota(order)) return rows;
  return r.Add(Opcode::kTranspose, gather->shape(), {rows}, DimensionsAttrs{std::move(order)});
}

absl::StatusOr<Instruction*> SimplifyGather(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kGather) return nullptr;
  const GatherAttrs& attrs = i->attr<GatherAttrs>();
  const Shape &operand = i->operand(0)->shape(), &indices = i->operand(1)->shape();
  if (!attrs.operand_batching_dims.empty() || i->shape().HasDynamicDims() ||
      operand.HasDynamicDims() || indices.HasDynamicDims() || i->shape().ElementCount() == 0)
    return nullptr;
  if (operand.IsScalar()) return r.Broadcast(i->operand(0), i->shape(), {});
  if (IsSimpleGather(attrs, operand, indices)) return nullptr;
  // Of slices without elements whose empty dimensions are dropped nothing is read.
  if (Contains(attrs.slice_sizes, 0)) return r.Splat(i->shape(), 0);
  const IndexRows rows = MakeIndexRows(i->operand(1), attrs.index_vector_dim, r);
  GatherAttrs plain = attrs;
  plain.index_vector_dim = 1;
  plain.collapsed_slice_dims.clear();
  plain.offset_dims.clear();
  Shape whole = Shape::Array(i->shape().type, {rows.count}), kept = whole;
  for (int64_t d = 0; d < operand.rank(); ++d) {
    plain.offset_dims.push_back(d + 1);
    whole.dims.push_back(attrs.slice_sizes[d]);
    if (!Contains(attrs.collapsed_slice_dims, d)) kept.dims.push_back(attrs.slice_sizes[d]);
  }
  Instruction* made =
      r.Add(Opcode::kGather, whole, {i->operand(0), rows.indices}, std::move(plain));
  if (kept.dims != whole.dims) made = r.Reshape(made, kept);
  made = PlaceOffsets(made, rows.batch, i, r);
  if (made->shape().dims != i->shape().dims) made = r.Reshape(made, i->shape());
  return SameShape(made->shape(), i->shape()) ? made : r.Add(Opcode::kCopy, i->shape(), {made});
}

}  // namespace

std::unique_ptr<Pass> CreateGatherSimplifier() {
  return MakeExpander("gather_simplifier", SimplifyGather);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
