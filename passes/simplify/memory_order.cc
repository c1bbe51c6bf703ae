// Rules that hold once layouts are fixed (algsimp{layout-sensitive}): a reshape or transpose that
// leaves all elements at their place in memory becomes a bitcast, a wanted order a copy or nothing.
#include "analysis/in_place.h"
#include "passes/simplify/rule.h"

namespace hlokit {
namespace {

Instruction* AsBitcast(Instruction* i, Rewriter& r) {
  if (i->operand(0)->shape().type != i->shape().type || !IsPassThrough(*i)) return nullptr;
  return r.Add(Opcode::kBitcast, i->shape(), {i->operand(0)});
}

// What a caller wanted an order for has that order, or is copied to it.
Instruction* LayoutConstraint(Instruction* i, Rewriter& r) {
  if (i->attr<CustomCallAttrs>().target != "LayoutConstraint" || i->operand_count() != 1)
    return nullptr;
  Instruction* x = i->operand(0);
  if (!SameIgnoringLayout(x->shape(), i->shape())) return nullptr;
  return SameShape(x->shape(), i->shape()) ? x : r.Add(Opcode::kCopy, i->shape(), {x});
}

constexpr Rule kLayoutRules[] = {
    {"reshape-as-bitcast", Opcode::kReshape, AsBitcast},
    {"transpose-as-bitcast", Opcode::kTranspose, AsBitcast},
    {"layout-constraint", Opcode::kCustomCall, LayoutConstraint},
};

}  // namespace

absl::Span<const Rule> LayoutRules() { return kLayoutRules; }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
