// tree_reduction_rewriter: rewrites long reductions as two stages.
// A reduce over a dimension longer than `window` (32) first reduces windows of that length, which
// rounds less and has shorter chains. Reassociates floats. Stay: reduces of several arrays, and
// those whose start is not the identity element (0 for add), which the first step would count more
// than once. With `rounded`: sums and products of floats narrower than f32 alone, which round at
// each step, and again and again until no dimension is longer, as ops/evaluate/reducer.h has it for
// all backends.
//   reduce f32[10000]  ->  reduce-window of 32, then reduce f32[313]
#include <algorithm>

#include "ops/evaluate/reducer.h"
#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/hlo_writer.h"

namespace hlokit {
namespace {

absl::StatusOr<Instruction*> RewriteTree(Instruction* i, Rewriter& r, int64_t window_size) {
  if (i->opcode() != Opcode::kReduce || i->operand_count() != 2) return nullptr;
  Instruction* x = i->operand(0);
  if (x->shape().HasDynamicDims()) return nullptr;
  const auto opcode = ReducerOpcode(*i->to_apply());
  if (!opcode || !IsIdentity(i->operand(1), *opcode)) return nullptr;
  const DimVector& reduced = i->attr<DimensionsAttrs>().dimensions;
  Window window(x->shape().rank());
  Shape shape = RetypedLike(x->shape(), i->shape().type);
  bool is_long = false;
  for (int64_t d : reduced) {
    const int64_t size = x->shape().dims[d];
    if (size == 0) return nullptr;
    is_long |= size > window_size;
    WindowDim& dim = window[d];
    dim.size = dim.stride = std::min(size, window_size);
    shape.dims[d] = (size + dim.size - 1) / dim.size;
    const int64_t padding = shape.dims[d] * dim.size - size;
    dim.pad_low = padding / 2;
    dim.pad_high = padding - padding / 2;
  }
  if (!is_long) return nullptr;
  Instruction* first =
      r.Add(Opcode::kReduceWindow, shape, {x, i->operand(1)}, WindowAttrs{std::move(window)});
  first->set_called({i->to_apply()});
  return r.Clone(i, i->shape(), {first, i->operand(1)});
}

// Sums over the blocks of `x` that `window` tells.
Instruction* ReduceBlocks(const Instruction* reduce, Instruction* x, Window window, Rewriter& r) {
  Shape shape = RetypedLike(x->shape(), reduce->shape().type);
  for (size_t d = 0; d < window.size(); ++d)
    shape.dims[d] = (shape.dims[d] + window[d].pad_low + window[d].pad_high) / window[d].size;
  Instruction* blocks =
      r.Add(Opcode::kReduceWindow, shape, {x, reduce->operand(1)}, WindowAttrs{std::move(window)});
  blocks->set_called({reduce->to_apply()});
  return blocks;
}

// Where each step rounds: the blocks that the interpreter sums, as reduce-windows.
absl::StatusOr<Instruction*> RewriteRoundedTree(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kReduce) return nullptr;
  Instruction* x = i->operand(0);
  while (std::optional<Window> window = RoundedBlocks(*i, x->shape()))
    x = ReduceBlocks(i, x, *std::move(window), r);
  return x == i->operand(0) ? nullptr : r.Clone(i, i->shape(), {x, i->operand(1)});
}

}  // namespace

std::unique_ptr<Pass> CreateTreeReductionRewriter(PassArguments& arguments) {
  const int64_t window =
      std::max<int64_t>(2, arguments.Int("window", 32, "elements that the first step joins"));
  if (arguments.Flag("rounded", "only reductions whose steps round, in blocks of 32"))
    return MakeExpander("tree_reduction_rewriter", RewriteRoundedTree);
  return MakeExpander("tree_reduction_rewriter",
                      [window](Instruction* i, Rewriter& r) { return RewriteTree(i, r, window); });
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
