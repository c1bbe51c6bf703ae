// Updates of slices, partitioned. An update that lies in one shard is written there. One whose
// place is known and that reaches over several is padded to the whole array, which moves each of
// its rows to the partition that has the place, and the partition selects:
//   dynamic-update-slice(x, u, 3)  ->  select(pad(false, 3, true), x, pad(u, 3, 0))
// A scalar that is broadcast needs no moving, and rows that are sliced from an array move straight
// from there: none do where they stay at their place. Cost: rows move once, by halo exchange.
#include <algorithm>

#include "absl/algorithm/container.h"
#include "passes/rewrite/matchers.h"
#include "passes/spmd/spmd_visitor.h"

namespace hlokit {
namespace {

// A start that lies inside for sure.
Instruction* HeldInside(HloWriter& w, Instruction* start, const Instruction* given, int64_t last) {
  const IntegerRange range = RangeOf(given);
  const ElementType type = start->shape().type;
  if (given->IsConstant() && given->literal() != nullptr) {
    const int64_t at = given->literal()->GetInt(0), held = std::clamp<int64_t>(at, 0, last);
    return at == held ? start : w.Integer(type, held);
  }
  if (range.least && *range.least >= 0 && range.greatest && *range.greatest <= last) return start;
  return w.rewriter().Add(Opcode::kClamp, start->shape(),
                          {w.Integer(type, 0), start, w.Integer(type, last)});
}

// The constant that a start is, where it lies inside: at most `last`.
std::optional<int64_t> StartInside(const Instruction& start, int64_t last) {
  if (!start.IsConstant() || start.literal() == nullptr) return std::nullopt;
  const int64_t at = start.literal()->GetInt(0);
  return at >= 0 && at <= last ? std::optional(at) : std::nullopt;
}

// All starts of an update, 0 along what it covers; nothing where one is not known.
std::optional<DimVector> KnownStarts(const Instruction& i) {
  const Shape& update = i.operand(1)->shape();
  DimVector starts;
  for (int64_t d = 0; d < i.shape().rank(); ++d) {
    const int64_t last = i.shape().dims[d] - update.dims[d];
    const auto at = last == 0 ? std::optional<int64_t>(0) : StartInside(*i.operand(d + 2), last);
    if (!at) return std::nullopt;
    starts.push_back(*at);
  }
  return starts;
}

PaddingConfig PlacedAt(const DimVector& starts, const Shape& part, const Shape& whole) {
  PaddingConfig padding(starts.size());
  for (size_t d = 0; d < starts.size(); ++d) {
    padding[d].low = starts[d];
    padding[d].high = whole.dims[d] - starts[d] - part.dims[d];
  }
  return padding;
}

bool HasStrides(const SliceSpec& slice) {
  return absl::c_any_of(slice, [](const auto& dim) { return dim.stride != 1; });
}

}  // namespace

// Each partition's rows of an array that is padded to the result of `i`; null where they cannot be
// had.
Instruction* SpmdVisitor::PaddedInPlace(const Instruction& i, const Shard& x,
                                        const PaddingConfig& padding, Instruction* value) {
  Window window(padding.size());
  for (size_t d = 0; d < padding.size(); ++d) {
    window[d].pad_low = padding[d].low;
    window[d].pad_high = padding[d].high;
  }
  const auto windowed = sharder_.AsWindowed(x, window, CutOfResult(), value, /*mask=*/false);
  if (!windowed || !windowed->offset.empty()) return nullptr;
  Instruction* made = sharder_.PadLocally(*windowed, value);
  return made->shape().dims == LocalShape(i).dims ? made : nullptr;
}

// The update in its place of the result; null where it had better be written there. Elsewhere it is
// anything.
Instruction* SpmdVisitor::UpdateInPlace(const Instruction& i, const DimVector& starts,
                                        bool in_one) {
  const Instruction* update = i.operand(1);
  if (update->opcode() == Opcode::kBroadcast && update->operand(0)->shape().IsScalar()) {
    const Shard& scalar = done_[update->operand(0)->id()];
    if (scalar.scope == scope_)
      return r_.Broadcast(sharder_.Whole(scalar), LocalShape(i).WithDefaultLayout(), {});
  }
  if (update->opcode() == Opcode::kSlice && !HasStrides(update->attr<SliceAttrs>().slice))
    if (Instruction* made = SliceInPlace(i, starts)) return made;
  if (in_one) return nullptr;
  return PaddedInPlace(i, Of(update), PlacedAt(starts, update->shape(), i.shape()),
                       writer_.Zero(i.shape().type));
}

// An update that is a slice of another array: that one is moved so that the slice lies in place.
Instruction* SpmdVisitor::SliceInPlace(const Instruction& i, const DimVector& starts) {
  const Instruction* update = i.operand(1);
  const SliceSpec& slice = update->attr<SliceAttrs>().slice;
  const Shard& given = done_[update->operand(0)->id()];
  if (given.scope != scope_ || given.cut().HasOneDevice() || !given.cut().sums.empty())
    return nullptr;
  const Cut& cut = CutOfResult();
  const Shape local = LocalShape(i);
  Window window(starts.size());
  SliceSpec rows;
  PaddingConfig padding(starts.size());
  for (size_t d = 0; d < starts.size(); ++d) {
    const int64_t whole = i.shape().dims[d], from = given.whole.dims[d], own = local.dims[d];
    const int64_t size = update->shape().dims[d], shift = starts[d] - slice[d].start;
    const auto shard_of = [&](int64_t row) { return row / own; };
    const bool stays = whole == from && shard_of(slice[d].start) == shard_of(starts[d]) &&
                       shard_of(slice[d].limit - 1) == shard_of(starts[d] + size - 1) &&
                       shard_of(starts[d]) == shard_of(starts[d] + size - 1);
    if (cut.tiles[d] > 1 && !(stays && shift != 0)) {
      window[d].pad_low = shift;
      window[d].pad_high = whole - shift - from;
      rows.push_back({0, own, 1});
      continue;
    }
    const int64_t first = cut.tiles[d] > 1 ? starts[d] % own : starts[d];
    const int64_t start = cut.tiles[d] > 1 ? slice[d].start % own : slice[d].start;
    rows.push_back({start, start + size, 1});
    padding[d].low = first;
    padding[d].high = own - first - size;
  }
  Instruction* zero = writer_.Zero(i.shape().type);
  const auto windowed = sharder_.AsWindowed(given, window, cut, zero, /*mask=*/false);
  if (!windowed || !windowed->offset.empty()) return nullptr;
  Instruction* x = sharder_.PadLocally(*windowed, zero);
  for (size_t d = 0; d < starts.size(); ++d)
    if (rows[d].limit > x->shape().dims[d]) return nullptr;
  const bool pads =
      absl::c_any_of(padding, [](const auto& dim) { return dim.low != 0 || dim.high != 0; });
  bool slices = false;
  for (size_t d = 0; d < starts.size(); ++d)
    slices |= rows[d].start != 0 || rows[d].limit != x->shape().dims[d];
  if (slices) x = w_.Slice(x, std::move(rows));
  if (pads) x = w_.Pad(x, zero, std::move(padding));
  return x->shape().dims == local.dims ? x : nullptr;
}

Instruction* SpmdVisitor::SelectUpdate(const Instruction& i, bool in_one) {
  const auto starts = KnownStarts(i);
  if (!starts) return nullptr;
  Instruction* update = UpdateInPlace(i, *starts, in_one);
  if (update == nullptr) return nullptr;
  const Shape part = i.operand(1)->shape().WithType(ElementType::kPred);
  const Shard inside = Array(w_.FillInteger(part, 0), part, Cut());
  Instruction* is_old = PaddedInPlace(i, inside, PlacedAt(*starts, part, i.shape()),
                                      w_.Integer(ElementType::kPred, 1));
  if (is_old == nullptr) return nullptr;
  return w_.Select(is_old, sharder_.To(Of(i.operand(0)), CutOfResult()).value, update);
}

absl::Status SpmdVisitor::DynamicUpdateSlice(const Instruction& i) {
  const Cut& cut = CutOfResult();
  const int64_t rank = i.shape().rank();
  const Shape& update = i.operand(1)->shape();
  if (!cut.IsTiled() || i.operand_count() != rank + 2) return Default(i);
  DimVector slices, cut_slices, cut_others;
  bool unknown = false;  // whether a start may lie anywhere
  bool in_one = true;    // whether the update lies within one shard
  const Shape local = LocalShape(i);
  for (int64_t d = 0; d < rank; ++d) {
    if (update.dims[d] == i.shape().dims[d]) {
      if (cut.tiles[d] != 1) cut_others.push_back(d);
      continue;
    }
    slices.push_back(d);
    if (cut.tiles[d] == 1) continue;
    const Instruction* start = i.operand(d + 2);
    if (update.dims[d] != 1) {
      const auto at = StartInside(*start, i.shape().dims[d] - update.dims[d]);
      if (!at) {
        unknown = true;
        continue;
      }
      in_one &= *at / local.dims[d] == (*at + update.dims[d] - 1) / local.dims[d];
    }
    cut_slices.push_back(d);
  }
  if (!cut_slices.empty() && !unknown)
    if (Instruction* made = SelectUpdate(i, in_one)) {
      Set(i, made);
      return absl::OkStatus();
    }
  if (unknown && cut_others.empty()) return Default(i);
  if (unknown || !in_one) {  // the sliced dimensions whole
    const Cut between = MadeWholeExcept(Of(i.operand(0)).cut(), cut_others);
    const Shard base = sharder_.To(Of(i.operand(0)), between);
    std::vector<Instruction*> starts;
    for (int64_t d = 0; d < rank; ++d) starts.push_back(WholeOf(i.operand(d + 2)));
    Instruction* made =
        w_.DynamicUpdateSlice(base.value, sharder_.To(Of(i.operand(1)), between).value, starts);
    Set(i, Array(made, i.shape(), between));
    return absl::OkStatus();
  }
  if (!cut_slices.empty()) return UpdateOneShard(i, cut_slices, slices, !cut_others.empty());
  Instruction* base = sharder_.To(Of(i.operand(0)), cut).value;
  Instruction* part = sharder_.To(Of(i.operand(1)), cut).value;
  std::vector<Instruction*> starts;
  for (int64_t d = 0; d < rank; ++d)
    starts.push_back(update.dims[d] == i.shape().dims[d]
                         ? writer_.Zero(i.operand(d + 2)->shape().type)
                         : WholeOf(i.operand(d + 2)));
  Set(i, w_.DynamicUpdateSlice(base, part, starts));
  return absl::OkStatus();
}

// The partition whose shard holds the update writes it.
absl::Status SpmdVisitor::UpdateOneShard(const Instruction& i, absl::Span<const int64_t> cut_slices,
                                         absl::Span<const int64_t> slices, bool has_cut_others) {
  const Cut cut = CutOfResult();
  const int64_t rank = i.shape().rank();
  const Shape& update = i.operand(1)->shape();
  std::vector<Instruction*> starts;
  for (int64_t d = 0; d < rank; ++d)
    starts.push_back(update.dims[d] == i.shape().dims[d]
                         ? writer_.Zero(i.operand(d + 2)->shape().type)
                         : WholeOf(i.operand(d + 2)));
  Instruction* base = sharder_.To(Of(i.operand(0)), cut).value;
  Instruction* part =
      sharder_.To(Of(i.operand(1)), has_cut_others ? MadeWhole(cut, slices) : Cut()).value;
  const std::vector<Instruction*> places = writer_.Places(cut, scope_);
  Instruction* writes = w_.Integer(ElementType::kPred, 1);
  for (const int64_t d : cut_slices) {
    const ElementType type = starts[d]->shape().type;
    Instruction* size = writer_.S32(base->shape().dims[d]);
    Instruction* first = w_.Binary(Opcode::kMultiply, places[d], size);
    Instruction* next =
        w_.Binary(Opcode::kMultiply, w_.Binary(Opcode::kAdd, places[d], writer_.S32(1)), size);
    Instruction* start =
        HeldInside(w_, starts[d], i.operand(d + 2), i.shape().dims[d] - update.dims[d]);
    Instruction* begins = w_.Compare(start, w_.Convert(first, type), ComparisonDirection::kGe);
    Instruction* ends = w_.Compare(start, w_.Convert(next, type), ComparisonDirection::kLt);
    Instruction* is_here = w_.Binary(Opcode::kAnd, begins, ends);
    writes = w_.Binary(Opcode::kAnd, writes, is_here);
    starts[d] = w_.Select(is_here, w_.Binary(Opcode::kSubtract, start, w_.Convert(first, type)),
                          writer_.Zero(type));
  }
  Instruction* updated = w_.DynamicUpdateSlice(base, part, starts);
  Instruction* which = r_.Broadcast(writes, RetypedLike(base->shape(), ElementType::kPred), {});
  Set(i, r_.Add(Opcode::kSelect, base->shape(), {which, updated, base}));
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
