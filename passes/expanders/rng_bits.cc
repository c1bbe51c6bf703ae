// Philox and ThreeFry as HLO on arrays of counters, bit for bit what runtime/rng computes. 32 x 32
// -> 64 bit products are multiplications of u64 arrays; words are interleaved by concatenation
// along a new dimension and a reshape. What looks idle (a counter cut into words and put together,
// a broadcast of a scalar to a scalar, constants written once for each use) is XLA's form, which
// dumps are compared with; algsimp and cse remove it.
#include "passes/expanders/rng_bits.h"

#include <algorithm>

namespace hlokit {
namespace {

constexpr ElementType kU32 = ElementType::kU32, kU64 = ElementType::kU64;

using Halves = std::array<Instruction*, 2>;  // of a 64-bit word, the low one first
using Words = std::array<Instruction*, 4>;

Halves Split(HloWriter& w, Instruction* x) {
  return {w.Convert(x, kU32), w.Convert(w.WithInteger(Opcode::kShiftRightLogical, x, 32), kU32)};
}

Instruction* Join(HloWriter& w, Instruction* low, Instruction* high) {
  Instruction* shifted = w.WithInteger(Opcode::kShiftLeft, w.Convert(high, kU64), 32);
  return w.Binary(Opcode::kOr, w.Convert(low, kU64), shifted);
}

// A reshape or a broadcast of a scalar, written also where nothing changes.
Instruction* Reshaped(HloWriter& w, Instruction* x, absl::Span<const int64_t> dims) {
  return w.rewriter().Reshape(x, RowMajor(x->shape().type, dims));
}
Instruction* Copies(HloWriter& w, Instruction* scalar, absl::Span<const int64_t> dims) {
  return w.rewriter().Broadcast(scalar, RowMajor(scalar->shape().type, dims), {});
}

Instruction* Cut(HloWriter& w, Instruction* words, const Shape& shape) {
  return w.Convert(words, UnsignedOfWidth(BitWidth(shape.type)));
}

// One round's keys are multiplied into the four words.
class PhiloxRounds {
 public:
  PhiloxRounds(HloWriter& w, Halves key) : w_(w), key_(key) {}

  Words Run(Words x) {
    static constexpr int kRounds = 10;
    for (int round = 0; round < kRounds; ++round) {
      const Halves a = Product(x[0], 0xD2511F53), b = Product(x[2], 0xCD9E8D57);
      x = {Mixed(b[1], x[1], key_[0]), b[0], Mixed(a[1], x[3], key_[1]), a[0]};
      key_ = {w_.WithInteger(Opcode::kAdd, key_[0], 0x9E3779B9),
              w_.WithInteger(Opcode::kAdd, key_[1], 0xBB67AE85)};
    }
    return x;
  }

 private:
  Halves Product(Instruction* x, int64_t factor) {
    return Split(w_, w_.WithInteger(Opcode::kMultiply, w_.Convert(x, kU64), factor));
  }
  Instruction* Mixed(Instruction* high, Instruction* x, Instruction* key) {
    return Spread(w_, Opcode::kXor, w_.Binary(Opcode::kXor, high, x), key);
  }

