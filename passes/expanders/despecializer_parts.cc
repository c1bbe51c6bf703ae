// Rewrites that make a module more general, or easier to run anywhere.
//
// Gathers taken for copies, windows for whole arrays, scatters cut to what is read.
#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "ops/dim_lists.h"
#include "passes/expanders/whole_windows.h"
#include "passes/framework/pass.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/hlo_writer.h"
#include "passes/rewrite/post_order_of.h"

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
  if (reduced.size() != 1) return nullptr;
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

// Whether updates reach at most one element of dimension d, at a place that indices choose.
bool PicksOneOf(const Instruction* scatter, int64_t d) {
  const auto& attrs = scatter->attr<ScatterAttrs>();
  if (!Contains(attrs.scatter_dims_to_operand_dims, d)) return false;
  if (Contains(attrs.inserted_window_dims, d)) return true;
  size_t window = 0;  // the number of d among the dimensions that windows have
  for (int64_t k = 0; k < d; ++k)
    window += !Contains(attrs.inserted_window_dims, k) && !Contains(attrs.input_batching_dims, k);
  return window < attrs.update_window_dims.size() &&
         scatter->operand(2)->shape().dims[attrs.update_window_dims[window]] == 1;
}

// A scatter of which only one slice is read, perhaps after elementwise operations.
class SlicedScatter {
 public:
  explicit SlicedScatter(Instruction* scatter) : scatter_(scatter) {}

  bool Matches() {
    if (scatter_->operand_count() != 3 || scatter_->IsRoot()) return false;
    std::vector<Instruction*> work = {scatter_};
    while (!work.empty()) {
      const Instruction* i = work.back();
      work.pop_back();
      for (Instruction* user : i->users()) {
        if (std::find(between_.begin(), between_.end(), user) != between_.end()) continue;
        if (user->opcode() == Opcode::kSlice) {
          if (!slices_.empty() && !user->SameAttributes(*slices_[0])) return false;
          slices_.push_back(user);
          continue;
        }
        const bool passes_on = HasTrait(user->opcode(), kElementwise) && !user->IsRoot() &&
                               user->shape().dims == scatter_->shape().dims;
        if (!passes_on) return false;
        between_.push_back(user);
        work.push_back(user);
      }
    }
    DimVector shortened;
    if (slices_.empty() || !Shortened(*slices_[0], shortened) || shortened.empty()) return false;
    return std::all_of(shortened.begin(), shortened.end(),
                       [&](int64_t d) { return PicksOneOf(scatter_, d); });
  }

  void Rewrite() {
    Computation& c = *scatter_->parent();
    Rewriter r(c);
    r.set_subject(scatter_);
    made_[scatter_] =
        r.Clone(scatter_, SliceOf(scatter_->shape()),
                {Cut(scatter_->operand(0), r), scatter_->operand(1), scatter_->operand(2)});
    for (Instruction* i : c.PostOrder()) {
      if (std::find(between_.begin(), between_.end(), i) == between_.end()) continue;
      r.set_subject(i);
      std::vector<Instruction*> operands;
      for (Instruction* operand : i->operands()) operands.push_back(Cut(operand, r));
      made_[i] = r.Clone(i, SliceOf(i->shape()), operands);
    }
    for (Instruction* slice : slices_) slice->ReplaceAllUsesWith(made_.at(slice->operand(0)));
    for (Instruction* slice : slices_) c.RemoveIfDead(slice);
  }

 private:
  Shape SliceOf(Shape shape) const {
    shape.dims = slices_[0]->shape().dims;
    return shape;
  }
  Instruction* Cut(Instruction* x, Rewriter& r) {
    if (const auto made = made_.find(x); made != made_.end()) return made->second;
    if (x->shape().IsScalar()) return x;
    return made_[x] = r.Clone(slices_[0], SliceOf(x->shape()), {x});
  }

  Instruction* const scatter_;
  std::vector<Instruction*> between_, slices_;
  absl::flat_hash_map<const Instruction*, Instruction*> made_;
};

absl::StatusOr<bool> SliceScatters(Computation& computation, RewriteControl& control) {
  bool changed = false;
  for (Instruction* i : PostOrderOf(computation, Opcode::kScatter)) {
    SlicedScatter sliced(i);
    if (!sliced.Matches() || !control.Permit("scatter-slice-simplifier", *i, *i)) continue;
    sliced.Rewrite();
    changed = true;
  }
  return changed;
}

}  // namespace

// AssumeGatherIndicesInBoundRewriteToCopy: a gather of the operand's own dimensions, given that its
// indices lie inside, is taken for a copy of the operand. Changes values where the indices are no
// iota: for measuring memory, not for computing, as in XLA.
std::unique_ptr<Pass> CreateAssumeGatherIndicesInBound() {
  return MakeExpander("AssumeGatherIndicesInBoundRewriteToCopy", GatherToCopy);
}

// ReduceWindowToReduceAndBroadcast: a reduce-window whose every window holds the whole of the one
// dimension it spans becomes a reduce and a broadcast. Exact but for the order of sums.
std::unique_ptr<Pass> CreateReduceWindowToReduceAndBroadcast() {
  return MakeExpander("ReduceWindowToReduceAndBroadcast", WindowsToReduce);
}

// scatter-slice-simplifier: a slice of the leading parts of a scatter that nothing else reads, but
// for elementwise operations of which the same slice is read, scatters into the slice of the
// operand, so that updates outside are dropped at once. Slices of dimensions of which updates hold
// more than one element stay. Exact.
std::unique_ptr<Pass> CreateScatterSliceSimplifier() {
  return MakeComputationPass("scatter-slice-simplifier", SliceScatters);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
