// Recipes that look up, scatter and order elements: gather, scatter, sort, top-k. Start indices are
// arbitrary integers, in and out of bounds. Results must not depend on an order that XLA leaves
// open: scatters combine by associative operations, and sorts that are not stable break ties by
// position.
#include <algorithm>

#include "absl/algorithm/container.h"
#include "generator/scope_internal.h"

namespace hlokit {
namespace {

// Where gather and scatter look: which operand dimensions an index vector addresses, and how large
// the slices are.
struct Addressing {
  DimVector map;      // operand dimensions, by position in the index vector
  DimVector dropped;  // of slice size 1 (0 where there are no elements), left out of the slices
  DimVector batched;  // of slice size 1, each followed by a dimension of the indices
  DimVector batched_indices;
  DimVector sizes;  // of a slice, by operand dimension
  DimVector batch;  // dimensions of the indices but the index vector's
  int64_t vector_dim = 0;
  DimVector index_dims;
};

Addressing PickAddressing(GeneratedCode& s, absl::Span<const int64_t> dims) {
  Addressing a;
  const auto rank = static_cast<int64_t>(dims.size());
  const bool may_batch = s.random().Chance(0.3);
  for (int64_t d = 0; d < rank; ++d) {
    if (may_batch && dims[d] > 0 && dims[d] <= 9 && s.random().Chance(0.4)) {
      a.batched.push_back(d);
      a.sizes.push_back(1);
      continue;
    }
    const bool addressed = s.random().Chance(0.6);
    const bool dropped = addressed && s.random().Chance(0.6);
    if (addressed) a.map.push_back(d);
    if (dropped) a.dropped.push_back(d);
    a.sizes.push_back(dropped     ? std::min<int64_t>(dims[d], 1)
                      : addressed ? s.random().Between(std::min<int64_t>(dims[d], 1), dims[d])
                                  : dims[d]);
  }
  s.random().Shuffle(a.map);
  a.batch = s.NewDims(0, 2);
  for (int64_t& d : a.batch) d = std::min<int64_t>(d, 6);
  // The dimensions that follow, in any order among the others.
  DimVector order, free = a.batch;
  for (size_t i = 0; i < free.size() + a.batched.size(); ++i)
    order.push_back(static_cast<int64_t>(i));
  s.random().Shuffle(order);
  a.batch.assign(order.size(), 0);
  for (size_t i = 0; i < order.size(); ++i)
    a.batch[order[i]] = i < a.batched.size() ? dims[a.batched[i]] : free[i - a.batched.size()];
  a.vector_dim = s.random().Between(0, static_cast<int64_t>(a.batch.size()));
  a.index_dims = a.batch;
  const bool implied = a.map.size() == 1 && s.random().Chance(0.3);
  if (implied) a.vector_dim = static_cast<int64_t>(a.batch.size());
  if (!implied)
    a.index_dims.insert(a.index_dims.begin() + a.vector_dim, static_cast<int64_t>(a.map.size()));
  for (size_t i = 0; i < a.batched.size(); ++i)
    a.batched_indices.push_back(order[i] + (!implied && order[i] >= a.vector_dim ? 1 : 0));
  return a;
}

// Slice dimensions that stay, and where they go in an array of batch and slice dimensions.
DimVector PickOffsetDims(GeneratedCode& s, const Addressing& a, DimVector& result_dims) {
  DimVector kept;
  for (size_t d = 0; d < a.sizes.size(); ++d)
    if (!absl::c_linear_search(a.dropped, static_cast<int64_t>(d)) &&
        !absl::c_linear_search(a.batched, static_cast<int64_t>(d)))
      kept.push_back(a.sizes[d]);
  DimVector all;
  for (size_t d = 0; d < kept.size() + a.batch.size(); ++d) all.push_back(static_cast<int64_t>(d));
  s.random().Shuffle(all);
  DimVector offsets(all.begin(), all.begin() + static_cast<int64_t>(kept.size()));
  std::sort(offsets.begin(), offsets.end());
  size_t next_kept = 0, next_batch = 0;
  for (size_t d = 0; d < all.size(); ++d) {
    const bool is_offset =
        next_kept < offsets.size() && offsets[next_kept] == static_cast<int64_t>(d);
    result_dims.push_back(is_offset ? kept[next_kept++] : a.batch[next_batch++]);
  }
  return offsets;
}

// Integers of any width and sign; s32 most often.
ElementType IndexType(GeneratedCode& s) {
  return s.random().OneOf({ElementType::kS32, ElementType::kS32, ElementType::kS64,
                           ElementType::kU32, ElementType::kS16, ElementType::kU8});
}

}  // namespace

void GatherValue(GeneratedCode& s) {
  const RandomValue x = s.Any();
  const Addressing a = PickAddressing(s, x.shape().dims);
  DimVector result;
  GatherAttrs attributes;
  attributes.offset_dims = PickOffsetDims(s, a, result);
  if (CountOf(result) > s.state().options.max_elements * 4) return;
  attributes.collapsed_slice_dims = a.dropped;
  attributes.operand_batching_dims = a.batched;
  attributes.start_indices_batching_dims = a.batched_indices;
  attributes.start_index_map = a.map;
  attributes.index_vector_dim = a.vector_dim;
  attributes.slice_sizes = a.sizes;
  const bool of_nothing = CountOf(a.sizes) == 0;  // gives zeros
  if (of_nothing && x.type() == ElementType::kF8E8M0FNU) return;
  const RandomValue indices = s.Get(IndexType(s), a.index_dims);
  s.Keep(s.Make(Opcode::kGather, {x.instruction, indices.instruction}, attributes),
         of_nothing ? Bounds{} : x.bounds);
}

namespace {

// x - y: in any order of the updates the same, if x is what was there.
Computation* Subtraction(GeneratedCode& s, ElementType type) {
  Computation* made = s.module().AddComputation("subtract_update");
  const Shape scalar = Shape::Scalar(type).WithDefaultLayout();
  Instruction* x = made->AddParameter(0, scalar);
  Instruction* y = made->AddParameter(1, scalar);
  made->set_root(made->Add(Opcode::kSubtract, scalar, {x, y}));
  return made;
}

DimVector BatchedSizes(const Addressing& a, absl::Span<const int64_t> dims) {
  DimVector sizes;
  for (int64_t d : a.batched) sizes.push_back(dims[d]);
  return sizes;
}

}  // namespace

void ScatterValue(GeneratedCode& s) {
  const RandomValue x = s.Any();
  if (x.type() == ElementType::kF8E8M0FNU) return;
  const Addressing a = PickAddressing(s, x.shape().dims);
  DimVector update_dims;
  ScatterAttrs attributes;
  attributes.update_window_dims = PickOffsetDims(s, a, update_dims);
  const int64_t count = CountOf(update_dims);
  if (count > s.state().options.max_elements * 4) return;
  attributes.inserted_window_dims = a.dropped;
  attributes.scatter_dims_to_operand_dims = a.map;
  attributes.index_vector_dim = a.vector_dim;
  const RandomValue indices = s.Get(IndexType(s), a.index_dims);
  attributes.input_batching_dims = a.batched;
  attributes.scatter_indices_batching_dims = a.batched_indices;
  const RandomValue updates = s.Get(x.type(), update_dims);
  Opcode combiner = s.random().OneOf({Opcode::kAdd, Opcode::kMaximum, Opcode::kMinimum});
  if (IsPred(x.type())) combiner = s.random().OneOf({Opcode::kAnd, Opcode::kOr});
  if (IsComplex(x.type())) combiner = Opcode::kAdd;
  if (IsInteger(x.type()) && s.random().Chance(0.4))
    combiner = s.random().OneOf(
        {Opcode::kMultiply, Opcode::kAnd, Opcode::kOr, Opcode::kXor, Opcode::kSubtract});
  Computation* update = s.ScalarFunction(combiner, x.type());
  if (combiner == Opcode::kSubtract) update = Subtraction(s, x.type());
  // Where each position is met once, the update may replace what is there.
  const bool unique = CountOf(a.batch) == CountOf(BatchedSizes(a, x.shape().dims));
  if (unique && s.random().Chance(0.4)) {
    update->set_root(update->parameter(1));
    attributes.unique_indices = s.random().Chance(0.5);
    combiner = Opcode::kMaximum;
  }
  Bounds bounds = Join(x.bounds, updates.bounds);
  if (combiner == Opcode::kAdd)
    bounds = AddBounds(x.type(), x.bounds, SumBounds(x.type(), updates.bounds, {1, 1, 0}, count));
  s.Keep(s.MakeCalling(Opcode::kScatter, {x.instruction, indices.instruction, updates.instruction},
                       {update}, attributes),
         bounds);
}

namespace {

// Orders by the first of `types`, and where those are equal by a second integer: payloads of equal
// keys may come in any order otherwise.
Computation* Comparator(GeneratedCode& s, absl::Span<const ElementType> types,
                        int64_t tie_breaker) {
  Computation* made = s.module().AddComputation("compare");
  std::vector<Instruction*> parameters;
  for (ElementType type : types)
    for (int side = 0; side < 2; ++side)
      parameters.push_back(
          made->AddParameter(made->parameter_count(), Shape::Scalar(type).WithDefaultLayout()));
  const Shape pred = Shape::Scalar(ElementType::kPred).WithDefaultLayout();
  CompareAttrs attributes;
  attributes.direction = s.random().OneOf({ComparisonDirection::kLt, ComparisonDirection::kGt});
  if (IsFloat(types[0]) && s.random().Chance(0.5)) attributes.type = ComparisonType::kTotalOrder;
  auto compare = [&](int64_t key, CompareAttrs how) {
    return made->Add(Opcode::kCompare, pred, {parameters[2 * key], parameters[2 * key + 1]}, how);
  };
  Instruction* root = compare(0, attributes);
  if (tie_breaker > 0) {
    Instruction* equal = compare(0, {ComparisonDirection::kEq, attributes.type});
    Instruction* second = compare(tie_breaker, {ComparisonDirection::kLt, {}});
    root = made->Add(Opcode::kSelect, pred, {equal, second, root});
  }
  made->set_root(root);
  return made;
}

}  // namespace

// Sorts one to three arrays by the first.
void SortValues(GeneratedCode& s) {
  const ElementType type = s.AnyType();
  if (IsComplex(type) || type == ElementType::kF8E8M0FNU) return;
  const RandomValue keys = s.GetAny(type, /*exact=*/true);
  const int rank = keys.shape().rank();
  if (rank == 0) return;
  const int64_t dimension = s.random().Between(0, rank - 1);
  std::vector<Instruction*> operands = {keys.instruction};
  std::vector<ElementType> types = {type};
  std::vector<Bounds> bounds = {keys.bounds};
  const bool stable = s.random().Chance(0.6);
  int64_t tie_breaker = 0;
  for (int64_t more = s.random().Between(0, 2); more > 0; --more) {
    RandomValue next = s.Get(s.AnyType(), keys.shape().dims);
    if (!stable && tie_breaker == 0) {
      const Shape numbers = keys.shape().WithoutLayout().WithType(ElementType::kS32);
      next = {s.Make(Opcode::kIota, {}, IotaAttrs{dimension}, &numbers), {}};
      tie_breaker = static_cast<int64_t>(operands.size());
    }
    operands.push_back(next.instruction);
    types.push_back(next.type());
    bounds.push_back(next.bounds);
  }
  Instruction* sorted = s.MakeCalling(Opcode::kSort, operands, {Comparator(s, types, tie_breaker)},
                                      SortAttrs{{dimension}, stable});
  if (operands.size() == 1) return s.Keep(sorted, bounds[0]);
  s.KeepElements(sorted, bounds);
}

// k from 0 to the whole row.
void TopKValue(GeneratedCode& s) {
  const ElementType type = s.random().OneOf(
      {ElementType::kF32, ElementType::kBF16, ElementType::kS32, ElementType::kF64});
  const RandomValue x = s.GetAny(type, /*exact=*/true);
  if (x.shape().rank() == 0) return;
  const TopKAttrs attributes{s.random().Between(0, x.shape().dims.back()), s.random().Chance(0.8)};
  s.KeepElements(s.Make(Opcode::kTopK, {x.instruction}, attributes), {x.bounds, {}});
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
