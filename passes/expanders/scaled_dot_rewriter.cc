// scaled-dot-rewriter: rewrites scaled-dot as a plain dot of the scaled operands.
// scaled-dot becomes a dot of its operands, each multiplied by its scales spread over their blocks,
// in f32 (f64 where the result is). Equal up to rounding. Operands of dynamic size stay. Cost:
// linear in the operands, besides the dot.
//   scaled-dot(a, b, s, t)  ->  dot(a * broadcast(s), b * broadcast(t))
#include "passes/framework/pass.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/hlo_writer.h"

namespace hlokit {
namespace {

// Each scale as often as its block is long: scale dimension d becomes d of the blocks and one of
// the places in a block, which a reshape joins.
Instruction* Spread(HloWriter& w, Instruction* scale, absl::Span<const int64_t> dims) {
  if (scale->shape().IsScalar()) return w.Broadcast(scale, dims, {});
  DimVector blocks, where;
  for (size_t d = 0; d < dims.size(); ++d) {
    where.push_back(static_cast<int64_t>(blocks.size()));
    blocks.push_back(scale->shape().dims[d]);
    blocks.push_back(dims[d] / scale->shape().dims[d]);
  }
  return w.Reshape(w.Broadcast(scale, blocks, where), dims);
}

Instruction* Scaled(HloWriter& w, Instruction* x, Instruction* scale, ElementType type) {
  Instruction* spread = Spread(w, w.Convert(scale, type), x->shape().dims);
  return w.Binary(Opcode::kMultiply, w.Convert(x, type), spread);
}

bool IsStatic(const Instruction* i) {
  for (const Instruction* operand : i->operands())
    if (operand->shape().HasDynamicDims()) return false;
  return true;
}

absl::StatusOr<Instruction*> RewriteScaledDot(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kScaledDot || !IsStatic(i)) return nullptr;
  HloWriter w(r);
  const ElementType type =
      i->shape().type == ElementType::kF64 ? ElementType::kF64 : ElementType::kF32;
  Instruction* lhs = Scaled(w, i->operand(0), i->operand(2), type);
  Instruction* rhs = Scaled(w, i->operand(1), i->operand(3), type);
  Instruction* dot =
      r.Add(Opcode::kDot, i->shape().WithType(type), {lhs, rhs}, i->attr<DotAttrs>());
  return w.Convert(dot, i->shape().type);
}

}  // namespace

std::unique_ptr<Pass> CreateScaledDotRewriter() {
  return MakeExpander("scaled-dot-rewriter", RewriteScaledDot);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
