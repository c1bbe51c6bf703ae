// gather_expander: expands gathers into loops of dynamic-slices.
// A gather of windows that are whole operands becomes a broadcast, one with a single index vector a
// dynamic-slice. With the option `all`, others become a loop that takes a slice a round; without it
// they stay, as on XLA's CPU. Gathers with dynamic dimensions stay. Exact. Cost: linear.
//   gather(x, i) with one index vector  ->  dynamic-slice(x, i)
#include "ops/dim_lists.h"
#include "passes/expanders/indexed_windows.h"
#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/rewrite/expander.h"

namespace hlokit {
namespace {

// The slice sizes without the dimensions that the result leaves out.
DimVector WindowDims(const GatherAttrs& attrs) {
  DimVector dims;
  for (size_t d = 0; d < attrs.slice_sizes.size(); ++d)
    if (!Contains(attrs.collapsed_slice_dims, d)) dims.push_back(attrs.slice_sizes[d]);
  return dims;
}

// From one window an index vector to the gather's result: its batch dimensions, split, and the
// windows' dimensions, where offset_dims puts them.
Instruction* Arrange(HloWriter& w, Instruction* windows, const Shape& result,
                     const GatherAttrs& attrs) {
  const DimVector window = WindowDims(attrs);
  DimVector split, order;
  for (int64_t d = 0; d < result.rank(); ++d)
    if (!Contains(attrs.offset_dims, d)) split.push_back(result.dims[d]);
  int64_t batch = 0, offset = split.size();
  split.insert(split.end(), window.begin(), window.end());
  for (int64_t d = 0; d < result.rank(); ++d)
    order.push_back(Contains(attrs.offset_dims, d) ? offset++ : batch++);
  return w.Transpose(w.Reshape(windows, split), order);
}

Instruction* OneWindow(HloWriter& w, Instruction* operand, Instruction* row,
                       const GatherAttrs& attrs) {
  const auto start = WindowStart(w, row, attrs.start_index_map, operand->shape().rank());
  return w.Reshape(w.DynamicSlice(operand, start, attrs.slice_sizes), WindowDims(attrs));
}

Instruction* Loop(HloWriter& w, Instruction* operand, Instruction* rows, const Shape& result,
                  const GatherAttrs& attrs) {
  DimVector dims = WindowDims(attrs);
  const int64_t count = rows->shape().dims[0];
  dims.insert(dims.begin(), count);
  Instruction* empty = w.FillInteger(RowMajor(result.type, dims), 0);
  return CountedLoop(w, "gather_loop", count, {operand, rows, empty},
                     [&](HloWriter& b, Instruction* i, absl::Span<Instruction* const> state) {
                       Instruction* row = RowOf(b, state[1], i);
                       Instruction* window = OneWindow(b, state[0], row, attrs);
                       return std::vector{state[0], state[1], WithPart(b, state[2], window, i)};
                     })[2];
}

absl::StatusOr<Instruction*> ExpandGather(Instruction* i, Rewriter& r, bool all) {
  if (i->opcode() != Opcode::kGather || i->shape().ElementCount() == 0) return nullptr;
  Instruction* operand = i->operand(0);
  if (i->shape().HasDynamicDims() || operand->shape().HasDynamicDims()) return nullptr;
  const auto& given = i->attr<GatherAttrs>();
  HloWriter w(r);
  // Of slices without elements whose empty dimensions are dropped nothing is read.
  if (Contains(given.slice_sizes, 0)) return w.FillInteger(i->shape(), 0);
  if (given.operand_batching_dims.empty() && given.slice_sizes == operand->shape().dims) {
    Instruction* window = w.Reshape(operand, WindowDims(given));
    return w.Broadcast(window, i->shape().dims, given.offset_dims);
  }
  const int64_t count = IndexVectorCount(i->operand(1)->shape(), given.index_vector_dim);
  if (count != 1 && !all) return nullptr;
  const PlainGather plain = WithoutBatching(*i, w);
  Instruction* rows = IndexRows(w, plain.indices, plain.attrs.index_vector_dim);
  Instruction* windows = count == 1 ? OneWindow(w, operand, RowOf(w, rows, nullptr), plain.attrs)
                                    : Loop(w, operand, rows, i->shape(), plain.attrs);
  return Arrange(w, windows, i->shape(), plain.attrs);
}

}  // namespace

std::unique_ptr<Pass> CreateGatherExpander(PassArguments& arguments) {
  const bool all = arguments.Flag("all", "loops for gathers of more than one window, too");
  return MakeExpander("gather_expander",
                      [all](Instruction* i, Rewriter& r) { return ExpandGather(i, r, all); });
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
