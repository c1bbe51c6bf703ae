// scatter-sorter: scatters of many rows get their updates in the order of their targets,
//
//   r = scatter(x, i, u, add) of f32[100000,256], 131,072 rows of updates
//     ->  key = i[:,0], or 100000 where that is no row       k, p = sort(key, iota), stable
//         r = scatter(x, k, gather(u, p), add), indices_are_sorted
//
// so that whoever finds the first update of a row finds the others behind it, in their old order:
// a search of each row among all updates would take rows times updates. Exact, and the same
// combinations in the same order. A sort of two arrays of s32, and the updates read by their place.
// Where the places are not rows, but columns or the like, the indices are made of the sorted keys:
//   i'[:,0] = k / 30      i'[:,1] = k % 30      of f32[20,9,30], places in dimensions 0 and 2
//
// Option `least`: scatters whose search would take fewer steps stay. Limits: windows of one element
// along each dimension that the indices name; row-major arrays; no batches.
#include "ops/dim_lists.h"
#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/hlo_writer.h"

namespace hlokit {
namespace {

constexpr ElementType kKey = ElementType::kS32;

bool CountsFrom(const DimVector& dims, int64_t first) {
  for (const int64_t d : dims)
    if (d != first++) return false;
  return true;
}

int64_t ProductOf(const DimVector& all, const DimVector& dims) {
  int64_t product = 1;
  for (const int64_t d : dims) product *= all[d];
  return product;
}

// A scatter of one array to places that the indices number.
struct PlaceScatter {
  const ScatterAttrs& attrs;
  const Shape &base, &indices, &updates;
  DimVector named;  // dimensions of the base, as the components of an index name them
  DimVector batch;  // of the updates

  explicit PlaceScatter(const Instruction& i)
      : attrs(i.attr<ScatterAttrs>()),
        base(i.operand(0)->shape()),
        indices(i.operand(1)->shape()),
        updates(i.operand(2)->shape()),
        named(attrs.inserted_window_dims) {
    for (int64_t d = 0; d < updates.rank(); ++d)
      if (!Contains(attrs.update_window_dims, d)) batch.push_back(d);
  }

  int64_t count() const { return ProductOf(updates.dims, batch); }
  int64_t places() const { return ProductOf(base.dims, named); }

  bool Applies() const {
    if (!IsInteger(indices.type) || IsSubByte(indices.type) || named.empty() || batch.empty() ||
        !attrs.input_batching_dims.empty() || attrs.indices_are_sorted || attrs.unique_indices ||
        attrs.index_vector_dim < indices.rank() - 1 ||
        attrs.scatter_dims_to_operand_dims.size() != named.size())
      return false;
    for (const int64_t d : attrs.scatter_dims_to_operand_dims)
      if (!Contains(named, d)) return false;
    // What numbers updates becomes one dimension.
    return CountsFrom(batch, batch[0]) && base.IsRowMajor() && indices.IsRowMajor() &&
           updates.IsRowMajor() && places() < INT32_MAX;
  }

  // Whether the places are rows: numbered by the slowest dimensions.
  bool IsOfRows() const { return CountsFrom(named, 0); }

