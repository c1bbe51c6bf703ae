// dead-dus-elimination and recognize-reduce-window: what slices leave unread, and what they add up.
//   slice(dynamic-update-slice(x, u, 8), [0:4]) -> slice(x, [0:4])
//   x[0:6] + x[1:7] + x[2:8] -> reduce-window(x), window={size=3}
#include <algorithm>

#include "passes/framework/pass.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/matchers.h"

namespace hlokit {
namespace {

// Where the update starts; nothing where that is computed or out of range.
std::optional<DimVector> ConstantStarts(const Instruction* update) {
  const Shape& shape = update->shape();
  if (update->operand_count() != shape.rank() + 2) return std::nullopt;
  DimVector starts;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    const std::optional<int64_t> start = IntegerSplat(update->operand(d + 2));
    if (!start || *start < 0 || *start > shape.dims[d] - update->operand(1)->shape().dims[d])
      return std::nullopt;
    starts.push_back(*start);
  }
  return starts;
}

bool Misses(const Instruction* slice, const DimVector& starts, const Shape& window) {
  if (slice->opcode() != Opcode::kSlice) return false;
  const SliceSpec& spec = slice->attr<SliceAttrs>().slice;
  for (size_t d = 0; d < spec.size(); ++d)
    if (spec[d].limit <= starts[d] || spec[d].start >= starts[d] + window.dims[d]) return true;
  return false;
}

absl::StatusOr<Instruction*> DropUnread(Instruction* i, Rewriter&) {
  if (i->opcode() != Opcode::kDynamicUpdateSlice || i->IsRoot()) return nullptr;
  const std::optional<DimVector> starts = ConstantStarts(i);
  if (!starts || !SameShape(i->operand(0)->shape(), i->shape())) return nullptr;
  for (const Instruction* user : i->users())
    if (!Misses(user, *starts, i->operand(1)->shape())) return nullptr;
  return i->operand(0);
}

// The slices that a chain of additions adds, in order; empty where it is something else.
std::vector<const Instruction*> AddedSlices(const Instruction* sum) {
  std::vector<const Instruction*> slices;
  const Instruction* at = sum;
  while (at->opcode() == Opcode::kAdd && at->operand(1)->opcode() == Opcode::kSlice &&
         (at == sum || (at->users().size() == 1 && !at->IsRoot()))) {
    slices.push_back(at->operand(1));
    at = at->operand(0);
  }
  if (at->opcode() != Opcode::kSlice) return {};
  slices.push_back(at);
  std::reverse(slices.begin(), slices.end());
  return slices;
}

struct Steps {
  int64_t dimension = -1, distance = 0;
};

// How the slices follow each other, if they do.
std::optional<Steps> StepsOf(const std::vector<const Instruction*>& slices) {
  Steps steps;
  for (size_t k = 1; k < slices.size(); ++k) {
    if (slices[k]->operand(0) != slices[0]->operand(0) ||
        slices[k]->shape().dims != slices[0]->shape().dims)
      return std::nullopt;
    const SliceSpec& a = slices[k - 1]->attr<SliceAttrs>().slice;
    const SliceSpec& b = slices[k]->attr<SliceAttrs>().slice;
    for (size_t d = 0; d < a.size(); ++d) {
      if (a[d].stride != 1 || b[d].stride != 1) return std::nullopt;
      const int64_t distance = b[d].start - a[d].start;
      if (distance == 0) continue;
      const bool fits =
          distance > 0 && (steps.dimension < 0 || (steps.dimension == static_cast<int64_t>(d) &&
                                                   steps.distance == distance));
      if (!fits) return std::nullopt;
      steps = {static_cast<int64_t>(d), distance};
    }
  }
  return steps.dimension >= 0 ? std::optional<Steps>(steps) : std::nullopt;
}

Computation* Adder(Module& module, ElementType type) {
  const Shape scalar = Shape::Scalar(type).WithDefaultLayout();
  Computation* f = module.AddComputation("add");
  Instruction* a = f->AddParameter(0, scalar, "a");
  Instruction* b = f->AddParameter(1, scalar, "b");
  f->set_root(f->Add(Opcode::kAdd, scalar, {a, b}));
  return f;
}

// The slice from where the first starts to where the last ends, and a window over it.
Instruction* Windowed(Instruction* i, const std::vector<const Instruction*>& slices,
                      const Steps& steps) {
  Rewriter r(*i->parent());
  SliceSpec whole = slices[0]->attr<SliceAttrs>().slice;
  whole[steps.dimension].limit = slices.back()->attr<SliceAttrs>().slice[steps.dimension].limit;
  Shape shape = i->shape().WithoutLayout();
  shape.dims[steps.dimension] = whole[steps.dimension].limit - whole[steps.dimension].start;
  Instruction* x = slices[0]->operand(0);
  if (shape.dims != x->shape().dims)
    x = r.Add(Opcode::kSlice, shape, {x}, SliceAttrs{std::move(whole)});
  WindowAttrs attrs;
  attrs.window.resize(i->shape().rank());
  attrs.window[steps.dimension].size = static_cast<int64_t>(slices.size());
  attrs.window[steps.dimension].window_dilation = steps.distance;
  Instruction* zero = r.Splat(Shape::Scalar(i->shape().type), 0);
  Instruction* made = r.Add(Opcode::kReduceWindow, i->shape(), {x, zero}, std::move(attrs));
  made->set_called({Adder(*i->module(), i->shape().type)});
  return made;
}

absl::StatusOr<bool> RecognizeWindows(Computation& computation, RewriteControl& control) {
  bool changed = false;
  std::vector<Instruction*> order = computation.PostOrder();
  std::reverse(order.begin(), order.end());  // the longest chains first
  for (Instruction* i : order) {
    if (i->opcode() != Opcode::kAdd || i->shape().HasDynamicDims() ||
        (i->users().empty() && !i->IsRoot()))
      continue;
    const std::vector<const Instruction*> slices = AddedSlices(i);
    const std::optional<Steps> steps =
        slices.size() >= 3 ? StepsOf(slices) : std::optional<Steps>();
    if (!steps || !control.Permit("recognize-reduce-window", *i, *i)) continue;
    i->ReplaceAllUsesWith(Windowed(i, slices, *steps));
    changed = true;
  }
  if (changed) RemoveDead(computation);
  return changed;
}

}  // namespace

// dead-dus-elimination. Matches dynamic-update-slice at a constant place that all its readers,
// plain slices, leave out; leaves the array as it was. Cost: linear.
std::unique_ptr<Pass> CreateDeadDusElimination() {
  return MakeExpander("dead-dus-elimination", DropUnread);
}

// recognize-reduce-window. Matches chains of additions, from the left, of three or more slices of
// one array that lie at equal distances along one dimension; leaves a reduce-window that adds in
// the same order. The sign of a zero may be lost. Cost: linear.
std::unique_ptr<Pass> CreateRecognizeReduceWindow() {
  return MakeComputationPass("recognize-reduce-window", RecognizeWindows);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
