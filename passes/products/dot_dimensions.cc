// batch-dot-simplification, dot_dimension_merger and dot_dimension_normalizer: fewer dimensions in
// dots.
//
// Dots over reshaped operands.
#include "ops/dim_lists.h"
#include "passes/framework/pass.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/matchers.h"
#include "passes/rewrite/unmoved.h"

namespace hlokit {
namespace {

bool IsPlainDot(const Instruction* i) {
  return i->opcode() == Opcode::kDot && i->operand_count() == 2 && !i->shape().HasDynamicDims() &&
         !i->operand(0)->shape().HasDynamicDims() && !i->operand(1)->shape().HasDynamicDims();
}

// Dimension numbers after those of `gone` have been taken out.
DimVector Without(const DimVector& dims, const DimVector& gone) {
  DimVector left;
  for (int64_t d : dims) {
    if (Contains(gone, d)) continue;
    int64_t before = 0;
    for (int64_t g : gone) before += g < d;
    left.push_back(d - before);
  }
  return left;
}

Instruction* Dropped(Instruction* x, const DimVector& gone, Rewriter& r) {
  Shape shape = Shape::Array(x->shape().type, {});
  for (int64_t d = 0; d < x->shape().rank(); ++d)
    if (!Contains(gone, d)) shape.dims.push_back(x->shape().dims[d]);
  return r.Reshape(x, shape);
}

absl::StatusOr<Instruction*> DropBatches(Instruction* i, Rewriter& r) {
  if (!IsPlainDot(i)) return nullptr;
  DotAttrs attrs = i->attr<DotAttrs>();
  DimVector lhs, rhs;
  Shape shape = Shape::Array(i->shape().type, {});
  for (size_t b = 0; b < attrs.lhs_batch_dims.size(); ++b) {
    if (i->shape().dims[b] == 1) {
      lhs.push_back(attrs.lhs_batch_dims[b]);
      rhs.push_back(attrs.rhs_batch_dims[b]);
    } else {
      shape.dims.push_back(i->shape().dims[b]);
    }
  }
  if (lhs.empty()) return nullptr;
  shape.dims.insert(shape.dims.end(), i->shape().dims.begin() + attrs.lhs_batch_dims.size(),
                    i->shape().dims.end());
  Instruction* dot =
      r.Clone(i, shape, {Dropped(i->operand(0), lhs, r), Dropped(i->operand(1), rhs, r)});
  attrs.lhs_batch_dims = Without(attrs.lhs_batch_dims, lhs);
  attrs.rhs_batch_dims = Without(attrs.rhs_batch_dims, rhs);
  attrs.lhs_contracting_dims = Without(attrs.lhs_contracting_dims, lhs);
  attrs.rhs_contracting_dims = Without(attrs.rhs_contracting_dims, rhs);
  dot->mutable_attr<DotAttrs>() = std::move(attrs);
  return r.Reshape(dot, i->shape());
}

// `count` dimensions from `first` on as one.
Instruction* Merged(Instruction* x, int64_t first, int64_t count, Rewriter& r) {
  Shape shape = x->shape().WithoutLayout();
  for (int64_t k = 1; k < count; ++k) shape.dims[first] *= shape.dims[first + k];
  shape.dims.erase(shape.dims.begin() + first + 1, shape.dims.begin() + first + count);
  return r.Reshape(x, shape);
}

// Dimension numbers after `count` dimensions from `first` on have become one, named once.
DimVector AfterMerge(const DimVector& dims, int64_t first, int64_t count) {
  DimVector merged;
  for (int64_t d : dims) {
    if (d > first && d < first + count) continue;
    merged.push_back(d < first + count ? d : d - count + 1);
  }
  return merged;
}

void MergeDims(DotAttrs& attrs, int side, int64_t first, int64_t count) {
  for (DimVector* dims : {side == 0 ? &attrs.lhs_batch_dims : &attrs.rhs_batch_dims,
                          side == 0 ? &attrs.lhs_contracting_dims : &attrs.rhs_contracting_dims})
    *dims = AfterMerge(*dims, first, count);
}

bool IsRun(const DimVector& dims) {
  for (size_t k = 1; k < dims.size(); ++k)
    if (dims[k] != dims[k - 1] + 1) return false;
  return true;
}

absl::StatusOr<Instruction*> MergeBatches(Instruction* i, Rewriter& r) {
  if (!IsPlainDot(i)) return nullptr;
  DotAttrs attrs = i->attr<DotAttrs>();
  const auto count = static_cast<int64_t>(attrs.lhs_batch_dims.size());
  if (count < 2 || !IsRun(attrs.lhs_batch_dims) || !IsRun(attrs.rhs_batch_dims)) return nullptr;
  const int64_t left = attrs.lhs_batch_dims[0], right = attrs.rhs_batch_dims[0];
  Shape shape = i->shape().WithoutLayout();
  for (int64_t k = 1; k < count; ++k) shape.dims[0] *= shape.dims[k];
  shape.dims.erase(shape.dims.begin() + 1, shape.dims.begin() + count);
  Instruction* dot = r.Clone(
      i, shape, {Merged(i->operand(0), left, count, r), Merged(i->operand(1), right, count, r)});
  MergeDims(attrs, 0, left, count);
  MergeDims(attrs, 1, right, count);
  dot->mutable_attr<DotAttrs>() = std::move(attrs);
  return r.Reshape(dot, i->shape());
}

// A side of a dot whose contracted dimensions follow each other, as the numbers in `batch` and
// `contracted` then say: its own, or a transpose to batches, dimensions of its own, contracted
// ones.
Instruction* GatherContracted(Instruction* x, DimVector& batch, DimVector& contracted,
                              Rewriter& r) {
  if (IsRun(contracted)) return x;
  DimVector order = batch;
  for (int64_t d = 0; d < x->shape().rank(); ++d)
    if (!Contains(batch, d) && !Contains(contracted, d)) order.push_back(d);
  const auto first = static_cast<int64_t>(order.size());
  order.insert(order.end(), contracted.begin(), contracted.end());
  for (size_t k = 0; k < batch.size(); ++k) batch[k] = static_cast<int64_t>(k);
  for (size_t k = 0; k < contracted.size(); ++k) contracted[k] = first + static_cast<int64_t>(k);
  return TransposeUnmoved(r, x, order);
}

// The merged side; what was reshaped to the side before, where it had the merged dimensions.
Instruction* MergedOrGiven(Instruction* x, int64_t first, int64_t count, Rewriter& r) {
  if (x->opcode() == Opcode::kReshape) {
    DimVector dims = x->shape().dims;
    for (int64_t k = 1; k < count; ++k) dims[first] *= dims[first + k];
    dims.erase(dims.begin() + first + 1, dims.begin() + first + count);
    if (x->operand(0)->shape().dims == dims) return x->operand(0);
  }
  return Merged(x, first, count, r);
}

absl::StatusOr<Instruction*> MergeContracted(Instruction* i, Rewriter& r) {
  if (!IsPlainDot(i)) return nullptr;
  DotAttrs attrs = i->attr<DotAttrs>();
  const auto count = static_cast<int64_t>(attrs.lhs_contracting_dims.size());
  if (count < 2) return nullptr;
  Instruction* lhs =
      GatherContracted(i->operand(0), attrs.lhs_batch_dims, attrs.lhs_contracting_dims, r);
  Instruction* rhs =
      GatherContracted(i->operand(1), attrs.rhs_batch_dims, attrs.rhs_contracting_dims, r);
  const int64_t left = attrs.lhs_contracting_dims[0], right = attrs.rhs_contracting_dims[0];
  Instruction* dot = r.Clone(
      i, i->shape(), {MergedOrGiven(lhs, left, count, r), MergedOrGiven(rhs, right, count, r)});
  MergeDims(attrs, 0, left, count);
  MergeDims(attrs, 1, right, count);
  dot->mutable_attr<DotAttrs>() = std::move(attrs);
  return dot;
}

}  // namespace

// batch-dot-simplification. Matches dots with batch dimensions of size one; leaves a dot without
// them, and reshapes around it. Cost: linear.
std::unique_ptr<Pass> CreateBatchDotSimplification() {
  return MakeExpander("batch-dot-simplification", DropBatches);
}

// dot_dimension_merger. Matches dots whose batch dimensions, two or more, follow each other in both
// sides; leaves a dot with one, and reshapes around it. Cost: linear.
std::unique_ptr<Pass> CreateDotDimensionMerger() {
  return MakeExpander("dot_dimension_merger", MergeBatches);
}

// dot_dimension_normalizer. Matches dots that contract several dimensions; leaves a dot that
// contracts one, and reshapes before it, after transposes of sides in which they do not follow each
// other. Cost: linear.
std::unique_ptr<Pass> CreateDotDimensionNormalizer() {
  return MakeExpander("dot_dimension_normalizer", MergeContracted);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
