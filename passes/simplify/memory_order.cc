// Rules that hold once layouts are fixed (algsimp{layout-sensitive}): a reshape or transpose that
// leaves all elements at their place in memory becomes a bitcast.
#include "analysis/in_place.h"
#include "passes/simplify/rule.h"

namespace hlokit {
namespace {

Instruction* AsBitcast(Instruction* i, Rewriter& r) {
  if (i->operand(0)->shape().type != i->shape().type || !IsPassThrough(*i)) return nullptr;
  return r.Add(Opcode::kBitcast, i->shape(), {i->operand(0)});
}

constexpr Rule kRules[] = {
    {"reshape-as-bitcast", Opcode::kReshape, AsBitcast},
    {"transpose-as-bitcast", Opcode::kTranspose, AsBitcast},
};

}  // namespace

absl::Span<const Rule> LayoutRules() { return kRules; }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
