// reduce-decomposer: moves layout changes of reduces into copies.
// A reduce into a layout other than the operand's, its reduced dimensions left out, becomes a
// reduce into that one and a copy. Exact. Cost: linear.
#include "ops/dim_lists.h"
#include "passes/framework/pass.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/hlo_writer.h"
#include "passes/rewrite/matchers.h"

namespace hlokit {
namespace {

// The operand's order of the dimensions that are left.
Shape KeptOrder(const Shape& operand, const Shape& result, const DimVector& reduced) {
  DimVector order;
  for (int64_t d : operand.MinorToMajor()) {
    if (Contains(reduced, d)) continue;
    int64_t position = d;
    for (int64_t gone : reduced) position -= gone < d ? 1 : 0;
    order.push_back(position);
  }
  return Shape::ArrayWithLayout(result.type, result.dims, order);
}

Instruction* CopyTo(Instruction* x, const Shape& shape, Rewriter& r) {
  return SameShape(x->shape(), shape) ? x : r.Add(Opcode::kCopy, shape, {x});
}

absl::StatusOr<Instruction*> DecomposeReduce(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kReduce || i->shape().HasDynamicDims()) return nullptr;
  const Shape& operand = i->operand(0)->shape();
  const DimVector& reduced = i->attr<DimensionsAttrs>().dimensions;
  HloWriter w(r);
  if (i->shape().IsArray()) {
    const Shape kept = KeptOrder(operand, i->shape(), reduced);
    if (kept.MinorToMajor() == i->shape().MinorToMajor()) return nullptr;
    const std::vector<Instruction*> operands(i->operands().begin(), i->operands().end());
    return CopyTo(r.Clone(i, kept, operands), i->shape(), r);
  }
  std::vector<Shape> shapes;
  bool differs = false;
  for (const Shape& part : i->shape().elements) {
    shapes.push_back(KeptOrder(operand, part, reduced));
    differs |= shapes.back().MinorToMajor() != part.MinorToMajor();
  }
  if (!differs) return nullptr;
  const std::vector<Instruction*> operands(i->operands().begin(), i->operands().end());
  Instruction* reduce = r.Clone(i, Shape::Tuple(shapes), operands);
  std::vector<Instruction*> parts;
  for (size_t k = 0; k < shapes.size(); ++k)
    parts.push_back(CopyTo(w.Part(reduce, k), i->shape().elements[k], r));
  return w.Tuple(parts);
}

}  // namespace

std::unique_ptr<Pass> CreateReduceDecomposer() {
  return MakeExpander("reduce-decomposer", DecomposeReduce);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
