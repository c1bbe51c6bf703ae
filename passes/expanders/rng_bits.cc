// Philox and ThreeFry as HLO on arrays of counters, bit for bit what runtime/rng computes. 32 x 32
// -> 64 bit products are multiplications of u64 arrays; words are interleaved by concatenation
// along a new dimension and a reshape.
#include "passes/expanders/rng_bits.h"

#include <array>

namespace hlokit {
namespace {

constexpr ElementType kU32 = ElementType::kU32, kU64 = ElementType::kU64;

// Halves of 64-bit words and back; `n32` is an array of 32 as large as they are.
Instruction* Low(HloWriter& w, Instruction* x) { return w.Convert(x, kU32); }
Instruction* High(HloWriter& w, Instruction* x, Instruction* n32) {
  return w.Convert(w.Binary(Opcode::kShiftRightLogical, x, n32), kU32);
}
Instruction* Join(HloWriter& w, Instruction* low, Instruction* high, Instruction* n32) {
  Instruction* shifted = w.Binary(Opcode::kShiftLeft, w.Convert(high, kU64), n32);
  return w.Binary(Opcode::kOr, w.Convert(low, kU64), shifted);
}

Instruction* Typed(HloWriter& w, Instruction* words, const Shape& shape) {
  Instruction* cut = w.Convert(words, UnsignedOfWidth(BitWidth(shape.type)));
  return w.Bitcast(w.Reshape(cut, shape.dims), shape.type);
}

Shape Counters(int64_t count) { return RowMajor(kU64, {count}); }

using Words = std::array<Instruction*, 4>;

// One round's keys added to and multiplied into the four words.
class PhiloxRounds {
 public:
  PhiloxRounds(HloWriter& w, Instruction* key, Instruction* n32) : w_(w), n32_(n32) {
    const Shape shape = n32->shape();
    multipliers_ = {w.FillInteger(shape, 0xD2511F53), w.FillInteger(shape, 0xCD9E8D57)};
    steps_ = {w.Integer(kU32, 0x9E3779B9), w.Integer(kU32, 0xBB67AE85)};
    keys_ = {w.Convert(key, kU32), High(w, key, w.Integer(kU64, 32))};
  }

  Words Run(Words x) {
    for (int round = 0; round < 10; ++round) {
      if (round > 0)
        for (int k : {0, 1}) keys_[k] = w_.Binary(Opcode::kAdd, keys_[k], steps_[k]);
      Instruction* a = Product(x[0], 0);
      Instruction* b = Product(x[2], 1);
      x = {Mixed(b, x[1], 0), Low(w_, b), Mixed(a, x[3], 1), Low(w_, a)};
    }
    return x;
  }

 private:
  Instruction* Product(Instruction* x, int k) {
    return w_.Binary(Opcode::kMultiply, w_.Convert(x, kU64), multipliers_[k]);
  }
  Instruction* Mixed(Instruction* product, Instruction* x, int k) {
    Instruction* mixed = w_.Binary(Opcode::kXor, High(w_, product, n32_), x);
    return w_.Binary(Opcode::kXor, mixed, w_.Fill(mixed->shape(), keys_[k]));
  }

