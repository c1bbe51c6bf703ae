// Rules of slices, pads, concatenations, reverses and updates.
//   slice(slice(x)) -> slice(x)          slice(concatenate(a, b)) -> slice(a), if it lies within a
//   pad by 0 -> x                        pad by negative amounts -> slice
//   concatenate(a, concatenate(b, c)) -> concatenate(a, b, c)
//   dynamic-slice with constant starts -> slice, the starts clamped as at run time
#include <algorithm>

#include "passes/simplify/rule.h"

namespace hlokit {
namespace {

bool SliceIsWhole(const Instruction* i) {
  const SliceSpec& slice = i->attr<SliceAttrs>().slice;
  for (size_t d = 0; d < slice.size(); ++d)
    if (slice[d].start != 0 || slice[d].stride != 1 ||
        slice[d].limit != i->operand(0)->shape().dims[d])
      return false;
  return true;
}

Instruction* SliceSame(Instruction* i, Rewriter&) {
  return SliceIsWhole(i) ? i->operand(0) : nullptr;
}

Instruction* SliceOfSlice(Instruction* i, Rewriter& r) {
  const Instruction* inner = i->operand(0);
  if (inner->opcode() != Opcode::kSlice) return nullptr;
  SliceSpec slice = i->attr<SliceAttrs>().slice;
  for (size_t d = 0; d < slice.size(); ++d) {
    const SliceDim& in = inner->attr<SliceAttrs>().slice[d];
    const int64_t count = i->shape().dims[d];
    if (count == 0) return nullptr;
    slice[d].start = in.start + slice[d].start * in.stride;
    slice[d].stride *= in.stride;
    slice[d].limit = slice[d].start + (count - 1) * slice[d].stride + 1;
  }
  return r.Add(Opcode::kSlice, i->shape(), {inner->operand(0)}, SliceAttrs{std::move(slice)});
}

// Slices and dynamic slices of a broadcast that leave the dimensions of what is broadcast whole.
Instruction* SliceOfBroadcast(Instruction* i, Rewriter& r) {
  const Instruction* broadcast = i->operand(0);
  if (broadcast->opcode() != Opcode::kBroadcast) return nullptr;
  const DimVector& dims = broadcast->attr<BroadcastAttrs>().dimensions;
  for (int64_t d : dims)
    if (i->shape().dims[d] != broadcast->shape().dims[d]) return nullptr;
  if (i->opcode() == Opcode::kSlice)
    for (int64_t d : dims)
      if (i->attr<SliceAttrs>().slice[d].stride != 1) return nullptr;
  return r.Broadcast(broadcast->operand(0), i->shape(), dims);
}

// A slice that lies within one operand of a concatenation.
Instruction* SliceOfConcatenate(Instruction* i, Rewriter& r) {
  const Instruction* whole = i->operand(0);
  if (whole->opcode() != Opcode::kConcatenate) return nullptr;
  const int64_t d = whole->attr<DimensionsAttrs>().dimensions[0];
  SliceSpec slice = i->attr<SliceAttrs>().slice;
  int64_t begin = 0;
  for (Instruction* part : whole->operands()) {
    const int64_t end = begin + part->shape().dims[d];
    if (slice[d].start >= begin && slice[d].limit <= end && slice[d].start < end) {
      slice[d].start -= begin;
      slice[d].limit -= begin;
      return r.Add(Opcode::kSlice, i->shape(), {part}, SliceAttrs{std::move(slice)});
    }
    begin = end;
  }
  return nullptr;
}

Instruction* PadNothing(Instruction* i, Rewriter&) {
  for (const PaddingDim& p : i->attr<PadAttrs>().padding)
    if (p.low != 0 || p.high != 0 || p.interior != 0) return nullptr;
  return i->operand(0);
}

// A padding that only crops.
Instruction* PadAsSlice(Instruction* i, Rewriter& r) {
  SliceSpec slice;
  const Shape& from = i->operand(0)->shape();
  const PaddingConfig& padding = i->attr<PadAttrs>().padding;
  for (size_t d = 0; d < padding.size(); ++d) {
    if (padding[d].low > 0 || padding[d].high > 0 || padding[d].interior != 0 ||
        i->shape().dims[d] == 0)
      return nullptr;
    slice.push_back({-padding[d].low, from.dims[d] + padding[d].high, 1});
  }
  return r.Add(Opcode::kSlice, i->shape(), {i->operand(0)}, SliceAttrs{std::move(slice)});
}

// The padding value everywhere.
Instruction* PadOfSplat(Instruction* i, Rewriter& r) {
  const Literal* inside = SplatValue(i->operand(0));
  const Literal* value = SplatValue(i->operand(1));
  if (inside == nullptr || value == nullptr || !(*inside == *value)) return nullptr;
  return r.Broadcast(i->operand(1), i->shape(), {});
}

Instruction* ConcatenateOne(Instruction* i, Rewriter&) {
  return i->operand_count() == 1 ? i->operand(0) : nullptr;
}

Instruction* ConcatenateEmpty(Instruction* i, Rewriter& r) {
  std::vector<Instruction*> parts;
  const int64_t d = i->attr<DimensionsAttrs>().dimensions[0];
  for (Instruction* part : i->operands())
    if (part->shape().dims[d] != 0) parts.push_back(part);
  if (parts.empty() || static_cast<int64_t>(parts.size()) == i->operand_count()) return nullptr;
  return r.Clone(i, i->shape(), parts);
}

// concatenate(a, concatenate(b, c)) along one dimension, the inner one used here only.
Instruction* ConcatenateFlat(Instruction* i, Rewriter& r) {
  std::vector<Instruction*> parts;
  for (Instruction* part : i->operands()) {
    const bool same = part->opcode() == Opcode::kConcatenate && part->users().size() == 1 &&
                      part->SameAttributes(*i);
    if (same) {
      parts.insert(parts.end(), part->operands().begin(), part->operands().end());
    } else {
      parts.push_back(part);
    }
  }
  if (static_cast<int64_t>(parts.size()) == i->operand_count()) return nullptr;
  return r.Clone(i, i->shape(), parts);
}

Instruction* ReverseNothing(Instruction* i, Rewriter&) {
  for (int64_t d : i->attr<DimensionsAttrs>().dimensions)
    if (i->shape().dims[d] > 1) return nullptr;
  return i->operand(0);
}

Instruction* DynamicSliceWhole(Instruction* i, Rewriter&) {
  return i->operand(0)->shape().dims == i->shape().dims ? i->operand(0) : nullptr;
}

// Constant starts make a plain slice; out of range ones are clamped as the op does.
Instruction* DynamicSliceConstant(Instruction* i, Rewriter& r) {
  const Shape& from = i->operand(0)->shape();
  if (i->operand_count() != from.rank() + 1) return nullptr;
  SliceSpec slice;
  for (int64_t d = 0; d < from.rank(); ++d) {
    const int64_t slack = from.dims[d] - i->shape().dims[d];
    int64_t start = 0;
    if (slack != 0) {
      const Literal* value =
          i->operand(d + 1)->IsConstant() ? i->operand(d + 1)->literal() : nullptr;
      if (value == nullptr || !i->operand(d + 1)->shape().IsScalar()) return nullptr;
      start = value->GetInt(0);
      const bool huge = value->type() == ElementType::kU64 && start < 0;
      start = huge ? slack : std::clamp<int64_t>(start, 0, slack);
    }
    slice.push_back({start, start + i->shape().dims[d], 1});
  }
  return r.Add(Opcode::kSlice, i->shape(), {i->operand(0)}, SliceAttrs{std::move(slice)});
}

Instruction* UpdateWhole(Instruction* i, Rewriter&) {
  return i->operand(1)->shape().dims == i->shape().dims ? i->operand(1) : nullptr;
}

constexpr Rule kMovementRules[] = {
    {"slice-same", Opcode::kSlice, SliceSame},
    {"slice-of-slice", Opcode::kSlice, SliceOfSlice},
    {"slice-of-broadcast", Opcode::kSlice, SliceOfBroadcast},
    {"slice-of-concatenate", Opcode::kSlice, SliceOfConcatenate},
    {"pad-nothing", Opcode::kPad, PadNothing},
    {"pad-as-slice", Opcode::kPad, PadAsSlice},
    {"pad-of-splat", Opcode::kPad, PadOfSplat},
    {"concatenate-one", Opcode::kConcatenate, ConcatenateOne},
    {"concatenate-empty", Opcode::kConcatenate, ConcatenateEmpty},
    {"concatenate-flat", Opcode::kConcatenate, ConcatenateFlat},
    {"reverse-nothing", Opcode::kReverse, ReverseNothing},
    {"dynamic-slice-whole", Opcode::kDynamicSlice, DynamicSliceWhole},
    {"dynamic-slice-constant", Opcode::kDynamicSlice, DynamicSliceConstant},
    {"dynamic-slice-of-broadcast", Opcode::kDynamicSlice, SliceOfBroadcast},
    {"update-whole", Opcode::kDynamicUpdateSlice, UpdateWhole},
};

}  // namespace

absl::Span<const Rule> MovementRules() { return kMovementRules; }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
