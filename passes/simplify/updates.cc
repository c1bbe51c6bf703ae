// Rules of slices and updates at computed places, gathers and scatters.
//   dynamic-slice(dynamic-update-slice(x, u, i), i)   ->   u        where the sizes are equal
//   dynamic-update-slice(x, dynamic-slice(x, i), i)   ->   x
//   add(x, scatter-add(0, i, u))                      ->   scatter-add(x, i, u)   of integers
// Places are equal where they are the same instructions: start indices are clamped alike then.
#include <algorithm>

#include "ops/dim_lists.h"
#include "passes/simplify/facts.h"
#include "passes/simplify/rule.h"

namespace hlokit {
namespace {

// The start indices of both are the same instructions.
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

// dynamic-update-slice of an update without elements -> the operand.
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

// An update of equal elements at a known place is padding.
Instruction* UpdateOfSplat(Instruction* i, Rewriter& r) {
  Instruction *whole = i->operand(0), *update = i->operand(1);
  if (!Is(whole, Opcode::kBroadcast) || !whole->operand(0)->shape().IsScalar() ||
      i->operand_count() != 2 + i->shape().rank() || i->shape().HasDynamicDims() ||
      !i->shape().IsRowMajor())
    return nullptr;
  PaddingConfig padding;
  for (int64_t d = 0; d < i->shape().rank(); ++d) {
    const std::optional<int64_t> start = IntegerSplat(i->operand(2 + d));
    if (!start) return nullptr;
    const int64_t slack = i->shape().dims[d] - update->shape().dims[d];
    const bool huge = *start < 0 && IsUnsigned(i->operand(2 + d)->shape().type);
    PaddingDim& pad = padding.emplace_back();
    pad.low = huge ? slack : std::clamp<int64_t>(*start, 0, slack);
    pad.high = slack - pad.low;
  }
  return r.Add(Opcode::kPad, i->shape(), {update, whole->operand(0)}, PadAttrs{std::move(padding)});
}

}  // namespace

Instruction* AddUpdateOfZeros(Instruction* i, Rewriter& r) {
  for (int k : {0, 1}) {
    const Instruction* update = i->operand(k);
    Instruction* x = i->operand(1 - k);
    if (!Is(update, Opcode::kDynamicUpdateSlice) || update->users().size() != 1 ||
        !IsSplat(update->operand(0), 0) || !i->shape().IsRowMajor() ||
        update->operand_count() != 2 + i->shape().rank())
      continue;
    std::vector<Instruction*> operands = {x};
    operands.insert(operands.end(), update->operands().begin() + 2, update->operands().end());
    const Shape& part = update->operand(1)->shape();
    Instruction* old = r.Add(Opcode::kDynamicSlice, part, operands, DynamicSliceAttrs{part.dims});
    operands.insert(operands.begin() + 1, r.Add(Opcode::kAdd, part, {old, update->operand(1)}));
    return r.Clone(update, i->shape(), operands);
  }
  return nullptr;
}

namespace {

// Whether the computation is add(a, b) of its two parameters.
bool Adds(const Computation& f) {
  const Instruction* root = f.root();
  return f.parameter_count() == 2 && Is(root, Opcode::kAdd) && root->operand(0)->IsParameter() &&
         root->operand(1)->IsParameter() && root->operand(0) != root->operand(1);
}

}  // namespace

// add(x, scatter-add(zeros, i, u)) -> scatter-add(x, i, u). The order of additions changes, so that
// only integers do it.
Instruction* AddScatterToZeros(Instruction* i, Rewriter& r) {
  for (int k : {0, 1}) {
    const Instruction* scatter = i->operand(k);
    if (!Is(scatter, Opcode::kScatter) || scatter->operand_count() != 3 || scatter->IsRoot() ||
        scatter->users().size() != 1 || !IsSplat(scatter->operand(0), 0) ||
        !Adds(*scatter->to_apply()))
      continue;
    return r.Clone(scatter, i->shape(),
                   {i->operand(1 - k), scatter->operand(1), scatter->operand(2)});
  }
  return nullptr;
}

namespace {

Instruction* AddScatterToIntegerZeros(Instruction* i, Rewriter& r) {
  return IsInteger(i->shape().type) ? AddScatterToZeros(i, r) : nullptr;
}

Instruction* AddUpdateOfIntegerZeros(Instruction* i, Rewriter& r) {
  return IsInteger(i->shape().type) ? AddUpdateOfZeros(i, r) : nullptr;
}

// A slice of what is transposed for it alone is taken before.
Instruction* DynamicSliceOfTranspose(Instruction* i, Rewriter& r) {
  const Instruction* transpose = i->operand(0);
  if (!Is(transpose, Opcode::kTranspose) || transpose->users().size() != 1 || transpose->IsRoot() ||
      i->operand_count() != 1 + i->shape().rank() || !i->shape().IsRowMajor() ||
      !transpose->operand(0)->shape().IsRowMajor())
    return nullptr;
  const DimVector& order = transpose->attr<DimensionsAttrs>().dimensions;
  std::vector<Instruction*> operands(i->operands().begin(), i->operands().end());
  operands[0] = transpose->operand(0);
  Shape shape = i->shape();
  for (size_t d = 0; d < order.size(); ++d) {
    operands[1 + order[d]] = i->operand(1 + static_cast<int64_t>(d));
    shape.dims[order[d]] = i->shape().dims[d];
  }
  Instruction* slice = r.Add(Opcode::kDynamicSlice, shape, operands, DynamicSliceAttrs{shape.dims});
  return r.Clone(transpose, i->shape(), {slice});
}

// The update that a select between it and what it updates takes or leaves as a whole.
struct Chosen {
  Instruction *update = nullptr, *predicate = nullptr;  // one truth for all elements
  bool on_true = true;
};

Chosen ChosenUpdate(const Instruction* select, Opcode opcode) {
  Instruction* predicate = select->operand(0);
  if (Is(predicate, Opcode::kBroadcast)) predicate = predicate->operand(0);
  if (!predicate->shape().IsScalar()) return {};
  for (int k : {1, 2}) {
    Instruction* update = select->operand(k);
    if (Is(update, opcode) && update->users().size() == 1 && !update->IsRoot() &&
        update->operand(0) == select->operand(3 - k) && update->shape() == select->shape())
      return {update, predicate, k == 1};
  }
  return {};
}

Instruction* Select(const Chosen& chosen, Instruction* updated, Instruction* kept, Rewriter& r) {
  if (!chosen.on_true) std::swap(updated, kept);
  Shape preds = updated->shape();
  preds.type = ElementType::kPred;
  return r.Add(Opcode::kSelect, updated->shape(),
               {r.Broadcast(chosen.predicate, preds, {}), updated, kept});
}

// An update that may not be wanted writes what was there instead.
Instruction* SelectOfUpdate(Instruction* i, Rewriter& r) {
  const Chosen chosen = ChosenUpdate(i, Opcode::kDynamicUpdateSlice);
  if (chosen.update == nullptr || chosen.update->shape().HasDynamicDims()) return nullptr;
  Instruction* part = chosen.update->operand(1);
  if (2 * part->shape().ElementCount() > i->shape().ElementCount()) return nullptr;
  std::vector<Instruction*> operands(chosen.update->operands().begin(),
                                     chosen.update->operands().end());
  operands.erase(operands.begin() + 1);
  Instruction* old =
      r.Add(Opcode::kDynamicSlice, part->shape(), operands, DynamicSliceAttrs{part->shape().dims});
  operands.insert(operands.begin() + 1, Select(chosen, part, old, r));
  return r.Clone(chosen.update, i->shape(), operands);
}

// A scatter that may not be wanted writes nowhere instead.
Instruction* SelectOfScatter(Instruction* i, Rewriter& r) {
  const Chosen chosen = ChosenUpdate(i, Opcode::kScatter);
  if (chosen.update == nullptr || chosen.update->operand_count() != 3) return nullptr;
  Instruction* indices = chosen.update->operand(1);
  const int64_t count = indices->shape().ElementCount();
  if (!IsSigned(indices->shape().type) || count == 0 || 2 * count > i->shape().ElementCount() ||
      indices->shape().HasDynamicDims())
    return nullptr;
  Instruction* nowhere = r.Splat(indices->shape(), -1);
  return r.Clone(chosen.update, i->shape(),
                 {i->operand(chosen.on_true ? 2 : 1), Select(chosen, indices, nowhere, r),
                  chosen.update->operand(2)});
}

// gather(broadcast(c), indices) -> broadcast(c): start indices are clamped, so that each element
// read exists.
Instruction* GatherOfSplat(Instruction* i, Rewriter& r) {
  const Instruction* x = i->operand(0);
  // Slices without elements are no part of the operand: what the result has are zeros.
  if (Contains(i->attr<GatherAttrs>().slice_sizes, 0)) return nullptr;
  if (!Is(x, Opcode::kBroadcast) || !x->operand(0)->shape().IsScalar()) return nullptr;
  return r.Broadcast(x->operand(0), i->shape(), {});
}

// scatter without updates -> the operand.
Instruction* ScatterOfNothing(Instruction* i, Rewriter&) {
  return i->operand_count() == 3 && i->operand(2)->shape().ElementCount() == 0 ? i->operand(0)
                                                                               : nullptr;
}

constexpr Rule kUpdateRules[] = {
    {"dynamic-slice-of-update", Opcode::kDynamicSlice, SliceOfUpdate},
    {"update-of-own-slice", Opcode::kDynamicUpdateSlice, UpdateOfOwnSlice},
    {"update-of-nothing", Opcode::kDynamicUpdateSlice, UpdateOfNothing},
    {"update-of-update", Opcode::kDynamicUpdateSlice, UpdateOfUpdate},
    {"update-of-splat", Opcode::kDynamicUpdateSlice, UpdateOfSplat},
    {"add-update-of-zeros", Opcode::kAdd, AddUpdateOfIntegerZeros},
    {"add-scatter-to-zeros", Opcode::kAdd, AddScatterToIntegerZeros},
    {"dynamic-slice-of-transpose", Opcode::kDynamicSlice, DynamicSliceOfTranspose},
    {"select-of-update", Opcode::kSelect, SelectOfUpdate},
    {"select-of-scatter", Opcode::kSelect, SelectOfScatter},
    {"gather-of-splat", Opcode::kGather, GatherOfSplat},
    {"scatter-of-nothing", Opcode::kScatter, ScatterOfNothing},
};

}  // namespace

absl::Span<const Rule> UpdateRules() { return kUpdateRules; }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
