// Exchanges of neighbouring rows: each partition gets, beside its own shard, rows of those before
// and after it, and cuts out what it needs.
//   rows 0 1 | 2 3 | 4 5, one row from the left:  - 0 1 | 1 2 3 | 3 4 5
#include <algorithm>

#include "absl/algorithm/container.h"
#include "passes/spmd/shard_writer.h"

namespace hlokit {
namespace {

PaddingConfig PaddingOf(int64_t rank, int64_t dim, int64_t low, int64_t high) {
  PaddingConfig padding(rank);
  padding[dim].low = low;
  padding[dim].high = high;
  return padding;
}

}  // namespace

std::optional<Instruction*> ShardWriter::ExchangeHalo(Instruction* x, const Halo& halo, int64_t dim,
                                                      const Cut& cut, DeviceScope* scope) {
  const int64_t size = x->shape().dims[dim], count = cut.Dim(dim);
  const int64_t left = halo.left.Most(1, count), right = halo.right.Most(0, count - 1);
  if (left + right + size >= size * count && (left > size || right > size)) return std::nullopt;
  // What any partition needs of the array, counted from its shard's begin.
  const int64_t begin = -halo.left.Most(0, count), end = size + halo.right.Most(0, count);
  if (begin >= end) return std::nullopt;
  const auto pairs = [&](int64_t distance, bool to_right) {
    IntPairs all;
    cut.ForEach([&](const DimVector& place, int64_t device) {
      if (place[dim] < distance) return;
      DimVector other = place;
      other[dim] -= distance;
      if (to_right)
        all.push_back({cut.At(other), device});
      else
        all.push_back({device, cut.At(other)});
    });
    return all;
  };
  const auto zeros = [&](int64_t rows) {
    Shape shape = x->shape();
    shape.dims[dim] = rows;
    return w_.FillInteger(shape, 0);
  };
  const auto rows = [&](int64_t from, int64_t to) {
    return to - from == size ? x : w_.SliceOf(x, dim, from, to);
  };
  std::vector<Instruction*> pieces;
  int64_t missing = 0;  // rows that no partition sends
  for (int64_t k = CeilOf(left, size) - 1; k >= 0 && (-k - 1) * size < end; --k) {
    const int64_t taken = std::min(left - size * k, size);
    const int64_t skipped = std::max<int64_t>(-k * size - end, 0);
    const IntPairs senders = pairs(k + 1, true);
    if (senders.empty())
      missing += taken - skipped;
    else
      pieces.push_back(Permute(rows(size - taken, size - skipped), senders, scope));
  }
  if (missing > 0) pieces.insert(pieces.begin(), zeros(missing));
  if (begin < size && end > 0)
    pieces.push_back(rows(std::max<int64_t>(0, begin), std::min(size, end)));
  missing = 0;
  const int64_t first =
      std::min(std::max<int64_t>(begin - size, 0), std::max<int64_t>(right, 0)) / size;
  for (int64_t k = first; k < CeilOf(right, size); ++k) {
    const int64_t taken = std::min(right - size * k, size);
    const int64_t skipped = std::max<int64_t>(begin - (k + 1) * size, 0);
    const IntPairs senders = pairs(k + 1, false);
    if (senders.empty())
      missing += taken - skipped;
    else
      pieces.push_back(Permute(rows(skipped, taken), senders, scope));
  }
  if (missing > 0) pieces.push_back(zeros(missing));
  if (pieces.empty()) return std::nullopt;
  return pieces.size() == 1 ? pieces[0] : w_.Concatenate(pieces, dim);
}

namespace {

// Rows that one partition needs, from one source.
struct Piece {
  static constexpr int64_t kPadding = -2, kSelf = -1;
  int64_t start, limit;    // rows of the source's shard
  int64_t source = kSelf;  // kPadding, kSelf or which of the permutes brings it
  int64_t shard = 0;       // whose rows they are
  int64_t offset = 0;      // among what the partition needs
};

using Pieces = std::vector<std::vector<Piece>>;  // by place

// What each place needs, in order; rows before or after the array are padding.
Pieces Needed(const ShardWriter::Halo& halo, int64_t size, int64_t count, int64_t whole,
              int64_t& most) {
  Pieces pieces(count);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t start = i * size - halo.left.At(i);
    const int64_t limit = (i + 1) * size + halo.right.At(i);
    most = std::max(most, limit - start);
    for (int64_t next = start; next < limit;) {
      Piece piece;
      piece.offset = next - start;
      piece.start = ((next % size) + size) % size;
      int64_t rows = limit - next;
      if (next < 0 || next >= whole) {
        if (next < 0) rows = std::min(rows, -next);
        piece.source = Piece::kPadding;
      } else {
        rows = std::min(size - piece.start, rows);
        piece.shard = next / size;
      }
      piece.limit = piece.start + rows;
      pieces[i].push_back(piece);
      next += rows;
    }
  }
  return pieces;
}

// Padding is cut to the size of a shard where some partition has rows at its position.
Pieces WithShortPadding(Pieces pieces, int64_t size) {
  Pieces split(pieces.size());
  std::vector<size_t> next(pieces.size(), 0);
  while (true) {
    bool all_padding = true, empty = true;
    for (size_t i = 0; i < pieces.size(); ++i) {
      if (next[i] >= pieces[i].size()) continue;
      empty = false;
      all_padding &= pieces[i][next[i]].source == Piece::kPadding;
    }
    if (empty) return split;
    for (size_t i = 0; i < pieces.size(); ++i) {
      if (next[i] >= pieces[i].size()) continue;
      Piece& piece = pieces[i][next[i]];
      split[i].push_back(piece);
      if (!all_padding && piece.source == Piece::kPadding && piece.limit > size) {
        split[i].back().limit = size;
        piece.start = 0;
        piece.limit -= size;
      } else {
        ++next[i];
      }
    }
  }
}

// What one permute moves.
struct Move {
  IntPairs pairs;  // places
  int64_t start = 0, limit = 0;
};

// Permutes in which every partition sends and receives once at most; each piece of another shard
// learns which one brings it.
std::vector<Move> PlanMoves(Pieces& pieces, int64_t size) {
  const size_t count = pieces.size();
  std::vector<std::vector<std::pair<int64_t, int64_t>>> to(count);  // by source: place, piece
  for (size_t i = 0; i < count; ++i)
    for (size_t k = 0; k < pieces[i].size(); ++k)
      if (pieces[i][k].source != Piece::kPadding && pieces[i][k].shard != static_cast<int64_t>(i))
        to[pieces[i][k].shard].push_back({i, k});
  for (auto& list : to)
    std::stable_sort(list.begin(), list.end(), [&](const auto& a, const auto& b) {
      return pieces[a.first][a.second].offset < pieces[b.first][b.second].offset;
    });
  std::vector<Move> moves;
  std::vector<size_t> next(count, 0);
  while (true) {
    Move move;
    move.start = size;
    std::vector<bool> receives(count, false);
    for (size_t i = 0; i < count; ++i) {
      if (next[i] >= to[i].size()) continue;
      const auto [place, k] = to[i][next[i]];
      Piece& piece = pieces[place][k];
      const bool far = (move.start > piece.limit && move.limit == size && piece.start == 0) ||
                       (move.limit < piece.start && move.start == 0 && piece.limit == size);
      if (!move.pairs.empty() && (receives[place] || far)) continue;
      piece.source = static_cast<int64_t>(moves.size());
      receives[place] = true;
      move.pairs.push_back({static_cast<int64_t>(i), place});
      move.start = std::min(move.start, piece.start);
      move.limit = std::max(move.limit, piece.limit);
      ++next[i];
    }
    if (move.pairs.empty()) return moves;
    moves.push_back(std::move(move));
  }
}

// Writes what PlanMoves planned.
class CompactHalo {
 public:
  CompactHalo(ShardWriter& writer, Instruction* x, int64_t dim, Instruction* pad,
              Instruction* place, const Pieces& pieces)
      : writer_(writer),
        w_(writer.w()),
        x_(x),
        dim_(dim),
        size_(x->shape().dims[dim]),
        pad_(pad),
        place_(place),
        pieces_(pieces) {}

