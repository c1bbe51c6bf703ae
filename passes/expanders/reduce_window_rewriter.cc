// Rewrites cumulative reductions (a reduce-window as long as its dimension) into blocks of
// base_length: scans within blocks, an exclusive scan of the block totals, and a combination. This
// replaces n^2 steps by about 2 n b. With `least` scans of fewer elements stay. With `rows` those
// along rows stay too (a kernel makes them), in blocks of 1024 where rows are few and long. With
// `rounded` the blocks are those of 16 in which XLA's CPU rounds (ops/evaluate/reducer.h).
#include "passes/expanders/reduce_window_rewriter.h"

#include <algorithm>

#include "analysis/row_scan.h"
#include "ops/evaluate/reducer.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/hlo_writer.h"

namespace hlokit {

Shape WindowResult(const Shape& operand, const Window& window) {
  Shape shape = operand;
  for (size_t d = 0; d < window.size(); ++d) {
    const WindowDim& w = window[d];
    const int64_t base = shape.dims[d] == 0 ? 0 : (shape.dims[d] - 1) * w.base_dilation + 1;
    const int64_t padded = base + w.pad_low + w.pad_high;
    const int64_t reach = (w.size - 1) * w.window_dilation + 1;
    shape.dims[d] = padded < reach ? 0 : (padded - reach) / w.stride + 1;
  }
  return shape;
}

namespace {

Shape AsColumn(const Shape& list) {
  return Shape::ArrayWithLayout(list.type, {list.dims[0], 1}, {0, 1});
}

// A reduce-window of arrays with their starts; of lists as one of columns. One result an array.
std::vector<Instruction*> Windowed(HloWriter& w, std::vector<Instruction*> operands, Window window,
                                   Computation* function) {
  const size_t arrays = operands.size() / 2;
  const bool lists = operands[0]->shape().rank() == 1;
  std::vector<Shape> shapes, listed;
  if (lists) window.push_back(WindowDim());
  for (size_t k = 0; k < arrays; ++k) {
    if (lists) operands[k] = w.rewriter().Reshape(operands[k], AsColumn(operands[k]->shape()));
    shapes.push_back(WindowResult(operands[k]->shape(), window));
  }
  Instruction* made =
      w.rewriter().Add(Opcode::kReduceWindow, arrays == 1 ? shapes[0] : Shape::Tuple(shapes),
                       operands, WindowAttrs{window});
  made->set_called({function});
  std::vector<Instruction*> results;
  for (size_t k = 0; k < arrays; ++k) {
    Instruction* part = arrays == 1 ? made : w.Part(made, k);
    results.push_back(lists ? w.Reshape(part, {shapes[k].dims[0]}) : part);
  }
  return results;
}

// A scan along one dimension: what is added up, how, and from which end.
struct Scan {
  Instruction* init;
  Computation* function;
  int64_t base_length;
  bool reverse;
  bool rows = false;  // scans of rows are no work, others are

  Instruction* Inclusive(HloWriter& w, Instruction* x, int64_t dim) const {
    const int64_t size = x->shape().dims[dim];
    return size <= base_length ? Direct(w, x, dim, size - 1) : Blocked(w, x, dim);
  }

 private:
  // With `padding` before (or after) the elements.
  Instruction* Direct(HloWriter& w, Instruction* x, int64_t dim, int64_t padding) const {
    Window window(x->shape().rank());
    window[dim].size = x->shape().dims[dim];
    (reverse ? window[dim].pad_high : window[dim].pad_low) = padding;
    return Windowed(w, {x, init}, std::move(window), function)[0];
  }

  // What lies before each element, itself left out.
  Instruction* Exclusive(HloWriter& w, Instruction* x, int64_t dim) const {
    const int64_t size = x->shape().dims[dim];
    const bool costly =
        rows || !SimpleReducer(*function).has_value();  // to be done once an element
    if (size <= base_length && !costly) {
      Instruction* all = Direct(w, x, dim, size);
      return w.SliceOf(all, dim, reverse ? 1 : 0, reverse ? size + 1 : size);
    }
    PaddingConfig shift(x->shape().rank());
    shift[dim].low = reverse ? -1 : 1;
    shift[dim].high = reverse ? 1 : -1;
    return w.Pad(Inclusive(w, x, dim), init, std::move(shift));
  }

