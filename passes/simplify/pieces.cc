// Rules of arrays put together from pieces: concatenations, pads, reverses.
//   concatenate(x[0:3], x[3:5])   ->   x[0:5]
//   concatenate(x, broadcast(c))  ->   pad(x, c)
//   slice(pad(x, c)) inside of x  ->   slice(x)
// Exact. The table at the end names each rule.
#include <algorithm>

#include "ops/dim_lists.h"
#include "passes/simplify/facts.h"
#include "passes/simplify/rule.h"

namespace hlokit {
namespace {

// x[0:3] and x[3:5] along d -> x[0:5]; nothing if they are of two arrays or do not meet.
std::optional<SliceSpec> Joined(const Instruction* a, const Instruction* b, int64_t d) {
  if (!Is(a, Opcode::kSlice) || !Is(b, Opcode::kSlice) || a->operand(0) != b->operand(0))
    return std::nullopt;
  SliceSpec slice = a->attr<SliceAttrs>().slice;
  const SliceSpec& next = b->attr<SliceAttrs>().slice;
  for (size_t k = 0; k < slice.size(); ++k) {
    if (static_cast<int64_t>(k) == d) {
      if (slice[k].stride != 1 || next[k].stride != 1 || slice[k].limit != next[k].start)
        return std::nullopt;
    } else if (!(slice[k] == next[k])) {
      return std::nullopt;
    }
  }
  slice[d].limit = next[d].limit;
  return slice;
}

// concatenate(x[0:3], x[3:5], y) -> concatenate(x[0:5], y).
Instruction* ConcatenateSlices(Instruction* i, Rewriter& r) {
  const int64_t d = i->attr<DimensionsAttrs>().dimensions[0];
  std::vector<Instruction*> parts;
  for (Instruction* part : i->operands()) {
    const std::optional<SliceSpec> joined =
        parts.empty() ? std::nullopt : Joined(parts.back(), part, d);
    if (!joined) {
      parts.push_back(part);
      continue;
    }
    Shape shape = parts.back()->shape().WithoutLayout();
    shape.dims[d] += part->shape().dims[d];
    parts.back() = r.Add(Opcode::kSlice, shape, {part->operand(0)}, SliceAttrs{*joined});
  }
  if (static_cast<int64_t>(parts.size()) == i->operand_count()) return nullptr;
  return parts.size() == 1 ? parts[0] : r.Clone(i, i->shape(), parts);
}

// broadcast(c) of a scalar.
bool IsScalarBroadcast(const Instruction* i) {
  return Is(i, Opcode::kBroadcast) && i->operand(0)->shape().IsScalar();
}

// concatenate(broadcast(c), broadcast(c)) -> broadcast(c), larger.
Instruction* ConcatenateSplats(Instruction* i, Rewriter& r) {
  const int64_t d = i->attr<DimensionsAttrs>().dimensions[0];
  std::vector<Instruction*> parts;
  for (Instruction* part : i->operands()) {
    const bool joins = !parts.empty() && IsScalarBroadcast(part) &&
                       IsScalarBroadcast(parts.back()) &&
                       part->operand(0) == parts.back()->operand(0);
    if (!joins) {
      parts.push_back(part);
      continue;
    }
    Shape shape = parts.back()->shape().WithoutLayout();
    shape.dims[d] += part->shape().dims[d];
    parts.back() = r.Broadcast(part->operand(0), shape, {});
  }
  if (static_cast<int64_t>(parts.size()) == i->operand_count()) return nullptr;
  return parts.size() == 1 ? parts[0] : r.Clone(i, i->shape(), parts);
}

// concatenate(x, broadcast(c)) is pad(x, c).
Instruction* ConcatenateAsPad(Instruction* i, Rewriter& r) {
  if (i->operand_count() != 2) return nullptr;
  const int64_t d = i->attr<DimensionsAttrs>().dimensions[0];
  for (int k : {0, 1}) {
    const Instruction* rest = i->operand(k);
    Instruction* x = i->operand(1 - k);
    if (!IsScalarBroadcast(rest) || IsScalarBroadcast(x)) continue;
    PaddingConfig padding(i->shape().rank());
    (k == 0 ? padding[d].low : padding[d].high) = rest->shape().dims[d];
    return r.Add(Opcode::kPad, i->shape(), {x, rest->operand(0)}, PadAttrs{std::move(padding)});
  }
  return nullptr;
}

// pad(pad(x, c), c), neither between elements nor cropping what the other put on.
Instruction* PadOfPad(Instruction* i, Rewriter& r) {
  const Instruction* inner = i->operand(0);
  if (!Is(inner, Opcode::kPad) || inner->users().size() != 1) return nullptr;
  const Literal *a = SplatValue(i->operand(1)), *b = SplatValue(inner->operand(1));
  if (i->operand(1) != inner->operand(1) && (a == nullptr || b == nullptr || !(*a == *b)))
    return nullptr;
  PaddingConfig padding = inner->attr<PadAttrs>().padding;
  const PaddingConfig& outer = i->attr<PadAttrs>().padding;
  for (size_t d = 0; d < padding.size(); ++d) {
    if (outer[d].interior != 0 || outer[d].low < 0 || outer[d].high < 0 || padding[d].low < 0 ||
        padding[d].high < 0)
      return nullptr;
    padding[d].low += outer[d].low;
    padding[d].high += outer[d].high;
  }
  return r.Add(Opcode::kPad, i->shape(), {inner->operand(0), i->operand(1)},
               PadAttrs{std::move(padding)});
}

// A slice of a padded array that takes none of the padding, or nothing else.
Instruction* SliceOfPad(Instruction* i, Rewriter& r) {
  const Instruction* pad = i->operand(0);
  if (!Is(pad, Opcode::kPad)) return nullptr;
  SliceSpec slice = i->attr<SliceAttrs>().slice;
  const PaddingConfig& padding = pad->attr<PadAttrs>().padding;
  bool inside = true, outside = false;
  for (size_t d = 0; d < slice.size(); ++d) {
    if (padding[d].interior != 0) return nullptr;
    slice[d].start -= padding[d].low;
    slice[d].limit -= padding[d].low;
    const int64_t size = pad->operand(0)->shape().dims[d];
    inside &= slice[d].start >= 0 && slice[d].limit <= size;
    outside |= slice[d].limit <= 0 || slice[d].start >= size;
  }
  if (outside) return r.Broadcast(pad->operand(1), i->shape(), {});
  if (!inside) return nullptr;
  return r.Add(Opcode::kSlice, i->shape(), {pad->operand(0)}, SliceAttrs{std::move(slice)});
}

// reverse(reverse(x)): dimensions in both lists stay as they were.
Instruction* ReverseReverse(Instruction* i, Rewriter& r) {
  const Instruction* inner = i->operand(0);
  if (!Is(inner, Opcode::kReverse)) return nullptr;
  const DimVector& a = i->attr<DimensionsAttrs>().dimensions;
  const DimVector& b = inner->attr<DimensionsAttrs>().dimensions;
  DimVector dims;
  for (int64_t d = 0; d < i->shape().rank(); ++d)
    if (Contains(a, d) != Contains(b, d)) dims.push_back(d);
  if (dims.empty()) return inner->operand(0);
  return r.Add(Opcode::kReverse, i->shape(), {inner->operand(0)}, DimensionsAttrs{std::move(dims)});
}

// Of a broadcast that does not vary along the reversed dimensions nothing turns round.
Instruction* ReverseOfBroadcast(Instruction* i, Rewriter&) {
  Instruction* x = i->operand(0);
  if (!Is(x, Opcode::kBroadcast)) return nullptr;
  for (int64_t d : i->attr<DimensionsAttrs>().dimensions)
    if (Contains(x->attr<BroadcastAttrs>().dimensions, d)) return nullptr;
  return x;
}

// A slice that takes whole what a reshape only gave dimensions of size one.
Instruction* SliceOfReshape(Instruction* i, Rewriter& r) {
  const Instruction* reshape = i->operand(0);
  if (!Is(reshape, Opcode::kReshape) || i->shape().ElementCount() == 0) return nullptr;
  Instruction* x = reshape->operand(0);
  if (!SameWithoutOnes(x->shape(), reshape->shape()) || reshape->users().size() != 1)
    return nullptr;
  const DimVector map = MapWithoutOnes(x->shape(), reshape->shape());
  SliceSpec slice;
  Shape shape = x->shape().WithoutLayout();
  for (int64_t d = 0; d < shape.rank(); ++d) {
    slice.push_back(map[d] < 0 ? SliceDim{0, 1, 1} : i->attr<SliceAttrs>().slice[map[d]]);
    if (map[d] >= 0) shape.dims[d] = i->shape().dims[map[d]];
  }
  return r.Reshape(r.Add(Opcode::kSlice, shape, {x}, SliceAttrs{std::move(slice)}), i->shape());
}

constexpr Rule kPieceRules[] = {
    {"concatenate-slices", Opcode::kConcatenate, ConcatenateSlices},
    {"concatenate-splats", Opcode::kConcatenate, ConcatenateSplats},
    {"concatenate-as-pad", Opcode::kConcatenate, ConcatenateAsPad},
    {"pad-of-pad", Opcode::kPad, PadOfPad},
    {"slice-of-pad", Opcode::kSlice, SliceOfPad},
    {"slice-of-reshape", Opcode::kSlice, SliceOfReshape},
    {"reverse-reverse", Opcode::kReverse, ReverseReverse},
    {"reverse-of-broadcast", Opcode::kReverse, ReverseOfBroadcast},
};

}  // namespace

absl::Span<const Rule> PieceRules() { return kPieceRules; }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
