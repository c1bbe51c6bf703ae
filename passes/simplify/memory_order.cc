// Rules that hold once layouts are fixed (algsimp{layout-sensitive}): a reshape or transpose that
// leaves all elements at their place in memory becomes a bitcast, a wanted order a copy or nothing.
#include <algorithm>

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

// The permutation by which a bitcast is the transpose that moves nothing: dimension d of the result
// is dimension permutation[d] of the operand. Empty where it is none.
DimVector BitcastAsPermutation(const Shape& from, const Shape& to) {
  const auto a = from.MinorToMajor(), b = to.MinorToMajor();
  if (from.type != to.type || from.rank() != to.rank()) return {};
  DimVector permutation(to.rank());
  for (size_t k = 0; k < a.size(); ++k) {
    if (from.dims[a[k]] != to.dims[b[k]]) return {};
    permutation[b[k]] = a[k];
  }
  return permutation;
}

// A bitcast that is a transpose of a broadcast is another broadcast.
Instruction* BitcastOfBroadcast(Instruction* i, Rewriter& r) {
  const Instruction* broadcast = i->operand(0);
  if (broadcast->opcode() != Opcode::kBroadcast || broadcast->shape().layout.extras != nullptr ||
      i->shape().layout.extras != nullptr)
    return nullptr;
  const DimVector permutation = BitcastAsPermutation(broadcast->shape(), i->shape());
  if (permutation.empty()) return nullptr;
  DimVector dims;
  for (const int64_t d : broadcast->attr<BroadcastAttrs>().dimensions)
    for (size_t k = 0; k < permutation.size(); ++k)
      if (permutation[k] == d) dims.push_back(static_cast<int64_t>(k));
  if (!std::is_sorted(dims.begin(), dims.end())) return nullptr;
  return r.Broadcast(broadcast->operand(0), i->shape(), dims);
}

constexpr Rule kLayoutRules[] = {
    {"bitcast-of-broadcast", Opcode::kBitcast, BitcastOfBroadcast},
    {"reshape-as-bitcast", Opcode::kReshape, AsBitcast},
    {"transpose-as-bitcast", Opcode::kTranspose, AsBitcast},
    {"layout-constraint", Opcode::kCustomCall, LayoutConstraint},
};

}  // namespace

absl::Span<const Rule> LayoutRules() { return kLayoutRules; }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
