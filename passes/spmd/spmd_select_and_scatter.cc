// select-and-scatter, partitioned: each partition computes the windows that meet its own rows of
// the result, on the rows of the operand that these windows cover.
//   rows 0 1 2 | 3 4 5, windows of 3 rows every 2, none padded: partition 1 computes those from
//   rows 2 and 4, on rows 2 to 6, and keeps rows 3 to 5.
// Where windows of several partitions meet a row, each of them computes those it needs itself, so
// nothing is summed up across partitions. Rows outside of the operand must not be selected: they
// are the least or the greatest value, so only selections by order are partitioned.
#include <algorithm>

#include "absl/algorithm/container.h"
#include "passes/spmd/spmd_visitor.h"

namespace hlokit {
namespace {

// A value that a selection between it and another never chooses; null where there is none.
Instruction* NeverChosen(HloWriter& w, const Computation& select, ElementType type) {
  const Instruction* root = select.root();
  if (root->opcode() != Opcode::kCompare || !root->operand(0)->IsParameter() ||
      !root->operand(1)->IsParameter() || root->operand(0)->parameter_number() != 0 ||
      root->operand(1)->parameter_number() != 1)
    return nullptr;
  switch (root->attr<CompareAttrs>().direction) {
    case ComparisonDirection::kGe:
    case ComparisonDirection::kGt:
      return w.Lowest(type);
    case ComparisonDirection::kLe:
    case ComparisonDirection::kLt:
      return w.Highest(type);
    default:
      return nullptr;
  }
}

// What partitions compute along one dimension.
struct WindowsOf {
  PlaceFunction window, limit;  // the first window, and the one behind the last
  PlaceFunction row;            // the first row of the padded operand
  PlaceFunction own;            // the first row of the padded operand that is of the shard
  int64_t windows = 0, rows = 0;
  WindowsOf(const WindowDim& w, int64_t size, int64_t tiles)
      : window(size, w.pad_low - w.size + w.stride, w.stride),
        limit(size, size - 1 + w.pad_low + w.stride, w.stride),
        row(window * PlaceFunction(0, w.stride)),
        own(size, w.pad_low) {
    windows = (limit - window).Most(0, tiles);
    const PlaceFunction end = own + PlaceFunction(0, size);
    rows = std::max((windows - 1) * w.stride + w.size, (end - row).Most(0, tiles));
  }
  // The first row of the padded operand behind the last window that reaches the shard; windows
  // behind that one are computed where others have more, from any rows.
  PlaceFunction End(const WindowDim& w) const {
    return limit * PlaceFunction(0, w.stride) + PlaceFunction(0, w.size - w.stride);
  }
  bool BeginsWithOwn(int64_t tiles) const {
    for (int64_t place = 0; place < tiles; ++place)
      if (row.At(place) != own.At(place)) return false;
    return true;
  }
};

}  // namespace

absl::Status SpmdVisitor::SelectAndScatter(const Instruction& i) {
  const Cut cut = CutOfResult();
  Instruction* never = cut.IsTiled() ? NeverChosen(w_, *i.called(0), i.shape().type) : nullptr;
  if (never == nullptr) return Default(i);
  const Shard data = sharder_.To(Of(i.operand(0)), cut),
              source = sharder_.To(Of(i.operand(1)), cut);
  Instruction *x = data.value, *s = source.value, *init = WholeOf(i.operand(2));
  Window window = i.attr<WindowAttrs>().window;
  const std::vector<Instruction*> places = writer_.Places(cut, scope_);
  const Shape local = LocalShape(i);
  std::vector<Instruction*> starts(local.rank(), writer_.S32(0));
  bool cuts_out = false;
  for (int64_t d = 0; d < local.rank(); ++d) {
    WindowDim& w = window[d];
    const int64_t tiles = cut.tiles[d];
    if (tiles == 1 || (w.size == 1 && w.stride == 1 && w.pad_low == 0 && w.pad_high == 0)) continue;
    const WindowsOf of(w, local.dims[d], tiles);
    // Rows before a partition's first window are in none, where windows leave rows out.
    const bool leaves_out = (of.row - of.own).Most(0, tiles) > 0;
    if (leaves_out || of.window.At(0) < 0 || w.pad_low < 0 || w.pad_high < 0 ||
        w.base_dilation != 1 || w.window_dilation != 1 || of.windows <= 0 ||
        (of.rows - w.size) / w.stride + 1 != of.windows)
      return Default(i);
    const int64_t size = local.dims[d], sources = source.value->shape().dims[d];
    const PlaceFunction end = of.row + PlaceFunction(0, of.rows);
    const PlaceFunction own_end = of.own + PlaceFunction(0, size);
    const bool ends_before = (own_end - of.End(w)).Most(0, tiles) > 0;  // the shard stays whole
    const auto rows = writer_.ExchangeValid(
        x, data.whole, {of.own - of.row, (ends_before ? end : of.End(w)) - own_end},
        {w.pad_low, end.At(tiles - 1), of.rows, of.row.Write(w_, places[d])}, d, cut, never,
        places[d], scope_);
    const PlaceFunction own(sources, 0), last = of.window + PlaceFunction(0, of.windows);
    const auto updates = writer_.ExchangeValid(
        s, source.whole, {own - of.window, of.limit - (own + PlaceFunction(0, sources))},
        {0, last.At(tiles - 1), of.windows, of.window.Write(w_, places[d])}, d, cut, init,
        places[d], scope_);
    if (!rows || !updates) return Default(i);
    x = *rows;
    s = *updates;
    w.pad_low = w.pad_high = 0;
    if (of.rows == size && of.BeginsWithOwn(tiles)) continue;
    cuts_out = true;
    starts[d] = (of.own - of.row).Write(w_, places[d]);
  }
  Instruction* made = Clone(i, x->shape(), {x, s, init});
  made->mutable_attr<WindowAttrs>().window = std::move(window);
  Set(i, cuts_out ? w_.DynamicSlice(made, starts, local.dims) : made);
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
