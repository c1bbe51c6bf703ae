// Rules that XLA's algsimp has and the cpu pipeline leaves out: slices, pads, updates and gathers
// moved past what they read.
//   slice(broadcast(x)) -> broadcast(slice(x))      pad(broadcast(x)) -> broadcast(pad(x))
//   slice(reverse(x)) -> reverse(slice(x))          gather(pad(x), i) -> pad(gather(x, i))
//   concatenate(p, p, p) of size one -> broadcast   reverse(x + c) -> reverse(x) + c
#include <algorithm>

#include "ops/dim_lists.h"
#include "passes/simplify/facts.h"
#include "passes/simplify/rule.h"

namespace hlokit {
namespace {

// One element of a dimension: its stride does not matter, nor what lies behind it.
Instruction* SliceOfOneElement(Instruction* i, Rewriter& r) {
  SliceSpec slice = i->attr<SliceAttrs>().slice;
  bool any = false;
  for (size_t d = 0; d < slice.size(); ++d)
    if (i->shape().dims[d] == 1 && slice[d].stride != 1) {
      slice[d] = {slice[d].start, slice[d].start + 1, 1};
      any = true;
    }
  if (!any) return nullptr;
  Instruction* made = r.Clone(i, i->shape(), {i->operand(0)});
  made->mutable_attr<SliceAttrs>().slice = std::move(slice);
  return made;
}

// A slice, or a dynamic one, of a broadcast cuts what is spread.
Instruction* SliceBeforeBroadcast(Instruction* i, Rewriter& r) {
  const Instruction* broadcast = i->operand(0);
  if (!Is(broadcast, Opcode::kBroadcast)) return nullptr;
  Instruction* x = broadcast->operand(0);
  const DimVector& dims = broadcast->attr<BroadcastAttrs>().dimensions;
  Shape cut = x->shape();
  SliceSpec slice;
  std::vector<Instruction*> operands = {x};
  if (Is(i, Opcode::kDynamicSlice) && i->operand_count() != 1 + i->shape().rank()) return nullptr;
  for (size_t k = 0; k < dims.size(); ++k) {
    cut.dims[k] = i->shape().dims[dims[k]];
    if (Is(i, Opcode::kSlice)) {
      slice.push_back(i->attr<SliceAttrs>().slice[dims[k]]);
    } else {
      operands.push_back(i->operand(1 + dims[k]));
    }
  }
  Instruction* part =
      Is(i, Opcode::kSlice)
          ? r.Add(Opcode::kSlice, cut, {x}, SliceAttrs{std::move(slice)})
          : r.Add(Opcode::kDynamicSlice, cut, operands, DynamicSliceAttrs{cut.dims});
  return r.Broadcast(part, i->shape(), dims);
}

// A slice of what is reversed is the mirrored slice, reversed.
Instruction* SliceBeforeReverse(Instruction* i, Rewriter& r) {
  const Instruction* reverse = i->operand(0);
  if (!Is(reverse, Opcode::kReverse) || i->shape().ElementCount() == 0) return nullptr;
  SliceSpec slice = i->attr<SliceAttrs>().slice;
  for (int64_t d : reverse->attr<DimensionsAttrs>().dimensions) {
    const int64_t size = reverse->shape().dims[d];
    const int64_t last = slice[d].start + (i->shape().dims[d] - 1) * slice[d].stride;
    slice[d] = {size - 1 - last, size - slice[d].start, slice[d].stride};
  }
  Instruction* part = r.Clone(i, i->shape(), {reverse->operand(0)});
  part->mutable_attr<SliceAttrs>().slice = std::move(slice);
  return r.Clone(reverse, i->shape(), {part});
}

// A slice of some neighbours of a concatenation concatenates these alone.
Instruction* SliceOfSomeParts(Instruction* i, Rewriter& r) {
  const Instruction* whole = i->operand(0);
  if (!Is(whole, Opcode::kConcatenate)) return nullptr;
  const int64_t d = whole->attr<DimensionsAttrs>().dimensions[0];
  SliceSpec slice = i->attr<SliceAttrs>().slice;
  std::vector<Instruction*> parts;
  int64_t begin = 0, first = 0, size = 0;
  for (Instruction* part : whole->operands()) {
    const int64_t end = begin + part->shape().dims[d];
    if (begin < slice[d].limit && end > slice[d].start) {
      if (parts.empty()) first = begin;
      parts.push_back(part);
      size += part->shape().dims[d];
    }
    begin = end;
  }
  if (parts.size() < 2 || static_cast<int64_t>(parts.size()) == whole->operand_count())
    return nullptr;
  slice[d].start -= first;
  slice[d].limit -= first;
  Shape shape = whole->shape();
  shape.dims[d] = size;
  Instruction* some = r.Clone(whole, shape, parts);
  Instruction* made = r.Clone(i, i->shape(), {some});
  made->mutable_attr<SliceAttrs>().slice = std::move(slice);
  return made;
}

// One part of size one, several times over.
Instruction* ConcatenateAsBroadcast(Instruction* i, Rewriter& r) {
  Instruction* part = i->operand(0);
  const int64_t d = i->attr<DimensionsAttrs>().dimensions[0];
  if (i->operand_count() < 2 || part->shape().dims[d] != 1) return nullptr;
  for (const Instruction* other : i->operands())
    if (other != part) return nullptr;
  Shape without = Shape::Array(part->shape().type, {});
  DimVector dims;
  for (int64_t k = 0; k < i->shape().rank(); ++k) {
    if (k == d) continue;
    without.dims.push_back(part->shape().dims[k]);
    dims.push_back(k);
  }
  return r.Broadcast(r.Reshape(part, without), i->shape(), dims);
}

// A start index of a dimension that is taken whole is 0.
Instruction* WholeDimensionStarts(Instruction* i, Rewriter& r) {
  const bool update = Is(i, Opcode::kDynamicUpdateSlice);
  const int first = update ? 2 : 1;
  const Shape &whole = i->operand(0)->shape(), &part = update ? i->operand(1)->shape() : i->shape();
  if (i->operand_count() != first + whole.rank()) return nullptr;
  std::vector<Instruction*> operands(i->operands().begin(), i->operands().end());
  bool any = false;
  for (int64_t d = 0; d < whole.rank(); ++d) {
    Instruction*& start = operands[first + d];
    if (whole.dims[d] != part.dims[d] || IsSplat(start, 0)) continue;
    start = r.Splat(start->shape(), 0);
    any = true;
  }
  return any ? r.Clone(i, i->shape(), operands) : nullptr;
}

// What is padded only in some dimensions of a broadcast, is padded without the others and spread
// over them afterwards.
Instruction* PadBeforeBroadcast(Instruction* i, Rewriter& r) {
  const Instruction* broadcast = i->operand(0);
  if (!Is(broadcast, Opcode::kBroadcast) || broadcast->shape().ElementCount() == 0) return nullptr;
  const DimVector& dims = broadcast->attr<BroadcastAttrs>().dimensions;
  const PaddingConfig& padding = i->attr<PadAttrs>().padding;
  if (!std::is_sorted(dims.begin(), dims.end())) return nullptr;
  Shape inner = Shape::Array(i->shape().type, {}), padded = inner;
  DimVector kept, inner_dims;
  PaddingConfig inner_padding;
  bool any = false;
  for (int64_t d = 0; d < i->shape().rank(); ++d) {
    const bool pads = !(padding[d] == PaddingDim{});
    any |= pads;
    if (!pads && !Contains(dims, d)) continue;
    if (Contains(dims, d)) inner_dims.push_back(inner.rank());
    inner.dims.push_back(broadcast->shape().dims[d]);
    padded.dims.push_back(i->shape().dims[d]);
    inner_padding.push_back(padding[d]);
    kept.push_back(d);
  }
  if (!any || static_cast<int64_t>(kept.size()) == i->shape().rank()) return nullptr;
  Instruction* x = r.Broadcast(broadcast->operand(0), inner, inner_dims);
  Instruction* pad =
      r.Add(Opcode::kPad, padded, {x, i->operand(1)}, PadAttrs{std::move(inner_padding)});
  return r.Broadcast(pad, i->shape(), kept);
}

// reverse(x + c) of an equal c everywhere is reverse(x) + c.
Instruction* ReverseBeforeConstant(Instruction* i, Rewriter& r) {
  const Instruction* x = i->operand(0);
  if (!HasTrait(x->opcode(), kElementwise) || x->operand_count() != 2 || !UsedOnce(x))
    return nullptr;
  for (int k : {1, 0}) {
    if (!Is(x->operand(k), Opcode::kBroadcast) || SplatValue(x->operand(k)) == nullptr ||
        SplatValue(x->operand(1 - k)) != nullptr)
      continue;
    Instruction* operands[] = {x->operand(0), x->operand(1)};
    operands[1 - k] = r.Clone(i, x->operand(1 - k)->shape(), {x->operand(1 - k)});
    return r.Clone(x, i->shape(), operands);
  }
  return nullptr;
}

// The same tiles, element sizes and memories.
bool SameExtras(const Shape& a, const Shape& b) {
  const LayoutExtras none;
  return (a.layout.extras ? *a.layout.extras : none) == (b.layout.extras ? *b.layout.extras : none);
}

// bitcast(f(bitcast(x))) of one type is bitcast(f(x)), where f leaves elements at their places.
Instruction* BitcastPastUnary(Instruction* i, Rewriter& r) {
  Instruction* f = i->operand(0);
  if (!HasTrait(f->opcode(), kElementwise) || f->operand_count() != 1 || !UsedOnce(f) ||
      !Is(f->operand(0), Opcode::kBitcast) ||
      f->shape().MinorToMajor() != f->operand(0)->shape().MinorToMajor())
    return nullptr;
  Instruction* x = f->operand(0)->operand(0);
  const ElementType type = i->shape().type;
  if (x->shape().type != type || f->shape().type != type || f->operand(0)->shape().type != type ||
      x->shape().ElementCount() != i->shape().ElementCount() || !SameExtras(x->shape(), f->shape()))
    return nullptr;
  return r.Add(Opcode::kBitcast, i->shape(), {r.Clone(f, x->shape(), {x})});
}

// bitcast-convert of concatenated bitcast-converts from the wanted type.
Instruction* BitcastConvertOfParts(Instruction* i, Rewriter& r) {
  const Instruction* whole = i->operand(0);
  if (!Is(whole, Opcode::kConcatenate) || whole->shape().dims != i->shape().dims) return nullptr;
  std::vector<Instruction*> parts;
  for (const Instruction* part : whole->operands()) {
    if (!Is(part, Opcode::kBitcastConvert) || part->operand(0)->shape().type != i->shape().type ||
        part->operand(0)->shape().dims != part->shape().dims)
      return nullptr;
    parts.push_back(part->operand(0));
  }
  return r.Clone(whole, i->shape(), parts);
}

// A constant s32[4] {0, 25, 50, 75} is iota * 25; {3, 4, 5} stays.
Instruction* ConstantAsIota(Instruction* i, Rewriter& r) {
  if (i->literal() == nullptr) return nullptr;  // elided in the text
  const Literal& values = *i->literal();
  if (i->shape().rank() != 1 || !IsInteger(i->shape().type) || BitWidth(i->shape().type) < 32 ||
      values.element_count() < 2 || values.GetInt(0) != 0)
    return nullptr;
  const int64_t step = values.GetInt(1);
  if (step <= 0 || step >= int64_t{1} << 31) return nullptr;
  for (int64_t k = 0; k < values.element_count(); ++k)
    if (values.GetInt(k) != k * step) return nullptr;
  Instruction* iota = r.Add(Opcode::kIota, i->shape(), {}, IotaAttrs{0});
  return step == 1 ? iota
                   : r.Add(Opcode::kMultiply, i->shape(), {iota, r.FillInt(i->shape(), step)});
}

// One element of iota * step is the clamped index times step.
Instruction* ElementOfIota(Instruction* i, Rewriter& r) {
  const Instruction* x = i->operand(0);
  Instruction* factor = nullptr;
  if (Is(x, Opcode::kMultiply) && Is(x->operand(0), Opcode::kIota) &&
      Is(x->operand(1), Opcode::kBroadcast) && SplatValue(x->operand(1)) != nullptr) {
    factor = x->operand(1)->operand(0);
    x = x->operand(0);
  }
  if (!Is(x, Opcode::kIota) || x->shape().rank() != 1 || i->shape().dims[0] != 1 ||
      i->operand_count() != 2 || !IsInteger(x->shape().type) || BitWidth(x->shape().type) < 32)
    return nullptr;
  Instruction* index = i->operand(1);
  const Shape scalar = index->shape();
  if (!scalar.IsScalar() || BitWidth(scalar.type) < 32) return nullptr;
  Instruction* at = r.Add(Opcode::kClamp, scalar,
                          {r.FillInt(scalar, 0), index, r.FillInt(scalar, x->shape().dims[0] - 1)});
  at = r.Add(Opcode::kConvert, Shape::Scalar(i->shape().type), {at});
  if (factor != nullptr) at = r.Add(Opcode::kMultiply, at->shape(), {at, factor});
  return r.Reshape(at, i->shape());
}

// A select element by element between an array and its update selects within the update's window.
Instruction* SelectWithinUpdate(Instruction* i, Rewriter& r) {
  for (int k : {1, 2}) {
    const Instruction* update = i->operand(k);
    Instruction* x = i->operand(3 - k);
    if (!Is(update, Opcode::kDynamicUpdateSlice) || update->operand(0) != x || !UsedOnce(update) ||
        i->operand(0)->shape().dims != i->shape().dims)
      continue;
    Instruction* part = update->operand(1);
    std::vector<Instruction*> at(update->operands().begin() + 1, update->operands().end());
    const auto cut = [&](Instruction* whole) {
      at[0] = whole;
      Shape shape = part->shape();
      shape.type = whole->shape().type;
      return r.Add(Opcode::kDynamicSlice, shape, at, DynamicSliceAttrs{part->shape().dims});
    };
    Instruction *choice = cut(i->operand(0)), *old = cut(x);
    Instruction* chosen =
        r.Add(Opcode::kSelect, part->shape(), {choice, k == 1 ? part : old, k == 1 ? old : part});
    std::vector<Instruction*> operands(update->operands().begin(), update->operands().end());
    operands[1] = chosen;
    return r.Clone(update, i->shape(), operands);
  }
  return nullptr;
}

constexpr Rule kWindowRules[] = {
    {"slice-of-one-element", Opcode::kSlice, SliceOfOneElement},
    {"slice-before-broadcast", Opcode::kSlice, SliceBeforeBroadcast},
    {"slice-before-reverse", Opcode::kSlice, SliceBeforeReverse},
    {"slice-of-some-parts", Opcode::kSlice, SliceOfSomeParts},
    {"dynamic-slice-before-broadcast", Opcode::kDynamicSlice, SliceBeforeBroadcast},
    {"dynamic-slice-whole-dimensions", Opcode::kDynamicSlice, WholeDimensionStarts},
    {"dynamic-slice-of-iota", Opcode::kDynamicSlice, ElementOfIota},
    {"update-whole-dimensions", Opcode::kDynamicUpdateSlice, WholeDimensionStarts},
    {"concatenate-as-broadcast", Opcode::kConcatenate, ConcatenateAsBroadcast},
    {"pad-before-broadcast", Opcode::kPad, PadBeforeBroadcast},
    {"reverse-before-constant", Opcode::kReverse, ReverseBeforeConstant},
    {"bitcast-past-unary", Opcode::kBitcast, BitcastPastUnary},
    {"bitcast-convert-of-parts", Opcode::kBitcastConvert, BitcastConvertOfParts},
    {"constant-as-iota", Opcode::kConstant, ConstantAsIota},
    {"select-within-update", Opcode::kSelect, SelectWithinUpdate},
    {"gather-before-pad", Opcode::kGather, GatherBeforePad},
};

}  // namespace

absl::Span<const Rule> WindowRules() { return kWindowRules; }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