  void Send(const std::vector<Move>& moves, const Cut& cut, DeviceScope* scope) {
    DimVector others;
    for (size_t d = 0; d < cut.tiles.size(); ++d)
      if (static_cast<int64_t>(d) != dim_) others.push_back(d);
    DeviceScope* line = writer_.Within(scope, GroupBy(cut, others).groups);
    for (const Move& move : moves) {
      Instruction* rows =
          move.limit - move.start == size_ ? x_ : w_.SliceOf(x_, dim_, move.start, move.limit);
      moved_.push_back({writer_.Permute(rows, move.pairs, line), move.start});
    }
  }

  // All positions in order, the first with the rows that differ in front.
  Instruction* Joined() {
    std::vector<Instruction*> parts;
    for (size_t k = 0;; ++k) {
      bool any = false;
      for (const auto& list : pieces_) any |= k < list.size();
      if (!any) break;
      parts.push_back(Position(k, parts.empty()));
    }
    first_size_ = parts[0]->shape().dims[dim_];
    return parts.size() == 1 ? parts[0] : w_.Concatenate(parts, dim_);
  }

  // Where what place i needs begins in the joined array.
  int64_t StartOf(size_t i) const {
    if (pieces_[i].empty()) return 0;
    const Piece& piece = pieces_[i][0];
    if (piece.source >= 0)
      return piece.start - moved_[piece.source].second + first_size_ -
             moved_[piece.source].first->shape().dims[dim_];
    if (piece.source == Piece::kSelf) return piece.start - self_start_;
    return first_size_ - (piece.limit - piece.start);
  }

