// Elements of reduce-window: a loop over the window for each result, with accumulators as those of reduce.
//   f32[8,8], window 3x3, padding 1 -> f32[8,8]:  r = init; for a, b in 3x3: r = inside(i + a - 1, j + b - 1) ? reducer(r, x[...]) : r
// Windows of few elements are written out. Work: one application of the reducer for each element of each window, those in
// the padding too: they are computed from element 0 and not taken.
#include "codegen/accumulators.h"
#include "ops/evaluate/reducer.h"
#include "types/float_convert.h"

namespace hlokit {
namespace {

// The most elements of a window that is written out, the most operations on them, and the most copies
// of the code of a window's elements where it is read by windows that are written out themselves.
constexpr int64_t kMaxWindow = 36, kMaxWindowSteps = 120, kMaxWindowCopies = 128;

struct WindowAt {
  llvm::Value* index;   // of the operand along one dimension; 0 where it lies outside
  llvm::Value* inside;  // false in the padding and between dilated elements
};

// What the window whose result is `result` sees at `step`, along a dimension of `size`.
WindowAt WindowElement(Builder& b, const WindowDim& w, llvm::Value* result, llvm::Value* step,
                       int64_t size) {
  llvm::Value* at = b.CreateNSWAdd(Scale(b, result, w.stride), Scale(b, step, w.window_dilation));
  at = b.CreateNSWSub(at, b.Index(w.pad_low));
  llvm::Value* inside = b.getTrue();
  if (w.base_dilation > 1) {
    llvm::Value* dilation = b.Index(w.base_dilation);
    inside = b.CreateICmpEQ(b.CreateSRem(at, dilation), b.Index(0));
    inside = b.CreateAnd(inside, b.CreateICmpSGE(at, b.Index(0)));
    at = b.CreateSDiv(at, dilation);
  }
  if (w.pad_low == 0 && w.pad_high <= 0 && w.base_dilation == 1) return {at, inside};
  llvm::Value* valid = b.CreateICmpULT(at, b.Index(size));
  return {b.CreateSelect(valid, at, b.Index(0)), b.CreateAnd(inside, valid)};
}

}  // namespace

// One loop per window dimension. Elements in the padding are not combined: `inside` selects the old
// accumulator, and the load takes index 0, which is always valid.
ElementEmitter::Results ElementEmitter::EmitReduceWindow(const Instruction* i,
                                                         const ElementIndex& index) {
  const int64_t n = i->operand_count() / 2;
  const Shape& from = i->operand(0)->shape();
  const Window& window = i->attr<WindowAttrs>().window;
  const ElementIndex full = WithMulti(b_, index, PartShape(*i, 0));
  Results accumulators;
  for (int64_t k = 0; k < n; ++k)
    accumulators.push_back(Emit(i->operand(n + k), ElementIndex::Multi({})));
  const Results like = accumulators;
  std::vector<llvm::Value*> multi(from.rank());
  const bool rounds_steps = RoundsSteps(*i);
  const bool reassociate = !rounds_steps && SimpleReducer(*i->to_apply()).has_value();

  // Small windows are written out, so that the loop over elements is the innermost one.
  int64_t steps = 1;
  for (const WindowDim& w : window) steps = std::min(steps * w.size, kMaxWindow + 1);
  const int64_t function = i->to_apply()->instruction_count() - 2 * n;
  const bool written_out = steps <= kMaxWindow && steps * function <= kMaxWindowSteps &&
                           window_copies_ * steps <= kMaxWindowCopies;
  const auto repeat = [&](int64_t count, const Values& initial,
                          absl::FunctionRef<Values(llvm::Value*, const Values&)> body) {
    if (!written_out) return EmitLoopCarrying(b_, count, initial, body);
    Values carried = initial;
    for (int64_t k = 0; k < count; ++k) carried = body(b_.Index(k), carried);
    return carried;
  };
  std::function<Values(int64_t, llvm::Value*, const Values&)> nest =
      [&](int64_t d, llvm::Value* inside, const Values& carried) -> Values {
    if (d == from.rank()) {
      Results arguments = Unflatten(carried, like);
      for (int64_t k = 0; k < n; ++k)
        arguments.push_back(rounds_steps ? EmitTaken(i->operand(k), ElementIndex::Multi(multi))
                                         : Emit(i->operand(k), ElementIndex::Multi(multi)));
      const Reassociate flags(b_, reassociate);
      Values next = Flatten(EmitReductionStep(*this, *i, arguments));
      for (size_t v = 0; v < next.size(); ++v)
        next[v] = b_.CreateSelect(inside, next[v], carried[v]);
      return next;
    }
    const WindowDim& w = window[d];
    return repeat(w.size, carried, [&](llvm::Value* step, const Values& inner) {
      const auto [at, ok] = WindowElement(b_, w, full.multi[d], step, from.dims[d]);
      multi[d] = at;
      BeginScope();
      const Values next = nest(d + 1, b_.CreateAnd(inside, ok), inner);
      EndScope();
      return next;
    });
  };
  if (from.ElementCount() == 0) return accumulators;
  const int64_t copies = window_copies_;
  if (written_out) window_copies_ *= steps;
  Results results = Unflatten(nest(0, b_.getTrue(), Flatten(accumulators)), like);
  window_copies_ = copies;
  for (int64_t k = 0; k < n; ++k) {
    const ElementType type = TypeOf(PartShape(*i, k));
    if (IsNarrowFloat(type)) results[k] = EmitConvert(b_, ElementType::kF32, type, results[k]);
  }
  return results;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
