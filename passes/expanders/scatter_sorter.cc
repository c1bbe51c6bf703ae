// scatter-sorter: scatters of many rows get their updates in the order of their targets,
//
//   r = scatter(x, i, u, add) of f32[100000,256], 131,072 rows of updates
//     ->  key = i[:,0], or 100000 where that is no row       k, p = sort(key, iota), stable
//         r = scatter(x, k, gather(u, p), add), indices_are_sorted
//
// so that whoever finds the first update of a row finds the others behind it, in their old order:
// a search of each row among all updates would take rows times updates. Exact, and the same
// combinations in the same order. A sort of two arrays of s32, and the updates read by their place.
//
// Option `least`: scatters whose search would take fewer steps stay. Limits: whole rows of
// row-major arrays, numbered by the slowest dimensions; indices in a matrix, or one a row.
#include <numeric>

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

// A scatter of rows of one array.
struct RowScatter {
  const ScatterAttrs& attrs;
  const Shape &base, &indices, &updates;

  explicit RowScatter(const Instruction& i)
      : attrs(i.attr<ScatterAttrs>()),
        base(i.operand(0)->shape()),
        indices(i.operand(1)->shape()),
        updates(i.operand(2)->shape()) {}

  int64_t named() const { return static_cast<int64_t>(attrs.inserted_window_dims.size()); }
  int64_t count() const { return updates.dims[0]; }
  int64_t rows() const {
    return std::accumulate(base.dims.begin(), base.dims.begin() + named(), int64_t{1},
                           std::multiplies<int64_t>());
  }

  bool Applies() const {
    const bool is_matrix = indices.rank() == 2 && attrs.index_vector_dim == 1;
    const bool is_list = indices.rank() == 1 && attrs.index_vector_dim == 1;
    if (!(is_matrix || is_list) || !IsInteger(indices.type) || IsSubByte(indices.type))
      return false;
    if (named() == 0 || !CountsFrom(attrs.inserted_window_dims, 0) ||
        attrs.scatter_dims_to_operand_dims.size() != attrs.inserted_window_dims.size() ||
        !attrs.input_batching_dims.empty() || attrs.indices_are_sorted || attrs.unique_indices)
      return false;
    for (const int64_t d : attrs.scatter_dims_to_operand_dims)
      if (d >= named()) return false;
    if (updates.rank() != base.rank() - named() + 1 || !CountsFrom(attrs.update_window_dims, 1))
      return false;
    for (int64_t d = 1; d < updates.rank(); ++d)
      if (updates.dims[d] != base.dims[d - 1 + named()]) return false;
    return base.IsRowMajor() && updates.IsRowMajor() && rows() < INT32_MAX;
  }

  // Of the cheaper search, of all updates for each element of the base or of the updates.
  double Steps() const {
    return static_cast<double>(count()) *
           static_cast<double>(std::min(base.ElementCount(), updates.ElementCount()));
  }
};

// The number of each update's row, or of rows where it has none.
Instruction* Keys(HloWriter& w, const RowScatter& scatter, Instruction* indices) {
  const int64_t count = scatter.count();
  const bool wide =
      BitWidth(indices->shape().type) > 32 || indices->shape().type == ElementType::kU32;
  const ElementType type = wide ? ElementType::kS64 : kKey;
  if (indices->shape().type == ElementType::kU64)  // as signed: the greatest are no rows either way
    indices = w.Bitcast(indices, ElementType::kS64);
  indices = w.Convert(indices, type);
  Instruction *key = nullptr, *inside = nullptr;
  for (size_t k = 0; k < scatter.attrs.scatter_dims_to_operand_dims.size(); ++k) {
    const int64_t d = scatter.attrs.scatter_dims_to_operand_dims[k];
    Instruction* at = indices;
    if (at->shape().rank() == 2)
      at = w.Reshape(w.SliceOf(at, 1, static_cast<int64_t>(k), static_cast<int64_t>(k) + 1),
                     {count});
    const Shape& shape = at->shape();
    int64_t stride = 1;
    for (int64_t e = d + 1; e < scatter.named(); ++e) stride *= scatter.base.dims[e];
    Instruction* const is_there = w.Binary(
        Opcode::kAnd, w.Compare(at, w.FillInteger(shape, 0), ComparisonDirection::kGe),
        w.Compare(at, w.FillInteger(shape, scatter.base.dims[d]), ComparisonDirection::kLt));
    inside = inside == nullptr ? is_there : w.Binary(Opcode::kAnd, inside, is_there);
    Instruction* const part = w.WithInteger(Opcode::kMultiply, at, stride);
    key = key == nullptr ? part : w.Binary(Opcode::kAdd, key, part);
  }
  return w.Convert(w.Select(inside, key, w.FillInteger(key->shape(), scatter.rows())), kKey);
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

absl::StatusOr<Instruction*> SortUpdates(Instruction* i, Rewriter& r, double least,
                                         bool has_atomics) {
  if (i->opcode() != Opcode::kScatter || i->operand_count() != 3) return nullptr;
  if (has_atomics && OrderlessCombiner(*i).has_value()) return nullptr;
  for (const Instruction* operand : i->operands())
    if (operand->shape().HasDynamicDims()) return nullptr;
  const RowScatter scatter(*i);
  if (!scatter.Applies() || scatter.Steps() < least) return nullptr;
  HloWriter w(r);
  const int64_t count = scatter.count();
  const auto [keys, numbers] = Sorted(w, Keys(w, scatter, i->operand(1)), count);
  GatherAttrs by_number;
  DimVector window;
  for (int64_t d = 1; d < scatter.updates.rank(); ++d) window.push_back(d);
  by_number.offset_dims = window;
  by_number.collapsed_slice_dims = by_number.start_index_map = {0};
  by_number.index_vector_dim = 1;
  by_number.slice_sizes = scatter.updates.dims;
  by_number.slice_sizes[0] = 1;
  Instruction* const updates = r.Add(Opcode::kGather, scatter.updates,
                                     {i->operand(2), w.Reshape(numbers, {count, 1})}, by_number);
  DimVector dims(scatter.base.dims.begin() + scatter.named(), scatter.base.dims.end());
  dims.insert(dims.begin(), scatter.rows());
  Instruction* const base = w.Reshape(i->operand(0), dims);
  Instruction* const sorted =
      r.Clone(i, base->shape(), {base, w.Reshape(keys, {count, 1}), updates});
  auto& attrs = sorted->mutable_attr<ScatterAttrs>();
  attrs.inserted_window_dims = attrs.scatter_dims_to_operand_dims = {0};
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