 private:
  Instruction* Position(size_t k, bool is_first) {
    int64_t rows = 0, from = size_, to = 0;
    for (const auto& list : pieces_) {
      if (k >= list.size()) continue;
      const Piece& piece = list[k];
      if (piece.source >= 0) {
        rows = std::max(rows, moved_[piece.source].first->shape().dims[dim_]);
      } else if (piece.source == Piece::kSelf) {
        from = std::min(from, piece.start);
        to = std::max(to, piece.limit);
        rows = std::max(rows, to - from);
      } else {
        rows = std::max(rows, piece.limit - piece.start);
      }
    }
    from = std::max<int64_t>(from - (rows - (to - from)), 0);
    if (is_first) self_start_ = from;
    Shape shape = x_->shape();
    shape.dims[dim_] = rows;
    Instruction* padding = w_.Fill(shape, pad_);
    std::vector<Instruction*> unique;
    std::vector<int64_t> which(pieces_.size(), 0);
    std::map<int64_t, int64_t> seen;
    for (size_t i = 0; i < pieces_.size(); ++i) {
      const int64_t source = k < pieces_[i].size() ? pieces_[i][k].source : Piece::kPadding;
      const auto [at, is_new] = seen.emplace(source, unique.size());
      which[i] = at->second;
      if (is_new) unique.push_back(Sized(source, rows, from, padding, is_first));
    }
    return Selected(unique, which, padding);
  }

  Instruction* Sized(int64_t source, int64_t rows, int64_t from, Instruction* padding,
                     bool is_first) {
    if (source == Piece::kPadding) return padding;
    Instruction* piece = source >= 0 ? moved_[source].first : x_;
    if (source == Piece::kSelf && rows < size_) piece = w_.SliceOf(x_, dim_, from, from + rows);
    const int64_t lacking = rows - piece->shape().dims[dim_];
    if (lacking == 0) return piece;
    return w_.Pad(
        piece, pad_,
        PaddingOf(x_->shape().rank(), dim_, is_first ? lacking : 0, is_first ? 0 : lacking));
  }

