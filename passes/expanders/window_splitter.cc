// window-splitter: materializes the padding of reduce-windows and splits long windows.
// Of reduce-windows of one array whose function and start are known (add with 0, maximum with the
// lowest, ...), in row-major order:
// - padding along the fastest dimension becomes a pad, so that neighbours are read side by side;
// - windows of more than 36 elements become one after the other along each dimension, and long ones
//   of stride 1 windows of their square root over windows of that. Reassociates floats, so that
//   what rounds at each step stays.
// Scans stay. Cost: linear.
//   window 36 along d: window 6, then window 6 with dilation 6
#include <algorithm>
#include <cmath>
#include <utility>

#include "ops/evaluate/reducer.h"
#include "passes/expanders/reduce_window_rewriter.h"
#include "passes/framework/pass.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/hlo_writer.h"

namespace hlokit {
namespace {

// So many elements of a window are written out by the emitter.
constexpr int64_t kMaxWrittenOut = 36;

bool IsLong(const WindowDim& d) {
  return d.size > kMaxWrittenOut && d.size <= kMaxWrittenOut * kMaxWrittenOut && d.stride == 1 &&
         d.window_dilation == 1;
}

struct WindowReducer {
  HloWriter& w;
  Instruction* init;
  Computation* function;
  Opcode opcode;

  Instruction* Windows(Instruction* x, const Window& window) const {
    Instruction* made = w.rewriter().Add(Opcode::kReduceWindow, WindowResult(x->shape(), window),
                                         {x, init}, WindowAttrs{window});
    made->set_called({function});
    return made;
  }

  // Takes the padding out of `window`.
  Instruction* Padded(Instruction* x, Window& window) const {
    PaddingConfig padding(window.size());
    for (size_t d = 0; d < window.size(); ++d) {
      padding[d].low = std::exchange(window[d].pad_low, 0);
      padding[d].high = std::exchange(window[d].pad_high, 0);
    }
    return w.Pad(x, init, std::move(padding));
  }

  // Windows of `size` neighbours along one dimension: `outer` windows of `inner` elements each, and
  // one of the `rest`.
  Instruction* Long(Instruction* x, int64_t dim, int64_t size) const {
    const auto inner = static_cast<int64_t>(std::sqrt(static_cast<double>(size)));
    const int64_t outer = size / inner, rest = size - outer * inner;
    const int64_t count = x->shape().dims[dim] - size + 1;
    Window window(x->shape().rank());
    window[dim].size = inner;
    Instruction* part = Windows(x, window);
    window[dim].size = outer;
    window[dim].window_dilation = inner;
    part = w.SliceOf(Windows(part, window), dim, 0, count);
    if (rest == 0) return part;
    Window last(x->shape().rank());
    last[dim].size = rest;
    Instruction* end = rest == 1 ? x : Windows(x, last);
    return w.Binary(opcode, part, w.SliceOf(end, dim, size - rest, size - rest + count));
  }

  Instruction* Along(Instruction* x, int64_t dim, const WindowDim& d) const {
    Window window(x->shape().rank());
    window[dim] = d;
    if (IsLong(d) || dim + 1 == x->shape().rank()) x = Padded(x, window);
    return IsLong(d) ? Long(x, dim, d.size) : Windows(x, window);
  }
};

// Windows that lie in the array but for padding on either side that is shorter than they are.
bool IsPlain(const Window& window, const Shape& operand) {
  for (size_t d = 0; d < window.size(); ++d) {
    const WindowDim& w = window[d];
    if (w.base_dilation != 1 || w.pad_low < 0 || w.pad_high < 0) return false;
    if (w.size > 1 && w.size >= operand.dims[d]) return false;
  }
  return true;
}

// Whether it pays to go along one dimension after the other.
bool Splits(const Instruction& i, const Window& window) {
  int64_t elements = 1, dims = 0;
  bool any_long = false;
  for (const WindowDim& d : window) {
    elements = std::min(elements * d.size, int64_t{1} << 30);
    dims += d.size > 1;
    any_long |= IsLong(d);
  }
  return elements > kMaxWrittenOut && (dims > 1 || any_long) && !RoundsSteps(i);
}

Instruction* Split(Instruction* i, const WindowReducer& reducer) {
  const Window& window = i->attr<WindowAttrs>().window;
  Instruction* x = i->operand(0);
  if (Splits(*i, window)) {
    for (size_t d = 0; d < window.size(); ++d)
      if (window[d] != WindowDim()) x = reducer.Along(x, static_cast<int64_t>(d), window[d]);
    return x;
  }
  const WindowDim& last = window.back();
  if (last.size == 1 || (last.pad_low == 0 && last.pad_high == 0)) return nullptr;
  Window bare = window;
  x = reducer.Padded(x, bare);
  return reducer.Windows(x, bare);
}

absl::StatusOr<Instruction*> SplitWindow(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kReduceWindow || i->operand_count() != 2) return nullptr;
  const Shape& operand = i->operand(0)->shape();
  const auto opcode = ReducerOpcode(*i->to_apply());
  if (i->shape().HasDynamicDims() || operand.HasDynamicDims() || operand.rank() == 0 ||
      !operand.IsRowMajor() || !i->shape().IsRowMajor() || operand.type != i->shape().type ||
      i->shape().ElementCount() == 0 || !opcode || !IsIdentity(i->operand(1), *opcode) ||
      !IsPlain(i->attr<WindowAttrs>().window, operand))
    return nullptr;
  HloWriter w(r);
  return Split(i, {w, i->operand(1), i->to_apply(), *opcode});
}

}  // namespace

std::unique_ptr<Pass> CreateWindowSplitter() {
  return MakeExpander("window-splitter", SplitWindow);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