  HloWriter& w_;
  Halves key_;
};

// Two words of 64 bits plus one, with the carry.
Halves Added(HloWriter& w, const Halves& counter, Instruction* n) {
  const DimVector dims = n->shape().dims;
  Instruction* sum = Spread(w, Opcode::kAdd, counter[0], n);
  Instruction* carries = w.Compare(sum, w.Fill(sum->shape(), counter[0]), ComparisonDirection::kLt);
  Instruction* next = w.WithInteger(Opcode::kAdd, counter[1], 1);
  return {sum, w.Select(carries, Copies(w, next, dims), Copies(w, counter[1], dims))};
}

Instruction* WordAt(HloWriter& w, Instruction* list, int64_t k) {
  return Reshaped(w, w.SliceOf(list, 0, k, k + 1), {});
}

// The words of `blocks` counters from `state` on, and the state after them.
std::pair<Words, Instruction*> PhiloxWords(HloWriter& w, Instruction* key, Instruction* state,
                                           int64_t blocks) {
  const Halves keys = Split(w, key);
  Halves counter = {WordAt(w, state, 0), WordAt(w, state, 1)};
  for (Instruction*& word : counter) {
    const Halves halves = Split(w, word);
    word = Join(w, halves[0], halves[1]);
  }
  const Halves at = Added(w, counter, w.Iota(kU64, {blocks}, 0));
  const Halves low = Split(w, at[0]), high = Split(w, at[1]);
  const Halves next = Added(w, counter, w.Integer(kU64, blocks));
  Instruction* after = w.Concatenate({Reshaped(w, next[0], {1}), Reshaped(w, next[1], {1})}, 0);
  return {PhiloxRounds(w, keys).Run({low[0], low[1], high[0], high[1]}), after};
}

// Lists of equal length dealt out in turn, one after another: as many as `dims` holds.
Instruction* Dealt(HloWriter& w, absl::Span<Instruction* const> lists,
                   absl::Span<const int64_t> dims) {
  const int64_t length = lists[0]->shape().dims[0];
  std::vector<Instruction*> columns;
  for (Instruction* list : lists) columns.push_back(Reshaped(w, list, {length, 1}));
  Instruction* flat =
      Reshaped(w, w.Concatenate(columns, 1), {length * static_cast<int64_t>(lists.size())});
  return Reshaped(w, w.SliceOf(flat, 0, 0, RowMajor(kU32, dims).ElementCount()), dims);
}

}  // namespace

Instruction* Spread(HloWriter& w, Opcode opcode, Instruction* x, Instruction* y) {
  if (x->shape().IsScalar()) return w.Binary(opcode, w.Fill(y->shape(), x), y);
  return w.Binary(opcode, x, y->shape().IsScalar() ? w.Fill(x->shape(), y) : y);
}

RandomBits PhiloxBits(HloWriter& w, Instruction* key, Instruction* counter, const Shape& shape) {
  static constexpr int64_t kWords = 4;  // of 32 bits, from one counter
  const bool wide = BitWidth(shape.type) == 64;
  const int64_t words = shape.ElementCount() * (wide ? 2 : 1);
  const auto [x, next] = PhiloxWords(w, key, counter, (words + kWords - 1) / kWords);
  if (!wide) return {next, Cut(w, Dealt(w, x, shape.dims), shape)};
  return {next, Dealt(w, {Join(w, x[0], x[1]), Join(w, x[2], x[3])}, shape.dims)};
}

namespace {

// The two words of each counter.
Halves ThreeFryWords(HloWriter& w, const Halves& counters, const Halves& key) {
  static constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  std::array<Instruction*, 3> keys;
  keys[2] = w.Integer(kU32, 0x1BD11BDA);
  for (int k : {0, 1}) {
    keys[k] = w.rewriter().Add(Opcode::kBitcastConvert, key[k]->shape(), {key[k]});
    keys[2] = w.Binary(Opcode::kXor, keys[2], keys[k]);
  }
  Instruction* x = Spread(w, Opcode::kAdd, counters[0], keys[0]);
  Instruction* y = Spread(w, Opcode::kAdd, counters[1], keys[1]);
  for (int round = 0; round < 5; ++round) {
    for (int rotation : kRotations[round % 2]) {
      x = w.Binary(Opcode::kAdd, x, y);
      Instruction* left = w.WithInteger(Opcode::kShiftLeft, y, rotation);
      Instruction* right = w.WithInteger(Opcode::kShiftRightLogical, y, 32 - rotation);
      y = w.Binary(Opcode::kXor, x, w.Binary(Opcode::kOr, left, right));
    }
    x = Spread(w, Opcode::kAdd, x, keys[(round + 1) % 3]);
    y = Spread(w, Opcode::kAdd, y, keys[(round + 2) % 3]);
    y = w.WithInteger(Opcode::kAdd, y, round + 1);
  }
  return {x, y};
}

// An array of counters, `first` (u64[1]) and those after it, and the one behind them.
std::pair<Halves, Instruction*> ThreeFryCounters(HloWriter& w, Instruction* first,
                                                 absl::Span<const int64_t> dims) {
  Instruction* counters = Copies(w, Reshaped(w, first, {}), dims);
  int64_t stride = 1;
  for (int64_t d = static_cast<int64_t>(dims.size()) - 1; d >= 0; --d) {
    if (dims[d] < 2) continue;
    Instruction* steps = w.WithInteger(Opcode::kMultiply, w.Iota(kU64, dims, d), stride);
    counters = Spread(w, Opcode::kAdd, counters, steps);
    stride *= dims[d];
  }
  Instruction* next = w.WithInteger(Opcode::kAdd, first, RowMajor(kU64, dims).ElementCount());
  return {Split(w, counters), next};
}

}  // namespace

PairedDims::PairedDims(absl::Span<const int64_t> dims) {
  if (dims.empty()) {
    half = {1};
    whole = {2};
    return;
  }
  const int64_t rank = dims.size();
  while (split < rank && dims[split] % 2 != 0) ++split;
  if (split == rank) split = std::max_element(dims.begin(), dims.end()) - dims.begin();
  for (int64_t d = 0; d < rank; ++d) {
    half.push_back(d == split ? (dims[d] + 1) / 2 : dims[d]);
    if (d == split) half.push_back(1);
  }
  pair = split + 1;
  whole = half;
  whole[pair] = 2;
}

Instruction* PairedDims::Joined(HloWriter& w, absl::Span<const int64_t> dims,
                                const std::array<Instruction*, 2>& members) const {
  if (dims.empty()) return Reshaped(w, members[0], {});
  DimVector even(dims.begin(), dims.end());
  even[split] = 2 * half[split];
  Instruction* all = Reshaped(w, w.Concatenate(members, pair), even);
  return even[split] == dims[split] ? all : w.SliceOf(all, split, 0, dims[split]);
}

RandomBits ThreeFryBits(HloWriter& w, Instruction* key, Instruction* counter, const Shape& shape) {
  if (BitWidth(shape.type) == 64) {
    const auto [counters, next] = ThreeFryCounters(w, counter, shape.dims);
    const Halves words = ThreeFryWords(w, counters, Split(w, key));
    return {next, Join(w, words[0], words[1])};
  }
  const PairedDims pairs(shape.dims);
  const auto [counters, next] = ThreeFryCounters(w, counter, pairs.half);
  const Halves words = ThreeFryWords(w, counters, Split(w, key));
  return {next, Cut(w, pairs.Joined(w, shape.dims, words), shape)};
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