  Instruction* Blocked(HloWriter& w, Instruction* x, int64_t dim) const {
    const int64_t size = x->shape().dims[dim];
    const int64_t blocks = (size + base_length - 1) / base_length;
    PaddingConfig fill(x->shape().rank());
    fill[dim].high = blocks * base_length - size;
    if (fill[dim].high > 0) x = w.Pad(x, init, std::move(fill));
    const DimVector padded = x->shape().dims;
    DimVector split = padded, totals = padded, where;
    split[dim] = blocks;
    split.insert(split.begin() + dim + 1, base_length);
    totals[dim] = blocks;
    for (int64_t d = 0; d < static_cast<int64_t>(split.size()); ++d)
      if (d != dim + 1) where.push_back(d);
    Instruction* within = Direct(w, w.Reshape(x, split), dim + 1, base_length - 1);
    const int64_t end = reverse ? 0 : base_length - 1;
    Instruction* total = w.Reshape(w.SliceOf(within, dim + 1, end, end + 1), totals);
    Instruction* before = w.Broadcast(Exclusive(w, total, dim), split, where);
    Instruction* joined = InlineElementwise(w, *function, {within, before})[0];
    return w.SliceOf(w.Reshape(joined, padded), dim, 0, size);
  }
};

// The one dimension that the windows scan, or -1.
int64_t ScannedDimension(const Shape& operand, const Window& window, bool& reverse) {
  int64_t scanned = -1;
  for (size_t d = 0; d < window.size(); ++d) {
    const WindowDim& w = window[d];
    if (w == WindowDim()) continue;
    WindowDim forward, backward;
    forward.size = backward.size = operand.dims[d];
    forward.pad_low = backward.pad_high = operand.dims[d] - 1;
    if (scanned >= 0 || (w != forward && w != backward)) return -1;
    scanned = d;
    reverse = w == backward;
  }
  return scanned;
}

// Whether results have the types of initial values, which operands have not.
bool WidensOperands(const Instruction& i) {
  const size_t arrays = i.operand_count() / 2;
  for (size_t k = 0; k < arrays; ++k)
    if (i.operand(k)->shape().type != i.operand(arrays + k)->shape().type) return true;
  return false;
}

absl::StatusOr<Instruction*> RewriteWindow(Instruction* i, Rewriter& r, int64_t base_length,
                                           bool rows = false) {
  if (i->opcode() != Opcode::kReduceWindow || i->shape().HasDynamicDims()) return nullptr;
  HloWriter w(r);
  const Window& window = i->attr<WindowAttrs>().window;
  const Shape& operand = i->operand(0)->shape();
  bool reverse = false;
  const int64_t dim = ScannedDimension(operand, window, reverse);
  const auto opcode = ReducerOpcode(*i->to_apply());
  if (dim >= 0 && operand.dims[dim] > base_length && i->operand_count() == 2 && opcode &&
      operand.type == i->shape().type && IsIdentity(i->operand(1), *opcode))
    return Scan{i->operand(1), i->to_apply(), base_length, reverse, rows}.Inclusive(
        w, i->operand(0), dim);
  if (operand.rank() != 1 || WidensOperands(*i)) return nullptr;
  const auto results =
      Windowed(w, {i->operands().begin(), i->operands().end()}, window, i->to_apply());
  return i->shape().IsTuple() ? w.Tuple(results) : results[0];
}

bool HasLongScan(const Instruction& i, int64_t least) {
  if (i.opcode() != Opcode::kReduceWindow || !i.shape().IsArray()) return false;
  bool reverse = false;
  const Shape& from = i.operand(0)->shape();
  const int64_t dim = ScannedDimension(from, i.attr<WindowAttrs>().window, reverse);
  return dim >= 0 && from.dims[dim] >= least;
}

absl::StatusOr<Instruction*> RewriteRoundedWindow(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kReduceWindow || WidensOperands(*i)) return nullptr;
  const Shape& from = i->operand(0)->shape();
  const std::optional<int64_t> block = RoundedScanBlock(*i, from);
  bool reverse = false;
  const int64_t dim = block ? ScannedDimension(from, i->attr<WindowAttrs>().window, reverse) : -1;
  if (dim < 0 || from.dims[dim] <= *block) return nullptr;
  HloWriter w(r);
  return Scan{i->operand(1), i->to_apply(), *block, reverse}.Inclusive(w, i->operand(0), dim);
}

}  // namespace

Instruction* InclusiveScanInBlocks(HloWriter& w, Instruction* x, int64_t dim, Instruction* identity,
                                   Computation* function, int64_t base, bool reverse) {
  return Scan{identity, function, base, reverse}.Inclusive(w, x, dim);
}

std::unique_ptr<Pass> CreateReduceWindowRewriter(PassArguments& arguments) {
  const int64_t base = std::max<int64_t>(
      2, arguments.Int("base-length", 16, "scans of more elements are made in blocks"));
  const int64_t least =
      arguments.Int("least", 0, "scans of fewer elements stay, and windows of rank 1 too");
  if (arguments.Flag("rounded", "only scans whose steps round, in blocks of their own length"))
    return MakeExpander("reduce-window-rewriter", RewriteRoundedWindow);
  const bool rows = arguments.Flag("rows", "scans along rows stay, or get blocks of 1024");
  return MakeExpander("reduce-window-rewriter",
                      [=](Instruction* i, Rewriter& r) -> absl::StatusOr<Instruction*> {
                        constexpr int64_t kRow = 1024;
                        if (least > 0 && !HasLongScan(*i, least)) return nullptr;
                        if (rows && RowScanOf(*i)) return nullptr;
                        if (rows && IsLongRowScan(*i)) return RewriteWindow(i, r, kRow, rows);
                        return RewriteWindow(i, r, base);
                      });
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