  Instruction* Selected(const std::vector<Instruction*>& unique, const std::vector<int64_t>& which,
                        Instruction* padding) {
    Instruction* selector = writer_.Lookup(which, ElementType::kS32, place_);
    const size_t first = unique.size() > 1 && unique[0] == padding ? 1 : 0;
    Instruction* selected = unique[first];
    for (size_t k = first + 1; k < unique.size(); ++k) {
      if (unique[k] == padding) continue;  // masked at the end
      Instruction* is_it =
          w_.Compare(selector, writer_.S32(static_cast<int64_t>(k)), ComparisonDirection::kEq);
      Shape pred = RowMajor(ElementType::kPred, selected->shape().dims);
      selected = w_.Select(w_.Fill(pred, is_it), unique[k], selected);
    }
    return selected;
  }

  ShardWriter& writer_;
  HloWriter& w_;
  Instruction* x_;
  int64_t dim_, size_;
  Instruction *pad_, *place_;
  const Pieces& pieces_;
  std::vector<std::pair<Instruction*, int64_t>> moved_;  // rows, and where they begin in a shard
  int64_t self_start_ = 0, first_size_ = 0;
};

}  // namespace

Instruction* ShardWriter::ExchangeHaloCompact(Instruction* x, const Shape& whole, const Halo& halo,
                                              Instruction* pad, int64_t dim, const Cut& cut,
                                              Instruction* place, DeviceScope* scope) {
  const int64_t size = x->shape().dims[dim], count = cut.Dim(dim), rank = whole.rank();
  const bool mask = pad != nullptr;
  if (!mask) pad = Zero(x->shape().type);
  int64_t most = 0;
  Pieces pieces = WithShortPadding(Needed(halo, size, count, whole.dims[dim], most), size);
  bool all_padding = true;
  for (const auto& list : pieces)
    for (const Piece& piece : list) all_padding &= piece.source == Piece::kPadding;
  if (all_padding) {
    Shape shape = x->shape();
    shape.dims[dim] = most;
    return w_.Fill(shape, pad);
  }
  const std::vector<Move> moves = PlanMoves(pieces, size);
  CompactHalo compact(*this, x, dim, pad, place, pieces);
  compact.Send(moves, cut, scope);
  Instruction* joined = compact.Joined();
  std::vector<int64_t> starts(count, 0), firsts(count, 0), limits(count, 0);
  int64_t padded = joined->shape().dims[dim];
  for (int64_t i = 0; i < count; ++i) {
    if (pieces[i].empty()) continue;
    starts[i] = compact.StartOf(i);
    padded = std::max(padded, starts[i] + most);
    for (const Piece& piece : pieces[i]) {
      if (piece.source != Piece::kPadding) break;
      firsts[i] += piece.limit - piece.start;
    }
    limits[i] = halo.left.At(i) + halo.right.At(i) + size;
    const int64_t beyond = halo.right.At(i) + size * (i + 1) - whole.dims[dim];
    if (beyond > 0) limits[i] -= beyond;
  }
  if (padded > joined->shape().dims[dim])
    joined = w_.Pad(joined, pad, PaddingOf(rank, dim, 0, padded - joined->shape().dims[dim]));
  if (joined->shape().dims[dim] > most) {
    std::vector<Instruction*> at(rank, S32(0));
    at[dim] = Lookup(starts, ElementType::kS32, place);
    DimVector sizes = joined->shape().dims;
    sizes[dim] = most;
    joined = w_.DynamicSlice(joined, at, sizes);
  }
  if (!mask) return joined;
  Instruction* row = w_.Iota(ElementType::kS32, joined->shape().dims, dim);
  const auto compare = [&](const std::vector<int64_t>& table, ComparisonDirection direction) {
    return w_.Compare(row, w_.Fill(row->shape(), Lookup(table, ElementType::kS32, place)),
                      direction);
  };
  Instruction* inside = compare(limits, ComparisonDirection::kLt);
  if (absl::c_any_of(firsts, [](int64_t first) { return first > 0; }))
    inside = w_.Binary(Opcode::kAnd, inside, compare(firsts, ComparisonDirection::kGe));
  return w_.Select(inside, joined, w_.Fill(joined->shape(), pad));
}

