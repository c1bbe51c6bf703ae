// Rules of slices and updates at computed places, gathers and scatters.
#include "passes/simplify/rule.h"

namespace hlokit {
namespace {

bool Is(const Instruction* i, Opcode opcode) { return i->opcode() == opcode; }

bool SamePlaces(const Instruction* slice, const Instruction* update) {
  if (slice->operand_count() + 1 != update->operand_count()) return false;
  for (int64_t k = 1; k < slice->operand_count(); ++k)
    if (slice->operand(k) != update->operand(k + 1)) return false;
  return true;
}

// The window that has just been written.
Instruction* SliceOfUpdate(Instruction* i, Rewriter&) {
  const Instruction* update = i->operand(0);
  return Is(update, Opcode::kDynamicUpdateSlice) && SamePlaces(i, update) &&
                 update->operand(1)->shape().dims == i->shape().dims
             ? update->operand(1)
             : nullptr;
}

// What is written is what stood there.
Instruction* UpdateOfOwnSlice(Instruction* i, Rewriter&) {
  const Instruction* slice = i->operand(1);
  return Is(slice, Opcode::kDynamicSlice) && slice->operand(0) == i->operand(0) &&
                 SamePlaces(slice, i)
             ? i->operand(0)
             : nullptr;
}

Instruction* UpdateOfNothing(Instruction* i, Rewriter&) {
  return i->operand(1)->shape().ElementCount() == 0 ? i->operand(0) : nullptr;
}

// An update of the very window that the one before wrote.
Instruction* UpdateOfUpdate(Instruction* i, Rewriter& r) {
  const Instruction* inner = i->operand(0);
  if (!Is(inner, Opcode::kDynamicUpdateSlice) ||
      inner->operand(1)->shape().dims != i->operand(1)->shape().dims)
    return nullptr;
  for (int64_t k = 2; k < i->operand_count(); ++k)
    if (inner->operand(k) != i->operand(k)) return nullptr;
  std::vector<Instruction*> operands(i->operands().begin(), i->operands().end());
  operands[0] = inner->operand(0);
  return r.Clone(i, i->shape(), operands);
}

Instruction* GatherOfSplat(Instruction* i, Rewriter& r) {
  const Instruction* x = i->operand(0);
  if (!Is(x, Opcode::kBroadcast) || !x->operand(0)->shape().IsScalar()) return nullptr;
  return r.Broadcast(x->operand(0), i->shape(), {});
}

Instruction* ScatterOfNothing(Instruction* i, Rewriter&) {
  return i->operand_count() == 3 && i->operand(2)->shape().ElementCount() == 0 ? i->operand(0)
                                                                               : nullptr;
}

constexpr Rule kRules[] = {
    {"dynamic-slice-of-update", Opcode::kDynamicSlice, SliceOfUpdate},
    {"update-of-own-slice", Opcode::kDynamicUpdateSlice, UpdateOfOwnSlice},
    {"update-of-nothing", Opcode::kDynamicUpdateSlice, UpdateOfNothing},
    {"update-of-update", Opcode::kDynamicUpdateSlice, UpdateOfUpdate},
    {"gather-of-splat", Opcode::kGather, GatherOfSplat},
    {"scatter-of-nothing", Opcode::kScatter, ScatterOfNothing},
};

}  // namespace

absl::Span<const Rule> UpdateRules() { return kRules; }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
