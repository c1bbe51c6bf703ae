// XLA's forms without dimensions of size one, which say nothing, before layouts are assigned.
//   dot(x[5,8], y[8,1])               ->  reshape(dot(x[5,8], reshape(y)[8]))
//   broadcast(x[1]), dimensions={1}   ->  broadcast(reshape(x)[]), dimensions={}
//   broadcast(x[]) of shape [1]       ->  reshape(x)
//   reduce(reshape(x[16])[16,1])      ->  reshape(reduce(x[16]))
#include "ops/dim_lists.h"
#include "passes/rewrite/hlo_writer.h"
#include "passes/rewrite/matchers.h"
#include "passes/simplify/facts.h"
#include "passes/simplify/rule.h"

namespace hlokit {
namespace {

// Where each dimension goes once those of size one are dropped; -1 for those.
struct WithoutOnes {
  explicit WithoutOnes(const Shape& shape) {
    for (const int64_t size : shape.dims) {
      to.push_back(size == 1 ? -1 : static_cast<int64_t>(dims.size()));
      if (size != 1) dims.push_back(size);
    }
  }
  bool changes() const { return dims.size() != to.size(); }
  DimVector Mapped(const DimVector& list) const {
    DimVector mapped;
    for (const int64_t d : list)
      if (to[d] >= 0) mapped.push_back(to[d]);
    return mapped;
  }

  DimVector to, dims;
};

Instruction* DotWithoutOnes(Instruction* i, Rewriter& r) {
  const DotAttrs& attrs = i->attr<DotAttrs>();
  if (i->operand_count() != 2 || i->shape().HasDynamicDims() || i->sharding() != nullptr)
    return nullptr;
  const WithoutOnes left(i->operand(0)->shape()), right(i->operand(1)->shape());
  if (!left.changes() && !right.changes()) return nullptr;
  HloWriter w(r);
  Instruction* const operands[] = {w.Reshape(i->operand(0), left.dims),
                                   w.Reshape(i->operand(1), right.dims)};
  Shape shape = RowMajor(i->shape().type, WithoutOnes(i->shape()).dims);
  Instruction* const dot = r.Clone(i, shape, operands);
  DotAttrs& mapped = dot->mutable_attr<DotAttrs>();
  mapped.lhs_batch_dims = left.Mapped(attrs.lhs_batch_dims);
  mapped.rhs_batch_dims = right.Mapped(attrs.rhs_batch_dims);
  mapped.lhs_contracting_dims = left.Mapped(attrs.lhs_contracting_dims);
  mapped.rhs_contracting_dims = right.Mapped(attrs.rhs_contracting_dims);
  return r.Reshape(dot, i->shape());
}

Instruction* BroadcastWithoutOnes(Instruction* i, Rewriter& r) {
  const Shape& shape = i->operand(0)->shape();
  const bool one = i->shape().rank() > 0 && i->shape().ElementCount() == 1;
  if (shape.IsScalar() && one && !i->operand(0)->IsConstant() && !i->shape().HasDynamicDims())
    return r.Reshape(i->operand(0), i->shape());
  const WithoutOnes kept(shape);
  if (!kept.changes() || i->shape().HasDynamicDims()) return nullptr;
  DimVector dims;
  for (int64_t d = 0; d < shape.rank(); ++d)
    if (kept.to[d] >= 0) dims.push_back(i->attr<BroadcastAttrs>().dimensions[d]);
  return r.Broadcast(HloWriter(r).Reshape(i->operand(0), kept.dims), i->shape(), std::move(dims));
}

// Of a reshape that only adds dimensions of size one, some of which may be reduced.
Instruction* ReduceOfAddedOnes(Instruction* i, Rewriter& r) {
  const Instruction* const reshape = i->operand(0);
  if (i->operand_count() != 2 || !Is(reshape, Opcode::kReshape)) return nullptr;
  Instruction* const x = reshape->operand(0);
  if (x->shape().rank() >= reshape->shape().rank() || WithoutOnes(x->shape()).changes() ||
      !SameWithoutOnes(x->shape(), reshape->shape()) || i->shape().HasDynamicDims())
    return nullptr;
  const DimVector map = MapWithoutOnes(x->shape(), reshape->shape());
  DimVector dims, kept;
  for (int64_t d = 0; d < x->shape().rank(); ++d) {
    const bool reduced = Contains(i->attr<DimensionsAttrs>().dimensions, map[d]);
    if (reduced) dims.push_back(d);
    if (!reduced) kept.push_back(x->shape().dims[d]);
  }
  if (dims.empty()) return nullptr;
  Instruction* const sum = r.Clone(i, RowMajor(i->shape().type, kept), {x, i->operand(1)});
  sum->mutable_attr<DimensionsAttrs>().dimensions = std::move(dims);
  return r.Reshape(sum, i->shape());
}

constexpr Rule kOnesRules[] = {
    {"dot-without-ones", Opcode::kDot, DotWithoutOnes},
    {"broadcast-without-ones", Opcode::kBroadcast, BroadcastWithoutOnes},
    {"reduce-of-added-ones", Opcode::kReduce, ReduceOfAddedOnes},
};

}  // namespace

absl::Span<const Rule> OnesRules() { return kOnesRules; }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
