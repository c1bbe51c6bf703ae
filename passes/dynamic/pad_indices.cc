// Gather, scatter and reshapes over arrays of dynamic size. Gather clamps its starts to the size
// instead of the bound. Scatter skips updates beyond the size of the index array, by indices out of
// bounds. A reshape computes for each element of the result where it comes from, since the valid
// elements are not contiguous at the bound.
#include <algorithm>
#include <limits>

#include "ops/dim_lists.h"
#include "ops/reshape_groups.h"
#include "passes/dynamic/dynamic_arrays_internal.h"
#include "passes/spmd/tilings.h"

namespace hlokit {
namespace {

using Sizes = DynamicArrays::Sizes;

// Sizes of the dimensions of an index array but that of the vectors, by dimension of the result or
// of the updates that go along with them.
DimVector BatchDims(const Shape& indices, int64_t index_vector_dim) {
  DimVector dims;
  for (int64_t d = 0; d < indices.rank(); ++d)
    if (d != index_vector_dim) dims.push_back(d);
  return dims;
}

DimVector Without(int64_t rank, absl::Span<const int64_t> some,
                  absl::Span<const int64_t> others = {}) {
  DimVector dims;
  for (int64_t d = 0; d < rank; ++d)
    if (!Contains(some, d) && !Contains(others, d)) dims.push_back(d);
  return dims;
}

// Component k of each vector, as s64 with what is too large for that cut off.
Instruction* Component(DynamicArrays& a, Instruction* indices, int64_t index_vector_dim,
                       int64_t k) {
  HloWriter& w = a.w();
  const ElementType type = indices->shape().type;
  Instruction* x = indices;
  if (index_vector_dim < indices->shape().rank()) x = w.SliceOf(x, index_vector_dim, k, k + 1);
  if (type == ElementType::kU64)
    x = w.Binary(Opcode::kMinimum, x,
                 w.FillInteger(x->shape(), std::numeric_limits<int32_t>::max()));
  return w.Convert(x, ElementType::kS64);
}

// The vectors with component k made by change(component, k).
template <typename Change>
Instruction* Changed(DynamicArrays& a, Instruction* indices, int64_t index_vector_dim,
                     int64_t components, Change change) {
  std::vector<Instruction*> parts;
  for (int64_t k = 0; k < components; ++k)
    parts.push_back(change(Component(a, indices, index_vector_dim, k), k));
  return parts.size() == 1 ? parts[0] : a.w().Concatenate(parts, index_vector_dim);
}

bool CanGather(const Instruction& i) {
  const auto& attrs = i.attr<GatherAttrs>();
  const Shape& indices = i.operand(1)->shape();
  if (attrs.index_vector_dim < indices.rank() && indices.IsDynamic(attrs.index_vector_dim))
    return false;
  for (int64_t d : attrs.operand_batching_dims)
    if (i.operand(0)->shape().IsDynamic(d)) return false;
  return true;
}

// Slices reach no further than the size: their starts are clamped here, since the operand's bound
// would let them. A slice as long as the bound starts at zero, and has the size's length.
void PadGather(DynamicArrays& a, Instruction* i) {
  const auto& attrs = i->attr<GatherAttrs>();
  HloWriter& w = a.w();
  Instruction* x = i->operand(0);
  Instruction* indices = a.Padded(i->operand(1));
  const Sizes own = a.SizesOf(x), along = a.SizesOf(i->operand(1));
  const auto kept = [&](int64_t d) { return a.AtMost(own[d], attrs.slice_sizes[d]); };
  const bool clamps = std::any_of(attrs.start_index_map.begin(), attrs.start_index_map.end(),
                                  [&](int64_t d) { return own[d] != nullptr; });
  if (clamps)
    indices =
        Changed(a, indices, attrs.index_vector_dim, attrs.start_index_map.size(),
                [&](Instruction* component, int64_t k) {
                  const int64_t d = attrs.start_index_map[k];
                  if (own[d] == nullptr) return component;
                  Instruction* last =
                      w.Convert(w.Binary(Opcode::kSubtract, own[d], kept(d)), ElementType::kS64);
                  return w.Binary(Opcode::kMinimum, component, w.Fill(component->shape(), last));
                });
  Sizes sizes(i->shape().rank(), nullptr);
  const DimVector window =
      Without(x->shape().rank(), attrs.collapsed_slice_dims, attrs.operand_batching_dims);
  for (size_t k = 0; k < window.size(); ++k)
    if (own[window[k]] != nullptr && i->shape().IsDynamic(attrs.offset_dims[k]))
      sizes[attrs.offset_dims[k]] = kept(window[k]);
  const DimVector batch = BatchDims(i->operand(1)->shape(), attrs.index_vector_dim);
  const DimVector places = Without(i->shape().rank(), attrs.offset_dims);
  for (size_t k = 0; k < batch.size(); ++k) sizes[places[k]] = along[batch[k]];
  a.Note(i, a.rewriter().Clone(i, AtBounds(i->shape()), {a.Padded(x), indices}), std::move(sizes));
}

// Windows that are as long as the size of the operand: the same elements on both sides.
bool CanScatter(const Instruction& i) {
  const auto& attrs = i.attr<ScatterAttrs>();
  if (i.operand_count() != 3 || !i.shape().IsArray()) return false;
  const Shape& x = i.operand(0)->shape();
  const Shape& indices = i.operand(1)->shape();
  const Shape& updates = i.operand(2)->shape();
  if (attrs.index_vector_dim < indices.rank() && indices.IsDynamic(attrs.index_vector_dim))
    return false;
  for (int64_t d : attrs.input_batching_dims)
    if (x.IsDynamic(d)) return false;
  const DimVector window = Without(x.rank(), attrs.inserted_window_dims, attrs.input_batching_dims);
  for (size_t k = 0; k < window.size(); ++k) {
    const bool indexed = Contains(attrs.scatter_dims_to_operand_dims, window[k]);
    const bool dynamic = updates.IsDynamic(attrs.update_window_dims[k]);
    if (dynamic && (indexed || !x.IsDynamic(window[k]))) return false;
  }
  return true;
}

// Updates beyond the size of their array, and windows that reach beyond that of the operand, get an
// index that no window fits at.
void PadScatter(DynamicArrays& a, Instruction* i) {
  const auto& attrs = i->attr<ScatterAttrs>();
  HloWriter& w = a.w();
  Instruction* x = i->operand(0);
  Instruction* indices = a.Padded(i->operand(1));
  const Shape& updates = i->operand(2)->shape();
  const Sizes own = a.SizesOf(x), given = a.SizesOf(i->operand(2)),
              along = a.SizesOf(i->operand(1));
  const DimVector window =
      Without(x->shape().rank(), attrs.inserted_window_dims, attrs.input_batching_dims);
  const DimVector batch = BatchDims(i->operand(1)->shape(), attrs.index_vector_dim);
  const DimVector places = Without(updates.rank(), attrs.update_window_dims);
  // Where the last window of dimension d starts: one that is longer than the size is cut.
  const auto last_start = [&](int64_t d) {
    const auto k = std::find(window.begin(), window.end(), d);
    if (k == window.end()) return a.Plus(own[d], -1);
    return a.AtLeast(a.Plus(own[d], -updates.dims[attrs.update_window_dims[k - window.begin()]]),
                     0);
  };
  const auto valid = [&](Instruction* component, int64_t d) {
    Instruction* all = nullptr;
    const auto and_also = [&](Instruction* more) {
      all = all == nullptr ? more : w.Binary(Opcode::kAnd, all, more);
    };
    const DimVector& dims = component->shape().dims;
    if (own[d] != nullptr) {
      Instruction* last = w.Convert(last_start(d), ElementType::kS64);
      and_also(w.Compare(component, w.Fill(component->shape(), last), ComparisonDirection::kLe));
    }
    for (size_t k = 0; k < batch.size(); ++k)
      for (Instruction* size : {given[places[k]], along[batch[k]]})
        if (size != nullptr) and_also(a.Below(dims, batch[k], size));
    return all;
  };
  indices = Changed(a, indices, attrs.index_vector_dim, attrs.scatter_dims_to_operand_dims.size(),
                    [&](Instruction* component, int64_t k) {
                      Instruction* kept = valid(component, attrs.scatter_dims_to_operand_dims[k]);
                      if (kept == nullptr) return component;
                      return w.Select(kept, component, w.FillInteger(component->shape(), -1));
                    });
  Instruction* made =
      a.rewriter().Clone(i, AtBounds(i->shape()), {a.Padded(x), indices, a.Padded(i->operand(2))});
  made->mutable_attr<ScatterAttrs>().indices_are_sorted = false;
  a.Note(i, made, own);
}

// Whether all but the first of the dimensions larger than one are static, so that elements lie in
// order without gaps.
bool OnlyMajorIsDynamic(const Shape& shape) {
  bool behind = false;
  for (int d = 0; d < shape.rank(); ++d) {
    if (behind && shape.IsDynamic(d)) return false;
    behind |= shape.IsDynamic(d) || shape.dims[d] != 1;
  }
  return true;
}

// Within each group element k, in row-major order of the sizes, of x becomes element k of the
// result: each place of the result computes its k, and where x has that.
Instruction* Refilled(DynamicArrays& a, const Instruction* i, const Sizes& sizes,
                      absl::Span<const ReshapeGroup> groups) {
  HloWriter& w = a.w();
  Instruction* x = a.Padded(i->operand(0));
  const Shape to = AtBounds(i->shape());
  if (OnlyMajorIsDynamic(i->operand(0)->shape()) && OnlyMajorIsDynamic(i->shape()))
    return w.Reshape(x, to.dims);
  if (x->shape().ElementCount() == 0) return a.rewriter().Splat(to, 0);  // nothing to gather
  const Shape numbers = RowMajor(ElementType::kS32, to.dims);
  const DimVector strides = RowMajorStrides(x->shape().dims);
  Instruction* place = w.FillInteger(numbers, 0);
  for (const ReshapeGroup& g : groups) {
    Instruction* k = w.FillInteger(numbers, 0);
    Instruction* stride = a.Int(1);
    for (int d = g.to_end; d-- > g.to;) {
      Instruction* index = w.Iota(ElementType::kS32, to.dims, d);
      k = w.Binary(Opcode::kAdd, k, w.Binary(Opcode::kMultiply, index, w.Fill(numbers, stride)));
      stride = w.Binary(Opcode::kMultiply, stride, sizes[d]);
    }
    for (int d = g.from_end; d-- > g.from;) {
      Instruction* size = w.Fill(numbers, a.AtLeast(a.SizeOf(i->operand(0), d), 1));
      Instruction* index = d == g.from ? k : w.Binary(Opcode::kRemainder, k, size);
      place = w.Binary(Opcode::kAdd, place, a.Times(index, strides[d]));
      k = w.Binary(Opcode::kDivide, k, size);
    }
  }
  GatherAttrs attrs;
  attrs.collapsed_slice_dims = attrs.start_index_map = {0};
  attrs.index_vector_dim = to.rank();
  attrs.slice_sizes = {1};
  return a.rewriter().Add(Opcode::kGather, to, {w.Reshape(x, {x->shape().ElementCount()}), place},
                          std::move(attrs));
}

bool IndexFits(const Instruction& i) {
  return i.shape().ElementCount() <= std::numeric_limits<int32_t>::max();
}

void PadDynamicReshape(DynamicArrays& a, Instruction* i) {
  const std::vector<Instruction*> operands = a.PaddedOperands(i);
  Sizes sizes(operands.begin() + 1, operands.end());
  const ReshapeGroup all{0, i->operand(0)->shape().rank(), 0, i->shape().rank(), false};
  Instruction* made = Refilled(a, i, sizes, {all});
  for (int d = 0; d < i->shape().rank(); ++d)
    if (!i->shape().IsDynamic(d)) sizes[d] = nullptr;
  a.Note(i, made, std::move(sizes));
}

// Whether each dynamic dimension of the operand is one of the result.
bool KeepsDimensions(const Instruction& i) {
  const Shape& from = i.operand(0)->shape();
  const DimVector map = DimensionMap(i, 0);
  for (int d = 0; d < from.rank(); ++d)
    if (from.IsDynamic(d) &&
        (map.empty() || map[d] < 0 || !i.shape().IsDynamic(static_cast<int>(map[d]))))
      return false;
  return true;
}

// Sizes as ReshapedSizes has them.
void PadReshape(DynamicArrays& a, Instruction* i) {
  if (KeepsDimensions(*i)) return a.NoteAlong(i, a.CloneAtBounds(i));
  HloWriter& w = a.w();
  const std::vector<ReshapeGroup> groups =
      ReshapeGroups(i->operand(0)->shape().dims, i->shape().dims);
  Sizes sizes, noted(i->shape().rank(), nullptr);
  for (int64_t bound : i->shape().dims) sizes.push_back(a.Int(bound));
  for (const ReshapeGroup& g : groups) {
    if (g.empty) continue;
    Instruction* count = a.Int(1);
    for (int d = g.from; d < g.from_end; ++d)
      count = w.Binary(Opcode::kMultiply, count, a.SizeOf(i->operand(0), d));
    for (int d = g.to_end; d-- > g.to;) {
      if (!i->shape().IsDynamic(d)) continue;
      Instruction* rest = a.Int(1);
      for (int other = g.to; other < g.to_end; ++other)
        if (other != d) rest = w.Binary(Opcode::kMultiply, rest, sizes[other]);
      Instruction* fill = w.Binary(Opcode::kDivide, count, a.AtLeast(rest, 1));
      sizes[d] = noted[d] = w.Binary(Opcode::kMinimum, sizes[d], fill);
    }
  }
  a.Note(i, Refilled(a, i, sizes, groups), std::move(noted));
}

constexpr PadRule kPadIndexRules[] = {
    {Opcode::kDynamicReshape, IndexFits, PadDynamicReshape},
    {Opcode::kGather, CanGather, PadGather},
    {Opcode::kReshape, IndexFits, PadReshape},
    {Opcode::kScatter, CanScatter, PadScatter},
};

}  // namespace

absl::Span<const PadRule> PadIndexRules() { return kPadIndexRules; }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
