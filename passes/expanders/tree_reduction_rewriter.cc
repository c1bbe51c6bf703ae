// A reduce-window before a reduce.
#include "passes/expanders/tree_reduction_rewriter.h"

#include <algorithm>

#include "passes/expander.h"
#include "passes/hlo_writer.h"

namespace hlokit {
namespace {

absl::StatusOr<Instruction*> Rewrite(Instruction* i, Rewriter& r, int64_t window_size) {
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

}  // namespace

std::unique_ptr<Pass> CreateTreeReductionRewriter(PassArguments& arguments) {
  const int64_t window =
      std::max<int64_t>(2, arguments.Int("window", 32, "elements that the first step joins"));
  return MakeExpander("tree_reduction_rewriter",
                      [window](Instruction* i, Rewriter& r) { return Rewrite(i, r, window); });
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