  // Of the cheaper search, of all updates for each element of the base or of the updates.
  double Steps() const {
    return static_cast<double>(count()) *
           static_cast<double>(std::min(base.ElementCount(), updates.ElementCount()));
  }
};

// The number of each update's place, or of places where it has none.
Instruction* Keys(HloWriter& w, const PlaceScatter& scatter, Instruction* indices) {
  const int64_t count = scatter.count();
  const bool wide =
      BitWidth(indices->shape().type) > 32 || indices->shape().type == ElementType::kU32;
  const ElementType type = wide ? ElementType::kS64 : kKey;
  if (indices->shape().type == ElementType::kU64)  // as signed: the greatest are no rows either way
    indices = w.Bitcast(indices, ElementType::kS64);
  const auto components = static_cast<int64_t>(scatter.named.size());
  indices = w.Reshape(w.Convert(indices, type), {count, components});
  Instruction *key = nullptr, *inside = nullptr;
  for (size_t k = 0; k < scatter.attrs.scatter_dims_to_operand_dims.size(); ++k) {
    const int64_t d = scatter.attrs.scatter_dims_to_operand_dims[k];
    Instruction* const at = w.Reshape(
        w.SliceOf(indices, 1, static_cast<int64_t>(k), static_cast<int64_t>(k) + 1), {count});
    const Shape& shape = at->shape();
    int64_t stride = 1;
    for (const int64_t e : scatter.named) stride *= e > d ? scatter.base.dims[e] : 1;
    Instruction* const is_there = w.Binary(
        Opcode::kAnd, w.Compare(at, w.FillInteger(shape, 0), ComparisonDirection::kGe),
        w.Compare(at, w.FillInteger(shape, scatter.base.dims[d]), ComparisonDirection::kLt));
    inside = inside == nullptr ? is_there : w.Binary(Opcode::kAnd, inside, is_there);
    Instruction* const part = w.WithInteger(Opcode::kMultiply, at, stride);
    key = key == nullptr ? part : w.Binary(Opcode::kAdd, key, part);
  }
  return w.Convert(w.Select(inside, key, w.FillInteger(key->shape(), scatter.places())), kKey);
}

// Keys in ascending order, and which update has each.
std::pair<Instruction*, Instruction*> Sorted(HloWriter& w, Instruction* keys, int64_t count) {
  Instruction* const number = w.Iota(kKey, {count}, 0);
  Module& module = *keys->module();
  Computation* const less = module.AddComputation("row-before");
  std::vector<Instruction*> sides;
  for (int64_t k = 0; k < 4; ++k)
    sides.push_back(less->AddParameter(k, RowMajor(kKey, {}), absl::StrCat("side", k)));
  less->set_root(less->Add(Opcode::kCompare, RowMajor(ElementType::kPred, {}), {sides[0], sides[1]},
                           CompareAttrs{ComparisonDirection::kLt}));
  Instruction* const sort =
      w.rewriter().Add(Opcode::kSort, Shape::Tuple({keys->shape(), number->shape()}),
                       {keys, number}, SortAttrs{{0}, /*is_stable=*/true});
  sort->set_called({less});
  return {w.Part(sort, 0), w.Part(sort, 1)};
}

// Updates in the order `numbers`, their batch dimensions one.
Instruction* InOrder(HloWriter& w, const PlaceScatter& scatter, Instruction* updates,
                     Instruction* numbers) {
  const int64_t count = scatter.count(), at = scatter.batch[0];
  DimVector dims = scatter.updates.dims;
  dims.erase(dims.begin() + at, dims.begin() + at + static_cast<int64_t>(scatter.batch.size()));
  dims.insert(dims.begin() + at, count);
  Instruction* const flat = w.Reshape(updates, dims);
  GatherAttrs by_number;
  for (int64_t d = 0; d < static_cast<int64_t>(dims.size()); ++d)
    if (d != at) by_number.offset_dims.push_back(d);
  by_number.collapsed_slice_dims = by_number.start_index_map = {at};
  by_number.index_vector_dim = 1;
  by_number.slice_sizes = dims;
  by_number.slice_sizes[at] = 1;
  return w.rewriter().Add(Opcode::kGather, flat->shape(), {flat, w.Reshape(numbers, {count, 1})},
                          by_number);
}

// The indices of sorted keys, a column for each dimension that is named; those of no place name
// none, for the first column has no limit.
Instruction* IndicesOf(HloWriter& w, const PlaceScatter& scatter, Instruction* keys) {
  std::vector<Instruction*> columns;
  int64_t stride = scatter.places();
  for (const int64_t d : scatter.named) {
    stride /= scatter.base.dims[d];
    Instruction* at = stride == 1 ? keys : w.WithInteger(Opcode::kDivide, keys, stride);
    if (!columns.empty()) at = w.WithInteger(Opcode::kRemainder, at, scatter.base.dims[d]);
    columns.push_back(w.Reshape(at, {scatter.count(), 1}));
  }
  return columns.size() == 1 ? columns[0] : w.Concatenate(columns, 1);
}

absl::StatusOr<Instruction*> SortUpdates(Instruction* i, Rewriter& r, double least,
                                         bool has_atomics) {
  if (i->opcode() != Opcode::kScatter || i->operand_count() != 3) return nullptr;
  if (has_atomics && OrderlessCombiner(*i).has_value()) return nullptr;
  for (const Instruction* operand : i->operands())
    if (operand->shape().HasDynamicDims()) return nullptr;
  const PlaceScatter scatter(*i);
  if (!scatter.Applies() || scatter.Steps() < least) return nullptr;
  HloWriter w(r);
  const auto [keys, numbers] = Sorted(w, Keys(w, scatter, i->operand(1)), scatter.count());
  Instruction* const updates = InOrder(w, scatter, i->operand(2), numbers);
  Instruction *base = i->operand(0), *indices = nullptr;
  if (scatter.IsOfRows()) {
    const auto named = static_cast<int64_t>(scatter.named.size());
    DimVector dims(scatter.base.dims.begin() + named, scatter.base.dims.end());
    dims.insert(dims.begin(), scatter.places());
    base = w.Reshape(base, dims);
    indices = w.Reshape(keys, {scatter.count(), 1});
  } else {
    indices = IndicesOf(w, scatter, keys);
  }
  Instruction* const sorted = r.Clone(i, base->shape(), {base, indices, updates});
  auto& attrs = sorted->mutable_attr<ScatterAttrs>();
  attrs.scatter_dims_to_operand_dims = scatter.named;
  if (scatter.IsOfRows()) attrs.inserted_window_dims = attrs.scatter_dims_to_operand_dims = {0};
  attrs.update_window_dims.clear();
  for (int64_t d = 0; d < updates->shape().rank(); ++d)
    if (d != scatter.batch[0]) attrs.update_window_dims.push_back(d);
  attrs.index_vector_dim = 1;
  attrs.indices_are_sorted = true;
  return w.Reshape(sorted, i->shape().dims);
}

}  // namespace

std::unique_ptr<Pass> CreateScatterSorter(PassArguments& arguments) {
  const int64_t least = arguments.Int("least", 1 << 26, "steps of a search that are worth a sort");
  const bool has_atomics =
      arguments.Flag("atomics", "none of integers, which memory combines in any order");
  return MakeExpander("scatter-sorter", [=](Instruction* i, Rewriter& r) {
    return SortUpdates(i, r, static_cast<double>(least), has_atomics);
  });
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