  HloWriter& w_;
  Instruction* n32_;
  std::array<Instruction*, 2> multipliers_, steps_, keys_;
};

// Lists of equal length dealt out in turn, one after another, `count` elements of them.
Instruction* Interleave(HloWriter& w, absl::Span<Instruction* const> lists, int64_t count) {
  std::vector<Instruction*> columns;
  const int64_t length = lists[0]->shape().dims[0];
  for (Instruction* list : lists) columns.push_back(w.Reshape(list, {length, 1}));
  const int64_t total = length * lists.size();
  Instruction* flat = w.Reshape(w.Concatenate(columns, 1), {total});
  return total == count ? flat : w.SliceOf(flat, 0, 0, count);
}

// counter + n with its carry, as (low, high).
std::array<Instruction*, 2> Advance(HloWriter& w, Instruction* low, Instruction* high,
                                    Instruction* n) {
  Instruction* sum = w.Binary(Opcode::kAdd, low, n);
  Instruction* carry = w.Convert(w.Compare(sum, low, ComparisonDirection::kLt), kU64);
  return {sum, w.Binary(Opcode::kAdd, high, carry)};
}

}  // namespace

RandomBits PhiloxBits(HloWriter& w, Instruction* state, const Shape& shape) {
  const bool wide = BitWidth(shape.type) == 64, long_state = state->shape().dims[0] > 2;
  const int64_t count = shape.ElementCount(), a_block = wide ? 2 : 4;
  const int64_t blocks = (count + a_block - 1) / a_block;
  Instruction* key = w.ElementOf(state, 0);
  Instruction* low = w.ElementOf(state, 1);
  Instruction* high = long_state ? w.ElementOf(state, 2) : key;
  const Shape counters = Counters(blocks);
  Instruction* n32 = w.FillInteger(counters, 32);
  const auto at =
      Advance(w, w.Fill(counters, low), w.Fill(counters, high), w.Iota(kU64, counters.dims, 0));
  const Words x =
      PhiloxRounds(w, key, n32)
          .Run({Low(w, at[0]), High(w, at[0], n32), Low(w, at[1]), High(w, at[1], n32)});
  Instruction* words =
      wide ? Interleave(w, {Join(w, x[0], x[1], n32), Join(w, x[2], x[3], n32)}, count)
           : Interleave(w, x, count);
  std::vector<Instruction*> next = {w.Reshape(key, {1})};
  if (long_state) {
    for (Instruction* part : Advance(w, low, high, w.Integer(kU64, blocks)))
      next.push_back(w.Reshape(part, {1}));
  } else {
    next.push_back(w.Reshape(w.WithInteger(Opcode::kAdd, low, blocks), {1}));
  }
  return {w.Concatenate(next, 0), Typed(w, words, shape)};
}

namespace {

// The two words of each counter.
std::array<Instruction*, 2> ThreeFryWords(HloWriter& w, Instruction* counters, Instruction* key) {
  static constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const Shape words = RowMajor(kU32, counters->shape().dims);
  Instruction* n32 = w.FillInteger(counters->shape(), 32);
  std::array<Instruction*, 3> keys = {w.Convert(key, kU32), High(w, key, w.Integer(kU64, 32))};
  Instruction* both = w.Binary(Opcode::kXor, keys[0], keys[1]);
  keys[2] = w.Binary(Opcode::kXor, both, w.Integer(kU32, 0x1BD11BDA));
  for (Instruction*& k : keys) k = w.Fill(words, k);
  Instruction* x = w.Binary(Opcode::kAdd, Low(w, counters), keys[0]);
  Instruction* y = w.Binary(Opcode::kAdd, High(w, counters, n32), keys[1]);
  for (int round = 0; round < 5; ++round) {
    for (int rotation : kRotations[round % 2]) {
      x = w.Binary(Opcode::kAdd, x, y);
      Instruction* left = w.WithInteger(Opcode::kShiftLeft, y, rotation);
      Instruction* right = w.WithInteger(Opcode::kShiftRightLogical, y, 32 - rotation);
      y = w.Binary(Opcode::kXor, w.Binary(Opcode::kOr, left, right), x);
    }
    x = w.Binary(Opcode::kAdd, x, keys[(round + 1) % 3]);
    y = w.Binary(Opcode::kAdd, y, keys[(round + 2) % 3]);
    y = w.WithInteger(Opcode::kAdd, y, round + 1);
  }
  return {x, y};
}

// The dimension along which two words of a counter are neighbours: the first even one, else the
// longest.
size_t SplitDimension(const DimVector& dims) {
  size_t longest = 0;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] % 2 == 0) return d;
    if (dims[d] > dims[longest]) longest = d;
  }
  return longest;
}

}  // namespace

RandomBits ThreeFryBits(HloWriter& w, Instruction* state, const Shape& shape) {
  const bool wide = BitWidth(shape.type) == 64;
  DimVector dims = shape.dims;
  if (dims.empty()) dims = {1};
  const size_t split = SplitDimension(dims);
  int64_t outer = 1, inner = 1;
  for (size_t d = 0; d < dims.size(); ++d)
    if (d != split) (d < split ? outer : inner) *= dims[d];
  const int64_t size = dims[split], half = (size + 1) / 2;
  const int64_t counters = wide ? shape.ElementCount() : outer * half * inner;
  Instruction* key = w.ElementOf(state, 0);
  Instruction* counter = w.ElementOf(state, 1);
  Instruction* at =
      w.Binary(Opcode::kAdd, w.Fill(Counters(counters), counter), w.Iota(kU64, {counters}, 0));
  const auto words = ThreeFryWords(w, at, key);
  Instruction* all = nullptr;
  if (wide) {
    all = Join(w, words[0], words[1], w.FillInteger(Counters(counters), 32));
  } else {
    std::vector<Instruction*> halves;
    for (Instruction* word : words) halves.push_back(w.Reshape(word, {outer, half, 1, inner}));
    all = w.Reshape(w.Concatenate(halves, 2), {outer, 2 * half, inner});
    if (2 * half != size) all = w.SliceOf(all, 1, 0, size);
  }
  Instruction* next = w.WithInteger(Opcode::kAdd, counter, counters);
  return {w.Concatenate({w.Reshape(key, {1}), w.Reshape(next, {1})}, 0), Typed(w, all, shape)};
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
