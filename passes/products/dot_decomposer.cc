// dot_decomposer: canonicalizes dots to [batch, rows, contracted] x [batch, contracted, columns].
// A dot that contracts other than one dimension, keeps more than one of an operand, or has batch
// dimensions elsewhere than in front becomes transposes and reshapes of both operands, a dot of the
// plain form, and a reshape of its result. Values are the same bit for bit up to the order of the
// sums. Cost: linear.
//   contracting {1} and {1}  ->  transpose(b), contracting {1} and {0}
#include "ops/dim_lists.h"
#include "passes/framework/pass.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/matchers.h"

namespace hlokit {
namespace {

bool IsPlain(const Instruction* dot) {
  const auto& attrs = dot->attr<DotAttrs>();
  const int64_t batch = attrs.lhs_batch_dims.size();
  if (attrs.lhs_contracting_dims.size() != 1) return false;
  for (int k : {0, 1})
    if (dot->operand(k)->shape().rank() > batch + 2) return false;
  return IsIota(attrs.lhs_batch_dims) && IsIota(attrs.rhs_batch_dims);
}

int64_t Product(const Shape& shape, absl::Span<const int64_t> dims) {
  int64_t product = 1;
  for (int64_t d : dims) product *= shape.dims[d];
  return product;
}

// One operand as batch dimensions, then what is kept and what is contracted, each as one dimension
// (`kept_first`, or the other way round); nothing stands for no kept dimensions.
struct PlainOperand {
  Instruction* value;
  bool has_kept;
  int64_t kept_size;
};

PlainOperand MakePlain(Instruction* x, const DimVector& batch, const DimVector& contracted,
                       bool kept_first, Rewriter& r) {
  const Shape& shape = x->shape();
  DimVector kept;
  for (int64_t d = 0; d < shape.rank(); ++d)
    if (!Contains(batch, d) && !Contains(contracted, d)) kept.push_back(d);
  DimVector order = batch;
  for (const DimVector& part :
       kept_first ? std::vector{kept, contracted} : std::vector{contracted, kept})
    order.insert(order.end(), part.begin(), part.end());
  Shape transposed = shape.WithoutLayout(), flat = transposed;
  for (size_t d = 0; d < order.size(); ++d) transposed.dims[d] = shape.dims[order[d]];
  if (IsIota(order)) transposed = shape;  // nothing moves in memory either
  flat.dims.assign(transposed.dims.begin(), transposed.dims.begin() + batch.size());
  PlainOperand made{nullptr, !kept.empty(), Product(shape, kept)};
  if (kept_first && made.has_kept) flat.dims.push_back(made.kept_size);
  flat.dims.push_back(Product(shape, contracted));
  if (!kept_first && made.has_kept) flat.dims.push_back(made.kept_size);
  made.value = r.Reshape(r.Add(Opcode::kTranspose, transposed, {x}, DimensionsAttrs{order}), flat);
  return made;
}

absl::StatusOr<Instruction*> Decompose(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kDot || i->operand_count() != 2 || IsPlain(i)) return nullptr;
  if (i->shape().HasDynamicDims() || i->operand(0)->shape().HasDynamicDims() ||
      i->operand(1)->shape().HasDynamicDims())
    return nullptr;
  DotAttrs attrs = i->attr<DotAttrs>();
  const PlainOperand lhs =
      MakePlain(i->operand(0), attrs.lhs_batch_dims, attrs.lhs_contracting_dims, true, r);
  const PlainOperand rhs =
      MakePlain(i->operand(1), attrs.rhs_batch_dims, attrs.rhs_contracting_dims, false, r);
  const int64_t batch = attrs.lhs_batch_dims.size();
  Shape result = i->shape().WithoutLayout();
  result.dims.assign(lhs.value->shape().dims.begin(), lhs.value->shape().dims.begin() + batch);
  if (lhs.has_kept) result.dims.push_back(lhs.kept_size);
  if (rhs.has_kept) result.dims.push_back(rhs.kept_size);
  for (int64_t b = 0; b < batch; ++b) attrs.lhs_batch_dims[b] = attrs.rhs_batch_dims[b] = b;
  attrs.lhs_contracting_dims = {batch + (lhs.has_kept ? 1 : 0)};
  attrs.rhs_contracting_dims = {batch};
  Instruction* dot = r.Clone(i, result, {lhs.value, rhs.value});
  dot->mutable_attr<DotAttrs>() = std::move(attrs);
  return r.Reshape(dot, i->shape());
}

}  // namespace

std::unique_ptr<Pass> CreateDotDecomposer() { return MakeExpander("dot_decomposer", Decompose); }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
