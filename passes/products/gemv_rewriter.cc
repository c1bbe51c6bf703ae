// gemv-rewriter: rewrites matrix-vector dots as matrix-matrix dots with one row or column.
// Matches dots one of whose operands has only batch and contracted dimensions (and the other one
// more dimension). Leaves a dot with a dimension of size one in its place, and reshapes around it.
// Cost: linear.
//   dot f32[8,4] f32[4]  ->  dot f32[8,4] f32[4,1], reshape
#include "passes/framework/pass.h"
#include "passes/rewrite/expander.h"

namespace hlokit {
namespace {

Instruction* WithColumn(Instruction* x, Rewriter& r) {
  Shape shape = x->shape().WithoutLayout();
  shape.dims.push_back(1);
  return r.Reshape(x, shape);
}

absl::StatusOr<Instruction*> Rewrite(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kDot || i->operand_count() != 2 || i->shape().HasDynamicDims())
    return nullptr;
  const DotAttrs& attrs = i->attr<DotAttrs>();
  const auto batch = static_cast<int64_t>(attrs.lhs_batch_dims.size());
  const auto taken = batch + static_cast<int64_t>(attrs.lhs_contracting_dims.size());
  Instruction *lhs = i->operand(0), *rhs = i->operand(1);
  const int64_t rows = lhs->shape().rank() - taken, columns = rhs->shape().rank() - taken;
  if (rows + columns != 1 || !lhs->shape().IsRowMajor() || !rhs->shape().IsRowMajor())
    return nullptr;
  Shape shape = i->shape().WithoutLayout();
  shape.dims.insert(shape.dims.begin() + batch + rows, 1);
  Instruction* dot = rows == 0 ? r.Clone(i, shape, {WithColumn(lhs, r), rhs})
                               : r.Clone(i, shape, {lhs, WithColumn(rhs, r)});
  return r.Reshape(dot, i->shape());
}

}  // namespace

std::unique_ptr<Pass> CreateGemvRewriter() { return MakeExpander("gemv-rewriter", Rewrite); }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
