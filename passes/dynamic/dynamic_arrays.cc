// Arrays at their bounds, with their sizes as scalars: the representation that dynamic_padder
// rewrites to. Padded(x) is the array of static shape that stands for x, SizesOf(x) a size per
// dimension (null: static). In loops, branches and tuples an array travels as a tuple (array,
// sizes...) (Carried).
//   f32[<=8] x   ->   (f32[8], s32[])
#include "passes/dynamic/dynamic_arrays_internal.h"

#include <algorithm>

#include "passes/spmd/tilings.h"

namespace hlokit {
namespace {

// Part k of a tuple that was perhaps just made.
Instruction* PartOf(HloWriter& w, Instruction* tuple, int64_t k) {
  return tuple->opcode() == Opcode::kTuple ? tuple->operand(k) : w.Part(tuple, k);
}

bool SameLayout(const Shape& a, const Shape& b) {
  return a.has_layout == b.has_layout && a.layout.minor_to_major == b.layout.minor_to_major;
}

}  // namespace

bool IsDynamicArray(const Shape& shape) { return shape.IsArray() && shape.dynamic_mask != 0; }

bool TouchesDynamic(const Instruction& i) {
  if (i.shape().HasDynamicDims()) return true;
  for (const Instruction* operand : i.operands())
    if (operand->shape().HasDynamicDims()) return true;
  return false;
}

Shape AtBounds(Shape shape) {
  shape.dynamic_mask = 0;
  for (Shape& part : shape.elements) part = AtBounds(std::move(part));
  return shape;
}

Shape Carried(const Shape& shape) {
  if (shape.IsTuple()) {
    Shape tuple = shape;
    for (Shape& part : tuple.elements) part = Carried(part);
    return tuple;
  }
  if (!IsDynamicArray(shape)) return shape;
  std::vector<Shape> parts = {AtBounds(shape)};
  for (int d = 0; d < shape.rank(); ++d)
    if (shape.IsDynamic(d)) parts.push_back(RowMajor(ElementType::kS32, {}));
  return Shape::Tuple(std::move(parts));
}

bool AllGoAlong(const Instruction& i) {
  for (int64_t k = 0; k < i.operand_count(); ++k) {
    const Shape& x = i.operand(k)->shape();
    if (!IsDynamicArray(x)) continue;
    const DimVector map = DimensionMap(i, k);
    for (int d = 0; d < x.rank(); ++d)
      if (x.IsDynamic(d) && (map.empty() || map[d] < 0)) return false;
  }
  return true;
}

Instruction* DynamicArrays::Padded(Instruction* x) const {
  const auto found = padded_.find(x);
  return found == padded_.end() ? x : found->second;
}

std::vector<Instruction*> DynamicArrays::PaddedOperands(const Instruction* i) const {
  std::vector<Instruction*> operands;
  for (Instruction* x : i->operands()) operands.push_back(Padded(x));
  return operands;
}

DynamicArrays::Sizes DynamicArrays::SizesOf(const Instruction* x) const {
  const auto found = sizes_.find(x);
  return found == sizes_.end() ? Sizes(x->shape().rank(), nullptr) : found->second;
}

Instruction* DynamicArrays::SizeOf(const Instruction* x, int64_t d) {
  Instruction* size = SizesOf(x)[d];
  return size != nullptr ? size : Int(x->shape().dims[d]);
}

void DynamicArrays::Note(Instruction* i, Instruction* made, Sizes sizes) {
  // Elements lie as the instruction says: its users, or the entry's result, may rest on that.
  const Shape& shape = i->shape();
  if (shape.IsArray() && shape.has_layout && !SameLayout(made->shape(), shape))
    made = rewriter_.Add(Opcode::kCopy, AtBounds(shape), {made});
  padded_[i] = made;
  sizes_[i] = std::move(sizes);
}

void DynamicArrays::NoteAlong(Instruction* i, Instruction* made) {
  Sizes sizes(i->shape().rank(), nullptr);
  for (int64_t k = 0; k < i->operand_count(); ++k) {
    const Sizes own = SizesOf(i->operand(k));
    const DimVector map = DimensionMap(*i, k);
    for (size_t d = 0; d < map.size() && d < own.size(); ++d)
      if (map[d] >= 0 && own[d] != nullptr && i->shape().IsDynamic(static_cast<int>(map[d])))
        sizes[map[d]] = own[d];
  }
  Note(i, made, std::move(sizes));
}

void DynamicArrays::NoteParts(Instruction* i, absl::Span<Instruction* const> parts,
                              absl::Span<const Sizes> sizes) {
  std::vector<Instruction*> carried;
  for (size_t k = 0; k < parts.size(); ++k) {
    const Shape& shape = i->shape().elements[k];
    if (!IsDynamicArray(shape)) {
      carried.push_back(parts[k]);
      continue;
    }
    std::vector<Instruction*> fields = {parts[k]};
    for (int d = 0; d < shape.rank(); ++d)
      if (shape.IsDynamic(d))
        fields.push_back(sizes[k][d] != nullptr ? sizes[k][d] : Int(shape.dims[d]));
    carried.push_back(w_.Tuple(fields));
  }
  padded_[i] = w_.Tuple(carried);
}

void DynamicArrays::NoteCarried(Instruction* i, Instruction* made) {
  if (!IsDynamicArray(i->shape())) {
    padded_[i] = made;
    return;
  }
  Sizes sizes(i->shape().rank(), nullptr);
  int64_t next = 1;
  for (int d = 0; d < i->shape().rank(); ++d)
    if (i->shape().IsDynamic(d)) sizes[d] = PartOf(w_, made, next++);
  Note(i, PartOf(w_, made, 0), std::move(sizes));
}

Instruction* DynamicArrays::Carry(Instruction* x) {
  if (!IsDynamicArray(x->shape())) return Padded(x);
  std::vector<Instruction*> parts = {Padded(x)};
  for (int d = 0; d < x->shape().rank(); ++d)
    if (x->shape().IsDynamic(d)) parts.push_back(SizeOf(x, d));
  return w_.Tuple(parts);
}

Instruction* DynamicArrays::CloneAtBounds(Instruction* i) {
  return rewriter_.Clone(i, AtBounds(i->shape()), PaddedOperands(i));
}

Instruction* DynamicArrays::Sized(Instruction* x, int64_t d, Instruction* size, bool dynamic) {
  Shape shape = x->shape();
  shape.SetDynamic(d, dynamic);
  return rewriter_.Add(Opcode::kSetDimensionSize, shape, {x, size}, DimensionsAttrs{{d}});
}

Instruction* DynamicArrays::Restored(Instruction* carried, const Shape& shape) {
  if (!shape.HasDynamicDims()) return carried;
  if (shape.IsTuple()) {
    std::vector<Instruction*> parts;
    for (size_t k = 0; k < shape.elements.size(); ++k)
      parts.push_back(Restored(PartOf(w_, carried, k), shape.elements[k]));
    return w_.Tuple(parts);
  }
  Instruction* x = PartOf(w_, carried, 0);
  int64_t next = 1;
  for (int d = 0; d < shape.rank(); ++d)
    if (shape.IsDynamic(d)) x = Sized(x, d, PartOf(w_, carried, next++), /*dynamic=*/true);
  return x;
}

Instruction* DynamicArrays::Entered(Instruction* x) {
  const Shape shape = x->shape();
  if (!shape.HasDynamicDims()) return x;
  if (shape.IsTuple()) {
    std::vector<Instruction*> parts;
    for (size_t k = 0; k < shape.elements.size(); ++k) parts.push_back(Entered(PartOf(w_, x, k)));
    return w_.Tuple(parts);
  }
  std::vector<Instruction*> fields = {nullptr};
  Instruction* padded = x;
  for (int d = 0; d < shape.rank(); ++d) {
    if (!shape.IsDynamic(d)) continue;
    fields.push_back(rewriter_.Add(Opcode::kGetDimensionSize, RowMajor(ElementType::kS32, {}), {x},
                                   DimensionsAttrs{{d}}));
    padded = Sized(padded, d, Int(shape.dims[d]), /*dynamic=*/false);
  }
  fields[0] = padded;
  return w_.Tuple(fields);
}

void DynamicArrays::NoteKept(Instruction* i, Instruction* kept) {
  NoteCarried(i, Entered(kept));
  kept_[i] = kept;
}

Instruction* DynamicArrays::Left(Instruction* i) {
  if (const auto kept = kept_.find(i); kept != kept_.end()) return kept->second;
  if (!padded_.contains(i)) return i;
  Instruction* x = Restored(Carry(i), i->shape());
  if (x != Padded(i)) x->set_place(i->place());
  return x;
}

Instruction* DynamicArrays::Below(absl::Span<const int64_t> dims, int64_t d, Instruction* size) {
  return w_.Compare(w_.Iota(ElementType::kS32, dims, d), w_.Broadcast(size, dims, {}),
                    ComparisonDirection::kLt);
}

Instruction* DynamicArrays::Inside(const Instruction* x, const Masked& masked) {
  const Sizes sizes = SizesOf(x);
  Instruction* all = nullptr;
  for (int64_t d = 0; d < x->shape().rank(); ++d) {
    if (sizes[d] == nullptr || !masked(d)) continue;
    Instruction* below = Below(x->shape().dims, d, sizes[d]);
    all = all == nullptr ? below : w_.Binary(Opcode::kAnd, all, below);
  }
  return all;
}

Instruction* DynamicArrays::Filled(Instruction* x, Instruction* filler, const Masked& masked) {
  Instruction* array = Padded(x);
  Instruction* inside = Inside(x, masked);
  if (inside == nullptr) return array;
  const bool scalar = filler->shape().rank() == 0;
  return w_.Select(inside, array, scalar ? w_.Fill(array->shape(), filler) : filler);
}

Instruction* DynamicArrays::Plus(Instruction* x, int64_t y) {
  return y == 0 ? x : w_.WithInteger(Opcode::kAdd, x, y);
}
Instruction* DynamicArrays::Times(Instruction* x, int64_t y) {
  return y == 1 ? x : w_.WithInteger(Opcode::kMultiply, x, y);
}
Instruction* DynamicArrays::Over(Instruction* x, int64_t y) {
  return y == 1 ? x : w_.WithInteger(Opcode::kDivide, x, y);
}
Instruction* DynamicArrays::AtLeast(Instruction* x, int64_t y) {
  return w_.WithInteger(Opcode::kMaximum, x, y);
}
Instruction* DynamicArrays::AtMost(Instruction* x, int64_t y) {
  return w_.WithInteger(Opcode::kMinimum, x, y);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