Instruction* ShardWriter::Masked(Instruction* x, const Shape& whole, const Valid& valid,
                                 int64_t dim, Instruction* pad) {
  const int64_t size = whole.dims[dim];
  const bool right = valid.padded_size - size - valid.left_padding > 0;
  if (!valid.mask || (valid.left_padding <= 0 && !right)) return x;
  Instruction* row = w_.Iota(ElementType::kS32, x->shape().dims, dim);
  row = w_.Binary(Opcode::kAdd, row, w_.Fill(row->shape(), valid.offset));
  const auto compare = [&](int64_t limit, ComparisonDirection direction) {
    return w_.Compare(row, w_.Fill(row->shape(), S32(limit)), direction);
  };
  Instruction* inside = nullptr;
  if (valid.left_padding > 0) inside = compare(valid.left_padding, ComparisonDirection::kGe);
  if (right) {
    Instruction* before = compare(size + valid.left_padding, ComparisonDirection::kLt);
    inside = inside == nullptr ? before : w_.Binary(Opcode::kAnd, inside, before);
  }
  return w_.Select(inside, x, w_.Fill(x->shape(), w_.Convert(pad, x->shape().type)));
}

std::optional<Instruction*> ShardWriter::ExchangeValid(Instruction* x, const Shape& whole,
                                                       const Halo& halo, const Valid& valid,
                                                       int64_t dim, const Cut& cut,
                                                       Instruction* pad, Instruction* place,
                                                       DeviceScope* scope) {
  const int64_t count = cut.Dim(dim), size = x->shape().dims[dim], rank = whole.rank();
  if (valid.left_padding == halo.left.At(0)) {
    const int64_t far = std::max(halo.left.Most(0, count), halo.right.Most(0, count));
    const int64_t most = size + (halo.left + halo.right).Most(0, count);
    if (most == valid.shard_size && far > 2 * valid.shard_size) {
      if (most * 2 >= count * size) return std::nullopt;  // as good as the whole array
      return ExchangeHaloCompact(x, whole, halo, valid.mask ? pad : nullptr, dim, cut, place,
                                 scope);
    }
  }
  const std::optional<Instruction*> exchanged = ExchangeHalo(x, halo, dim, cut, scope);
  if (!exchanged) return std::nullopt;
  Instruction* joined = *exchanged;
  const int64_t left = halo.left.Most(1, count);
  const int64_t left_or_padding = std::max(left, valid.left_padding);
  const int64_t low = std::max<int64_t>(0, left_or_padding - std::max<int64_t>(0, left));
  // Rows before a shard's own first one; negative where no place needs that one.
  const int64_t before = left > 0 ? left : std::min<int64_t>(0, halo.left.Most(0, count));
  const PlaceFunction start = PlaceFunction(0, before + low) - halo.left;
  const int64_t high = std::max<int64_t>(
      0, start.Most(0, count) + valid.shard_size - joined->shape().dims[dim] - low);
  if (low > 0 || high > 0) joined = w_.Pad(joined, pad, PaddingOf(rank, dim, low, high));
  if (joined->shape().dims[dim] != valid.shard_size) {
    if (halo.left.IsConstant() && halo.left.At(0) == valid.left_padding) {
      joined = w_.SliceOf(joined, dim, 0, valid.shard_size);
    } else {
      std::vector<Instruction*> at(rank, S32(0));
      at[dim] = start.Write(w_, place);
      DimVector sizes = joined->shape().dims;
      sizes[dim] = valid.shard_size;
      joined = w_.DynamicSlice(joined, at, sizes);
    }
  }
  return Masked(joined, whole, valid, dim, pad);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
