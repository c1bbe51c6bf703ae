// Rotations along a dimension that is cut, and the slices and pads that are pieces of them.
// Rotating by `amount` brings partition p rows of two others: with amount = k * rows + rest, the
// last `rest` rows of partition p - k - 1 and then the first ones of p - k.
//   rows 0 1 2 | 3 4 5 | 6 7 8 | 9 10 11, by 2:  10 11 0 | 1 2 3 | 4 5 6 | 7 8 9
// Where the last partitions have padding, the rows that come around are those of a rotation by the
// padding more. Cost: each row moves once.
// XLA's names for them are custom calls: _SPMDInternalOp_RotateRight, _MultiRotate, _MultiSlice.
#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "passes/spmd/spmd_visitor.h"

namespace hlokit {
namespace {

// The number behind `key=` or `key=[` in a backend_config of the form "a=1,b=[2]".
std::optional<int64_t> NumberOf(absl::string_view config, absl::string_view key) {
  const std::string name = absl::StrCat(key, "=");
  size_t at = config.find(name);
  while (at != absl::string_view::npos && at > 0 && config[at - 1] != ',')
    at = config.find(name, at + 1);
  if (at == absl::string_view::npos) return std::nullopt;
  at += name.size();
  if (at < config.size() && config[at] == '[') ++at;
  const size_t end = std::min(config.find_first_of(",]", at), config.size());
  int64_t value = 0;
  if (!absl::SimpleAtoi(config.substr(at, end - at), &value)) return std::nullopt;
  return value;
}

Instruction* RowsOf(HloWriter& w, Instruction* x, int64_t d, int64_t from, int64_t to) {
  return from == 0 && to == x->shape().dims[d] ? x : w.SliceOf(x, d, from, to);
}

bool IsFullBut(const SliceSpec& slice, const Shape& shape, int64_t d) {
  for (int64_t k = 0; k < shape.rank(); ++k)
    if (slice[k].stride != 1 ||
        (k != d && (slice[k].start != 0 || slice[k].limit != shape.dims[k])))
      return false;
  return true;
}

bool AreAll(absl::Span<const Cut> cuts, const Cut& cut) {
  return absl::c_all_of(cuts, [&](const Cut& other) { return other == cut; });
}

}  // namespace

// Rows of the partition `distance` places before, in a ring of the first `shards` places.
Instruction* SpmdVisitor::FromShard(const Shard& x, int64_t d, int64_t distance, int64_t shards,
                                    Instruction* rows) {
  distance = (distance % shards + shards) % shards;
  if (distance == 0) return rows;
  IntPairs pairs;
  x.cut().ForEach([&](const DimVector& place, int64_t device) {
    if (place[d] >= shards) return;
    DimVector from = place;
    from[d] = (place[d] + shards - distance) % shards;
    pairs.push_back({x.cut().At(from), device});
  });
  return writer_.Permute(rows, pairs, x.scope);
}

// Rotates the rows of the first `shards` places, padding included.
Instruction* SpmdVisitor::RotateShards(const Shard& x, int64_t d, int64_t amount, int64_t shards) {
  const int64_t own = x.value->shape().dims[d];
  const int64_t rest = amount % own, distance = amount / own;
  std::vector<Instruction*> pieces;
  if (rest > 0)
    pieces.push_back(
        FromShard(x, d, distance + 1, shards, RowsOf(w_, x.value, d, own - rest, own)));
  pieces.push_back(FromShard(x, d, distance, shards, RowsOf(w_, x.value, d, 0, own - rest)));
  return pieces.size() == 1 ? pieces[0] : w_.Concatenate(pieces, d);
}

Instruction* SpmdVisitor::Rotated(const Shard& x, int64_t d, int64_t amount) {
  const Cut& cut = x.cut();
  const int64_t own = x.value->shape().dims[d], tiles = cut.tiles[d];
  const int64_t padding = own * tiles - x.whole.dims[d];
  if (padding == 0) return RotateShards(x, d, amount, tiles);
  if (padding % own == 0 && amount % own == 0)
    return RotateShards(x, d, amount, tiles - padding / own);
  Instruction* plain = RotateShards(x, d, amount, tiles);
  Instruction* around = RotateShards(x, d, (amount + padding) % (own * tiles), tiles);
  Instruction* row = w_.Iota(ElementType::kS32, plain->shape().dims, d);
  Instruction* first = PlaceFunction(own, 0).Write(w_, writer_.Places(cut, x.scope)[d]);
  row = w_.Binary(Opcode::kAdd, row, w_.Fill(row->shape(), first));
  Instruction* comes_around =
      w_.Compare(row, w_.Fill(row->shape(), writer_.S32(amount)), ComparisonDirection::kLt);
  return w_.Select(comes_around, around, plain);
}

// How far a concatenate of an array's end and its begin rotates it to the right, where the array is
// cut as the result is.
std::optional<int64_t> SpmdVisitor::RotationOf(const Instruction& i) const {
  if (i.operand_count() != 2 || !CutOfResult().IsTiled()) return std::nullopt;
  const Instruction *end = i.operand(0), *begin = i.operand(1);
  if (end->opcode() != Opcode::kSlice || begin->opcode() != Opcode::kSlice ||
      end->operand(0) != begin->operand(0))
    return std::nullopt;
  const int64_t d = i.attr<DimensionsAttrs>().dimensions[0];
  const Shape& whole = end->operand(0)->shape();
  const SliceSpec &last = end->attr<SliceAttrs>().slice, &first = begin->attr<SliceAttrs>().slice;
  if (!IsFullBut(last, whole, d) || !IsFullBut(first, whole, d) || first[d].start != 0 ||
      last[d].limit != whole.dims[d] || first[d].limit != last[d].start ||
      !IsCutAlike(*end->operand(0)))
    return std::nullopt;
  return whole.dims[d] - last[d].start;
}

// Whether the value is an array that is cut as the result at hand is.
bool SpmdVisitor::IsCutAlike(const Instruction& x) const {
  const Shard& shard = done_[x.id()];
  return shard.value != nullptr && shard.IsArray() && shard.scope == scope_ &&
         shard.cut() == CutOfResult();
}

absl::Status SpmdVisitor::RotateRight(const Instruction& i) {
  const Cut& cut = CutOfResult();
  const auto d = NumberOf(i.backend_config(), "dimension");
  const auto amount = NumberOf(i.backend_config(), "amount");
  if (i.operand_count() != 1 || !cut.IsTiled() || !d || !amount || *d < 0 || *d >= cut.rank() ||
      cut.tiles[*d] == 1 || *amount < 0 || *amount > i.shape().dims[*d] ||
      i.operand(0)->shape().dims != i.shape().dims)
    return Default(i);
  Set(i, Rotated(sharder_.To(Of(i.operand(0)), cut), *d, *amount));
  return absl::OkStatus();
}

// Results are the operand rotated by left_amount to the left, then by one less, up to right_amount
// to the right: all are slices of the shard with its neighbours' rows.
absl::Status SpmdVisitor::RotateSeveral(const Instruction& i) {
  const Cut cut = CutOfResult();
  const auto d = NumberOf(i.backend_config(), "dimension");
  const auto left = NumberOf(i.backend_config(), "left_amount");
  const auto right = NumberOf(i.backend_config(), "right_amount");
  if (i.operand_count() != 1 || !i.shape().IsTuple() || !cut.IsTiled() || !d || !left || !right ||
      *d < 0 || *d >= cut.rank() || cut.tiles[*d] == 1 || *left < 0 || *right < 0 ||
      static_cast<int64_t>(cuts_.size()) != *left + *right + 1 || !AreAll(cuts_, cut))
    return Default(i);
  const Shard x = sharder_.To(Of(i.operand(0)), cut);
  const int64_t own = x.value->shape().dims[*d];
  if (*left > own || *right > own || x.whole.dims[*d] % cut.tiles[*d] != 0) return Default(i);
  std::vector<Instruction*> pieces, results;
  if (*right > 0)
    pieces.push_back(
        FromShard(x, *d, 1, cut.tiles[*d], RowsOf(w_, x.value, *d, own - *right, own)));
  pieces.push_back(x.value);
  if (*left > 0)
    pieces.push_back(FromShard(x, *d, -1, cut.tiles[*d], RowsOf(w_, x.value, *d, 0, *left)));
  Instruction* joined = pieces.size() == 1 ? pieces[0] : w_.Concatenate(pieces, *d);
  for (int64_t k = *right + *left; k >= 0; --k)
    results.push_back(w_.SliceOf(joined, *d, k, k + own));
  Set(i, w_.Tuple(results));
  return absl::OkStatus();
}

// Result k is the slice that begins k rows further on: all are slices of the rows of a window.
absl::Status SpmdVisitor::SliceSeveral(const Instruction& i) {
  const Cut cut = CutOfResult();
  const auto d = NumberOf(i.backend_config(), "dimension");
  const auto amount = NumberOf(i.backend_config(), "amount");
  const auto start = NumberOf(i.backend_config(), "start_indices");
  const auto limit = NumberOf(i.backend_config(), "limit_indices");
  const auto stride = NumberOf(i.backend_config(), "strides");
  if (i.operand_count() != 1 || !i.shape().IsTuple() || !cut.IsTiled() || cut.rank() != 1 ||
      d != 0 || !amount || !start || !limit || stride != 1 || *amount < 0 ||
      static_cast<int64_t>(cuts_.size()) != *amount + 1 || !AreAll(cuts_, cut))
    return Default(i);
  const Shard& given = Of(i.operand(0));
  Window window(1);
  window[0].size = *amount + 1;
  window[0].pad_low = -*start;
  window[0].pad_high = *limit + *amount - given.whole.dims[0];
  const int64_t own = ShardOf(i.shape().elements[0], cut).dims[0];
  const auto windowed =
      sharder_.AsWindowed(given, window, cut, writer_.Zero(given.whole.type), /*mask=*/false);
  if (!windowed || !windowed->offset.empty() || windowed->value->shape().dims[0] != own + *amount)
    return Default(i);
  std::vector<Instruction*> results;
  for (int64_t k = 0; k <= *amount; ++k)
    results.push_back(w_.SliceOf(windowed->value, 0, k, k + own));
  Set(i, w_.Tuple(results));
  return absl::OkStatus();
}

// A slice of a pad, through copies that are cut alike, is a pad by less, or by a negative amount;
// null where the slice takes nothing from what is padded along a dimension that is cut.
Instruction* SpmdVisitor::SliceOfPad(const Instruction& i) {
  const Cut& cut = CutOfResult();
  const SliceSpec& slice = i.attr<SliceAttrs>().slice;
  const Instruction* pad = i.operand(0);
  while (pad->opcode() == Opcode::kCopy && IsCutAlike(*pad)) pad = pad->operand(0);
  if (pad->opcode() != Opcode::kPad || !cut.IsTiled() || !IsCutAlike(*pad)) return nullptr;
  const Shard &x = done_[pad->operand(0)->id()], &value = done_[pad->operand(1)->id()];
  if (x.scope != scope_ || value.scope != scope_ || !x.cut().IsTiled()) return nullptr;
  PaddingConfig padding = pad->attr<PadAttrs>().padding;
  bool meets = false;
  for (size_t d = 0; d < padding.size(); ++d) {
    if (slice[d].stride != 1) return nullptr;
    const int64_t high = pad->shape().dims[d] - slice[d].limit;
    meets |= cut.tiles[d] > 1 && (padding[d].low != 0 || padding[d].high != 0) &&
             (slice[d].start != 0 || high != 0);
    padding[d].low -= slice[d].start;
    padding[d].high -= high;
  }
  return meets ? Padded(i, x, padding, sharder_.Whole(value)) : nullptr;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
