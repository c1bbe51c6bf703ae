// map-inline: inlines map into the elementwise operations of its computation.
// Matches map whose function consists of elementwise operations and constants; leaves those
// operations on whole arrays. Cost: linear.
//   map(x, y), to_apply={add(mul(a, b), a)}  ->  add(mul(x, y), x)
#include "absl/container/flat_hash_map.h"
#include "passes/framework/pass.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/matchers.h"

namespace hlokit {
namespace {

bool AppliesToArrays(const Computation& f) {
  for (const Instruction* i : f.Instructions()) {
    if (!i->shape().IsScalar() || i->opcode() == Opcode::kCopy) return false;
    if (i->IsParameter()) continue;
    if (i->IsConstant() ? i->literal() == nullptr : !HasTrait(i->opcode(), kElementwise))
      return false;
  }
  return true;
}

absl::StatusOr<Instruction*> Inline(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kMap || i->shape().HasDynamicDims() ||
      !AppliesToArrays(*i->to_apply()))
    return nullptr;
  absl::flat_hash_map<const Instruction*, Instruction*> map;
  std::vector<Instruction*> operands;
  for (const Instruction* x : i->to_apply()->PostOrder()) {
    const Shape shape = i->shape().WithType(x->shape().type);
    if (x->IsParameter()) {
      map[x] = i->operand(x->parameter_number());
    } else if (x->IsConstant()) {
      map[x] = r.Fill(shape, *x->literal());
    } else {
      operands.clear();
      for (const Instruction* operand : x->operands()) operands.push_back(map.at(operand));
      map[x] = r.Clone(x, shape, operands);
    }
  }
  Instruction* made = map.at(i->to_apply()->root());
  return SameShape(made->shape(), i->shape()) ? made : nullptr;
}

}  // namespace

std::unique_ptr<Pass> CreateMapInline() { return MakeExpander("map-inline", Inline); }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
