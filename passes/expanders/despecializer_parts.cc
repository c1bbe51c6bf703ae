// Rewrites that make a module more general, or easier to run anywhere.
//
// Gathers taken for copies, windows for whole arrays, scatters cut to what is read.
#include "ops/dim_lists.h"
#include "passes/framework/pass.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/hlo_writer.h"

namespace hlokit {
namespace {

absl::StatusOr<Instruction*> GatherToCopy(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kGather || !SameIgnoringLayout(i->operand(0)->shape(), i->shape()))
    return nullptr;
  return r.Add(Opcode::kCopy, i->shape(), {i->operand(0)});
}

// Whether each of the `count` windows along a dimension of `size` elements holds all of them.
bool HoldsAll(const WindowDim& w, int64_t size, int64_t count) {
  if (w.base_dilation != 1 || w.window_dilation != 1) return false;
  return w.pad_low >= 0 && w.size - w.pad_low >= size && (count - 1) * w.stride <= w.pad_low;
}

absl::StatusOr<Instruction*> WindowsToReduce(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kReduceWindow || i->operand_count() != 2 ||
      i->shape().HasDynamicDims() || i->shape().ElementCount() == 0)
    return nullptr;
  const Shape& operand = i->operand(0)->shape();
  const Window& window = i->attr<WindowAttrs>().window;
  const auto opcode = ReducerOpcode(*i->to_apply());
  if (!opcode || !IsIdentity(i->operand(1), *opcode) || operand.type != i->shape().type)
    return nullptr;
  DimVector reduced, kept;
  for (int64_t d = 0; d < operand.rank(); ++d) {
    if (window[d] == WindowDim()) {
      kept.push_back(d);
    } else if (HoldsAll(window[d], operand.dims[d], i->shape().dims[d])) {
      reduced.push_back(d);
    } else {
      return nullptr;
    }
  }
  if (reduced.empty()) return nullptr;
  HloWriter w(r);
  Instruction* all = w.Reduce(i->operand(0), i->operand(1), reduced, i->to_apply());
  return r.Broadcast(all, i->shape(), kept);
}

// The dimensions that a slice from zero with stride one shortens; false where it is another.
bool Shortened(const Instruction& slice, DimVector& dims) {
  const SliceSpec& spec = slice.attr<SliceAttrs>().slice;
  for (size_t d = 0; d < spec.size(); ++d) {
    if (spec[d].start != 0 || spec[d].stride != 1) return false;
    if (spec[d].limit != slice.operand(0)->shape().dims[d]) dims.push_back(d);
  }
  return true;
}

absl::StatusOr<Instruction*> SliceScatter(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kSlice || i->operand(0)->opcode() != Opcode::kScatter ||
      i->operand(0)->users().size() != 1 || i->operand(0)->IsRoot())
    return nullptr;
  Instruction* scatter = i->operand(0);
  DimVector shortened;
  if (scatter->operand_count() != 3 || !Shortened(*i, shortened)) return nullptr;
  const auto& attrs = scatter->attr<ScatterAttrs>();
  for (int64_t d : shortened)
    if (!Contains(attrs.inserted_window_dims, d) ||
        !Contains(attrs.scatter_dims_to_operand_dims, d))
      return nullptr;
  Instruction* operand = r.Clone(i, i->shape(), {scatter->operand(0)});
  return r.Clone(scatter, i->shape(), {operand, scatter->operand(1), scatter->operand(2)});
}

}  // namespace

// AssumeGatherIndicesInBoundRewriteToCopy: a gather of the operand's own dimensions, given that its
// indices lie inside, is taken for a copy of the operand. Changes values where the indices are no
// iota: for measuring memory, not for computing, as in XLA.
std::unique_ptr<Pass> CreateAssumeGatherIndicesInBound() {
  return MakeExpander("AssumeGatherIndicesInBoundRewriteToCopy", GatherToCopy);
}

// ReduceWindowToReduceAndBroadcast: a reduce-window whose every window holds the whole of the
// dimensions it spans becomes a reduce and a broadcast. Exact but for the order of sums.
std::unique_ptr<Pass> CreateReduceWindowToReduceAndBroadcast() {
  return MakeExpander("ReduceWindowToReduceAndBroadcast", WindowsToReduce);
}

// scatter-slice-simplifier: a slice of the leading parts of a scatter that nothing else reads
// scatters into the slice of the operand, so that updates outside are dropped at once. Slices of
// window dimensions stay. Exact.
std::unique_ptr<Pass> CreateScatterSliceSimplifier() {
  return MakeExpander("scatter-slice-simplifier", SliceScatter);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
