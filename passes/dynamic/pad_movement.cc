// dynamic_padder's rules for operations that move elements: each computes at the bounds, and says
// what the result's sizes are.
//   slice(x[<=8], 2:6)    slice at the bounds; size clamp(n, 6) - 2, at least 0
//   concatenate(x, y)     y is written over what x leaves beyond its size; size n + m
//   reverse(x)            reversed at the bounds, then moved to the front by bound - n
// Elements beyond a size may hold anything, unless the operation brings them inside: then they are
// filled first (pad, updates).
#include <algorithm>

#include "passes/dynamic/dynamic_arrays_internal.h"
#include "passes/spmd/tilings.h"

namespace hlokit {
namespace {

using Sizes = DynamicArrays::Sizes;

void PadSetSize(DynamicArrays& a, Instruction* i) {
  const int64_t d = i->attr<DimensionsAttrs>().dimensions[0];
  Sizes sizes = a.SizesOf(i->operand(0));
  sizes[d] = i->shape().IsDynamic(d) ? a.Padded(i->operand(1)) : nullptr;
  a.Note(i, a.Padded(i->operand(0)), std::move(sizes));
}

void PadGetSize(DynamicArrays& a, Instruction* i) {
  a.Note(i, a.SizeOf(i->operand(0), i->attr<DimensionsAttrs>().dimensions[0]), {});
}

// Each part over what the one before it leaves beyond its size.
void PadConcatenate(DynamicArrays& a, Instruction* i) {
  const int64_t dim = i->attr<DimensionsAttrs>().dimensions[0];
  if (!i->shape().IsDynamic(dim)) return a.NoteAlong(i, a.CloneAtBounds(i));
  const Shape whole = AtBounds(i->shape());
  Instruction* zero = a.Int(0);
  Instruction* joined = a.w().FillInteger(whole, 0);
  Instruction* start = zero;
  for (Instruction* x : i->operands()) {
    std::vector<Instruction*> at(whole.rank(), zero);
    at[dim] = start;
    joined = a.w().DynamicUpdateSlice(joined, a.Padded(x), at);
    start = a.w().Binary(Opcode::kAdd, start, a.SizeOf(x, dim));
  }
  a.NoteAlong(i, joined);
  Sizes sizes = a.SizesOf(i);
  sizes[dim] = start;
  a.Note(i, joined, std::move(sizes));
}

bool CanUpdate(const Instruction& i) {
  return std::none_of(i.operands().begin() + 2, i.operands().end(),
                      [](const Instruction* start) { return IsDynamicArray(start->shape()); });
}

// What lies beyond the sizes of the update stays as it was. Where the update is as long as the
// result, its size is the result's.
void PadUpdate(DynamicArrays& a, Instruction* i) {
  Instruction* update = i->operand(1);
  std::vector<Instruction*> operands = a.PaddedOperands(i);
  if (IsDynamicArray(update->shape())) {
    const absl::Span<Instruction* const> starts = absl::MakeConstSpan(operands).subspan(2);
    Instruction* before = a.w().DynamicSlice(operands[0], starts, update->shape().dims);
    operands[1] = a.Filled(update, before, [](int64_t) { return true; });
  }
  Sizes sizes = a.SizesOf(i->operand(0));
  const Sizes own = a.SizesOf(update);
  for (int d = 0; d < i->shape().rank(); ++d) {
    const bool whole = update->shape().dims[d] == i->shape().dims[d];
    if (whole && own[d] != nullptr && i->shape().IsDynamic(d)) sizes[d] = own[d];
  }
  a.Note(i, a.rewriter().Clone(i, AtBounds(i->shape()), operands), std::move(sizes));
}

void PadSlice(DynamicArrays& a, Instruction* i) {
  Instruction* x = i->operand(0);
  const SliceSpec& slice = i->attr<SliceAttrs>().slice;
  const Sizes own = a.SizesOf(x);
  Sizes sizes(slice.size(), nullptr);
  for (size_t d = 0; d < slice.size(); ++d) {
    if (own[d] == nullptr || !i->shape().IsDynamic(d)) continue;
    const SliceDim& s = slice[d];
    Instruction* kept = a.Plus(a.AtMost(own[d], s.limit), s.stride - 1 - s.start);
    sizes[d] = a.AtLeast(a.Over(kept, s.stride), 0);
  }
  a.Note(i, a.CloneAtBounds(i), std::move(sizes));
}

// Starts are clamped by bounds; a whole dimension keeps its size.
void PadDynamicSlice(DynamicArrays& a, Instruction* i) {
  Instruction* x = i->operand(0);
  Sizes sizes = a.SizesOf(x);
  for (int d = 0; d < i->shape().rank(); ++d)
    if (!i->shape().IsDynamic(d) || i->shape().dims[d] != x->shape().dims[d]) sizes[d] = nullptr;
  a.Note(i, a.CloneAtBounds(i), std::move(sizes));
}

void PadPad(DynamicArrays& a, Instruction* i) {
  Instruction* x = i->operand(0);
  const PaddingConfig& padding = i->attr<PadAttrs>().padding;
  const Sizes own = a.SizesOf(x);
  Instruction* value = a.Padded(i->operand(1));
  Instruction* filled = a.Filled(x, value, [&](int64_t d) { return padding[d].high > 0; });
  Sizes sizes(padding.size(), nullptr);
  for (size_t d = 0; d < padding.size(); ++d) {
    if (own[d] == nullptr) continue;
    const PaddingDim& p = padding[d];
    Instruction* size = a.Plus(own[d], p.low + p.high);
    if (p.interior > 0)
      size =
          a.w().Binary(Opcode::kAdd, size, a.Times(a.AtLeast(a.Plus(own[d], -1), 0), p.interior));
    sizes[d] = a.AtLeast(size, 0);
  }
  a.Note(i, a.rewriter().Clone(i, AtBounds(i->shape()), {filled, value}), std::move(sizes));
}

// Reversed at the bounds; then what was beyond the size stands in front, and is skipped.
void PadReverse(DynamicArrays& a, Instruction* i) {
  Instruction* x = i->operand(0);
  Instruction* turned = a.CloneAtBounds(i);
  const Sizes sizes = a.SizesOf(x);
  for (int64_t d : i->attr<DimensionsAttrs>().dimensions) {
    if (sizes[d] == nullptr) continue;
    const Shape shape = turned->shape();
    const int64_t bound = shape.dims[d];
    PaddingConfig padding(shape.rank());
    padding[d].high = bound;
    Instruction* longer = a.w().Pad(turned, a.w().Integer(shape.type, 0), padding);
    std::vector<Instruction*> starts(shape.rank(), a.Int(0));
    starts[d] = a.w().Binary(Opcode::kSubtract, a.Int(bound), sizes[d]);
    turned = a.w().DynamicSlice(longer, starts, shape.dims);
  }
  a.Note(i, turned, sizes);
}

constexpr PadRule kPadMovementRules[] = {
    {Opcode::kConcatenate, Always, PadConcatenate},
    {Opcode::kDynamicSlice, Always, PadDynamicSlice},
    {Opcode::kDynamicUpdateSlice, CanUpdate, PadUpdate},
    {Opcode::kGetDimensionSize, Always, PadGetSize},
    {Opcode::kMap, Always, PadElementwise},
    {Opcode::kPad, Always, PadPad},
    {Opcode::kReverse, Always, PadReverse},
    {Opcode::kSetDimensionSize, Always, PadSetSize},
    {Opcode::kSlice, Always, PadSlice},
};

}  // namespace

absl::Span<const PadRule> PadMovementRules() { return kPadMovementRules; }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
