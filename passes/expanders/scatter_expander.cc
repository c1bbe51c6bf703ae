// scatter_expander: expands scatters into loops of dynamic-update-slices.
//
// Scatters as dynamic update slices.
#include <algorithm>

#include "ops/dim_lists.h"
#include "passes/expanders/indexed_windows.h"
#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/rewrite/expander.h"

namespace hlokit {
namespace {

// One scatter, its parts named.
struct Plan {
  const Instruction* scatter;
  ScatterAttrs attrs;
  int64_t arrays;
  DimVector window;      // of one window in an operand, inserted dimensions as ones
  const Shape* operand;  // the first one's
};

DimVector FullWindow(const Shape& operand, const Shape& updates, const ScatterAttrs& attrs) {
  DimVector window;
  size_t next = 0;
  for (int64_t d = 0; d < operand.rank(); ++d)
    window.push_back(Contains(attrs.inserted_window_dims, d)
                         ? 1
                         : updates.dims[attrs.update_window_dims[next++]]);
  return window;
}

// The updates with one leading dimension for all index vectors.
Instruction* UpdateRows(HloWriter& w, Instruction* updates, int64_t count,
                        const ScatterAttrs& attrs) {
  DimVector order, dims = {count};
  for (int64_t d = 0; d < updates->shape().rank(); ++d)
    if (!Contains(attrs.update_window_dims, d)) order.push_back(d);
  for (int64_t d : attrs.update_window_dims) {
    order.push_back(d);
    dims.push_back(updates->shape().dims[d]);
  }
  return w.Reshape(w.Transpose(updates, order), dims);
}

// Where the window of an index vector begins, as a list: its parts, zero where the vector is
// silent.
Instruction* FullIndex(HloWriter& w, Instruction* row, const Plan& plan) {
  const DimVector& map = plan.attrs.scatter_dims_to_operand_dims;
  std::vector<Instruction*> parts;
  for (int64_t d = 0; d < plan.operand->rank(); ++d) {
    const int64_t k = std::find(map.begin(), map.end(), d) - map.begin();
    const bool given = k < static_cast<int64_t>(map.size());
    parts.push_back(given ? w.SliceOf(row, 0, k, k + 1) : w.List(row->shape().type, {0}));
  }
  return parts.empty() ? nullptr : w.Concatenate(parts, 0);
}

// Whether the window that begins there lies inside, as one pred; null where it always does.
Instruction* IsInside(HloWriter& w, Instruction* index, const Plan& plan) {
  if (plan.attrs.scatter_dims_to_operand_dims.empty()) return nullptr;
  const ElementType type = index->shape().type;
  const int bits = BitWidth(type) - (IsSigned(type) ? 1 : 0);
  const int64_t most = bits >= 63 ? INT64_MAX : (int64_t{1} << bits) - 1;
  std::vector<int64_t> last;
  for (int64_t d = 0; d < plan.operand->rank(); ++d)
    last.push_back(std::min(plan.operand->dims[d] - plan.window[d], most));
  Instruction* inside = w.Binary(
      Opcode::kAnd, w.Compare(w.FillInteger(index->shape(), 0), index, ComparisonDirection::kLe),
      w.Compare(w.List(type, last), index, ComparisonDirection::kGe));
  return w.Reduce(inside, w.Integer(ElementType::kPred, 1), {0},
                  MakeReducer(*inside->module(), Opcode::kAnd, ElementType::kPred));
}

// The operands after the window at `row` has been combined with the updates of one index vector.
std::vector<Instruction*> UpdateOnce(HloWriter& w, absl::Span<Instruction* const> operands,
                                     Instruction* row, std::vector<Instruction*> updates,
                                     const Plan& plan) {
  Instruction* index = FullIndex(w, row, plan);
  std::vector<Instruction*> start;
  for (int64_t d = 0; d < plan.operand->rank(); ++d) start.push_back(w.ElementOf(index, d));
  std::vector<Instruction*> arguments;
  for (Instruction* operand : operands)
    arguments.push_back(w.DynamicSlice(operand, start, plan.window));
  for (Instruction* update : updates) arguments.push_back(w.Reshape(update, plan.window));
  std::vector<Instruction*> combined = InlineElementwise(w, *plan.scatter->to_apply(), arguments);
  Instruction* inside = IsInside(w, index, plan);
  std::vector<Instruction*> results;
  for (size_t k = 0; k < operands.size(); ++k) {
    Instruction* value =
        inside == nullptr ? combined[k] : w.Select(inside, combined[k], arguments[k]);
    results.push_back(w.DynamicUpdateSlice(operands[k], value, start));
  }
  return results;
}

std::vector<Instruction*> AllUpdates(HloWriter& w, std::vector<Instruction*> operands,
                                     Instruction* rows, std::vector<Instruction*> updates,
                                     const Plan& plan) {
  const int64_t count = rows->shape().dims[0];
  auto round = [&](HloWriter& b, Instruction* i, absl::Span<Instruction* const> state) {
    std::vector<Instruction*> parts;
    for (int64_t k = 0; k < plan.arrays; ++k)
      parts.push_back(PartOf(b, state[plan.arrays + 1 + k], i));
    std::vector<Instruction*> next = UpdateOnce(
        b, state.subspan(0, plan.arrays), RowOf(b, state[plan.arrays], i), std::move(parts), plan);
    next.insert(next.end(), state.begin() + plan.arrays, state.end());
    return next;
  };
  std::vector<Instruction*> state = operands;
  state.push_back(rows);
  state.insert(state.end(), updates.begin(), updates.end());
  std::vector<Instruction*> after;
  if (count == 1) {
    after = round(w, nullptr, state);
  } else {
    after = CountedLoop(w, "scatter_loop", count, state, round);
  }
  after.resize(plan.arrays);
  return after;
}

bool CanExpand(const Instruction& scatter) {
  if (!IsElementwiseScalar(*scatter.to_apply())) return false;
  for (const Instruction* operand : scatter.operands())
    if (operand->shape().HasDynamicDims()) return false;
  // All windows lie outside of an operand without elements: there is nothing to slice either.
  if (scatter.operand(0)->shape().ElementCount() == 0) return false;
  const Instruction* updates = scatter.operand(scatter.operand_count() - 1);
  return updates->shape().ElementCount() > 0;
}

absl::StatusOr<Instruction*> ExpandScatter(Instruction* i, Rewriter& r) {
  if (!CanExpand(*i)) return nullptr;
  HloWriter w(r);
  const int64_t arrays = (i->operand_count() - 1) / 2;
  PlainScatter plain = WithoutBatchingOfScatter(*i, w);
  const Shape& operand = i->operand(0)->shape();
  Plan plan{i, plain.attrs, arrays,
            FullWindow(operand, i->operand(arrays + 1)->shape(), plain.attrs), &operand};
  Instruction* rows = IndexRows(w, plain.indices, plan.attrs.index_vector_dim);
  std::vector<Instruction*> operands, updates;
  for (int64_t k = 0; k < arrays; ++k) {
    operands.push_back(i->operand(k));
    updates.push_back(UpdateRows(w, i->operand(arrays + 1 + k), rows->shape().dims[0], plan.attrs));
  }
  const auto results = AllUpdates(w, operands, rows, updates, plan);
  return i->shape().IsTuple() ? w.Tuple(results) : results[0];
}

bool IsSimple(const Instruction& scatter) {
  const Shape& indices = scatter.operand((scatter.operand_count() - 1) / 2)->shape();
  return IndexVectorCount(indices, scatter.attr<ScatterAttrs>().index_vector_dim) == 1;
}

bool MayDependOnOrder(const Instruction& scatter) {
  // Sorting the updates by their places takes signed indices, and one array.
  const Shape& indices = scatter.operand((scatter.operand_count() - 1) / 2)->shape();
  if (scatter.attr<ScatterAttrs>().unique_indices || IsSimple(scatter) ||
      scatter.shape().IsTuple() || !IsSigned(indices.type))
    return false;
  const auto opcode = ReducerOpcode(*scatter.to_apply());
  if (!opcode) return true;
  const bool rounds = *opcode == Opcode::kAdd || *opcode == Opcode::kMultiply;
  const ElementType type = scatter.operand(0)->shape().type;
  return rounds && !IsInteger(type) && !IsPred(type);
}

bool LacksAtomics(const Instruction& scatter) {
  const ElementType type = scatter.operand(0)->shape().type;
  if (scatter.shape().IsTuple()) return !scatter.attr<ScatterAttrs>().unique_indices;
  return IsComplex(type) || BitWidth(type) > 64;
}

std::unique_ptr<Pass> ScatterPass(absl::string_view name, bool (*takes)(const Instruction&)) {
  return MakeExpander(name, [takes](Instruction* i, Rewriter& r) -> absl::StatusOr<Instruction*> {
    if (i->opcode() != Opcode::kScatter || !takes(*i)) return nullptr;
    return ExpandScatter(i, r);
  });
}

}  // namespace

// A scatter of a single window becomes a read, the combining function and a dynamic-update-slice,
// under a test that the window lies inside. With the option `all`, others become a loop that does
// so a round, in the order of the index vectors; without it they stay, as on XLA's CPU. Stay:
// scatters with dynamic dimensions, or whose function is more than elementwise. Exact. Cost:
// linear.
std::unique_ptr<Pass> CreateScatterExpander(PassArguments& arguments) {
  const bool all = arguments.Flag("all", "loops for scatters of more than one window, too");
  return ScatterPass("scatter_expander", all ? [](const Instruction&) { return true; } : &IsSimple);
}

// scatter_determinism_expander: scatter_expander of those whose result may hang on the order of the
// updates (indices not known to be unique, and a combination that is not associative bit for bit).
std::unique_ptr<Pass> CreateScatterDeterminismExpander() {
  return ScatterPass("scatter_determinism_expander", &MayDependOnOrder);
}

// gpu_scatter_expander: scatter_expander of those that combine tuples at indices that may not be
// unique, or types for which accelerators have no atomic operations (complex numbers, wider than 64
// bits).
std::unique_ptr<Pass> CreateGpuScatterExpander() {
  return ScatterPass("gpu_scatter_expander", &LacksAtomics);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
