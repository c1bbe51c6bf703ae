// The loops of ProductKernels; the including file defines HLOKIT_ISA and HLOKIT_VECTOR_BYTES.
//
// Floats: with p = a * b, exact in f32 for factors of 11 bits, and `top` the largest exponent of
// the products and c of one element,
//   units = sum of trunc(p * 2^(fraction - top)) + trunc(c * 2^(fraction - top)), an int32,
// and the result is units * 2^(top - fraction), cut to 24 bits. A vector holds one column of c; its
// top is found first, in a loop of additions and maxima over k, of two columns at a time, whose
// exponents are the halves of words. Five instructions for 16 products.
#pragma once

#include <string.h>

#include "ptxsim/product_tile_internal.h"

namespace hlokit::ptx::HLOKIT_ISA {
namespace {

constexpr int kWidth = HLOKIT_VECTOR_BYTES / 4;
using Floats = float __attribute__((vector_size(HLOKIT_VECTOR_BYTES)));
using Ints = int32_t __attribute__((vector_size(HLOKIT_VECTOR_BYTES)));
using Words = uint32_t __attribute__((vector_size(HLOKIT_VECTOR_BYTES)));
using Shorts = int16_t __attribute__((vector_size(HLOKIT_VECTOR_BYTES)));

constexpr int kBlock = 8;  // columns at a time
constexpr int kZeroExponent = -8192, kInfiniteExponent = 16000;
// Tops for which all that counts, and the result, is a normal f32.
constexpr int kLeastTop = -95, kMaxTop = 125;
constexpr int kMaxColumns = 256, kMaxDepth = 64;

template <typename V>
V Load(const void* from) {
  V v;
  memcpy(&v, from, sizeof(V));
  return v;
}
template <typename V>
void Store(void* to, const V& v) {
  memcpy(to, &v, sizeof(V));
}
template <typename V>
V Max(V a, V b) {
  return a > b ? a : b;
}

// Of values that are finite; zero has kZeroExponent, what is not finite kInfiniteExponent.
Ints ExponentOf(Ints bits, int least) {
  const Ints magnitude = bits & 0x7fffffff;
  Ints e = Max((magnitude >> 23) - 127, Ints{} + least);
  e = magnitude == 0 ? Ints{} + kZeroExponent : e;
  return magnitude >= 0x7f800000 ? Ints{} + kInfiniteExponent : e;
}

void ExponentsOf(const float* values, int count, int least, int32_t* exponents) {
  for (int i = 0; i < count; i += kWidth)
    Store(exponents + i, ExponentOf(Load<Ints>(values + i), least));
}

// |units| in 24 bits, towards zero; `to_odd`: with the last bit set where others were cut off, so
// that rounding again to f16 is as if it were done once.
Floats Cut(Ints units, bool to_odd) {
  const Ints magnitude = units < 0 ? -units : units;
  const Floats nearest = __builtin_convertvector(magnitude, Floats);
  const Ints back = __builtin_convertvector(nearest, Ints);
  // Above 2^31 - 64 `back` is the smallest integer.
  const Ints above = (back > magnitude) | (back < 0);
  const Ints cut = (Ints)nearest + above;
  if (!to_odd) return (Floats)cut;
  return (Floats)(cut | ((__builtin_convertvector((Floats)cut, Ints) != magnitude) & 1));
}

// Two exponents, from -2^15 to 2^15 - 1, as the lower and the upper half of a word.
template <typename V>
V PairOf(V low, V high) {
  return (low & 0xffff) | high << 16;
}

// Of b, as ProductTile::b_exponents has them.
void PairExponents(const ProductTile& tile, int least, int32_t* pairs) {
  alignas(64) int32_t own[kMaxColumns * kMaxDepth];
  const int columns = tile.columns, depth = tile.depth;
  ExponentsOf(tile.b, columns * depth, least, own);
  if (tile.b_by_depth) {
    for (int i = 0; i < columns * depth / 2; ++i) pairs[i] = PairOf(own[2 * i], own[2 * i + 1]);
    return;
  }
  for (int p = 0; p < columns / 2; ++p) {
    const int32_t* const even = own + 2 * p * depth;
    for (int k = 0; k < depth; ++k) pairs[p * depth + k] = PairOf(even[k], even[depth + k]);
  }
}

struct Operands {
  const float *a, *b;
  const int32_t *a_exponents, *b_exponents;  // pairs
  float* c;
  int first, end;  // ks of the step
  int stride;      // from k to k of b, where kStride is 0
};

// The largest exponent of each element's products and c.
template <int kStride>
void FindTops(const Operands& o, const TileRule& rule, Ints* top) {
  constexpr int kPairs = kBlock / 2, kNext = kStride == 0 ? 1 : kStride;
  const int along = kStride == 0 ? o.stride / 2 : 1;
  Shorts pair[kPairs];
  const auto exponents = [&](int j) {
    return ExponentOf(Load<Ints>(o.c + j * kTileRows), rule.least_c);
  };
  for (int p = 0; p < kPairs; ++p) pair[p] = (Shorts)PairOf(exponents(2 * p), exponents(2 * p + 1));
  for (int k = o.first; k < o.end; ++k) {
    const Shorts own = Load<Shorts>(o.a_exponents + k * kTileRows);
    const int32_t* const other = o.b_exponents + k * along;
#pragma GCC unroll 4
    for (int p = 0; p < kPairs; ++p)
      pair[p] = Max(pair[p], own + (Shorts)(Ints{} + other[p * kNext]));
  }
  for (int p = 0; p < kPairs; ++p) {
    top[2 * p] = (Ints)pair[p] << 16 >> 16;
    top[2 * p + 1] = (Ints)pair[p] >> 16;
  }
}

// Columns 0 to 7 of the operands; true where any element needs another way. kStride: from column
// to column of b; 0: one, and from k to k Operands::stride.
template <int kStride>
Ints StepBlock(const Operands& o, const TileRule& rule) {
  constexpr int kColumn = kStride == 0 ? 1 : kStride;
  const int along = kStride == 0 ? o.stride : 1;
  Ints top[kBlock], sum[kBlock];
  Floats scale[kBlock];
  FindTops<kStride>(o, rule, top);
  Ints bad = {};
#pragma GCC unroll 8
  for (int j = 0; j < kBlock; ++j) {
    const Ints nothing = top[j] < kZeroExponent / 2;  // all are zero
    top[j] = nothing ? Ints{} : top[j];
    bad |= (top[j] > kMaxTop) | (top[j] < kLeastTop);
    scale[j] = (Floats)((rule.fraction + 127 - top[j]) << 23);
    sum[j] = Ints{};
  }
  // Sixteen products are below 2^31; more are looked at after each eight.
  const bool is_deep = (o.end - o.first) > 1 << (29 - rule.fraction);
  for (int k = o.first; k < o.end; ++k) {
    const Floats own = Load<Floats>(o.a + k * kTileRows);
    const float* const other = o.b + k * along;
#pragma GCC unroll 8
    for (int j = 0; j < kBlock; ++j)
      sum[j] += __builtin_convertvector(own * other[j * kColumn] * scale[j], Ints);
    if (is_deep && k % 8 == 7)
      for (int j = 0; j < kBlock; ++j) bad |= (sum[j] > 1 << 30) | (sum[j] < -(1 << 30));
  }
  constexpr int kMaxSum = INT32_MAX - (1 << 26);  // |c| is below 2^26 units
#pragma GCC unroll 8
  for (int j = 0; j < kBlock; ++j) {
    float* const c = o.c + j * kTileRows;
    bad |= (sum[j] > kMaxSum) | (sum[j] < -kMaxSum);
    const Ints units = sum[j] + __builtin_convertvector(Load<Floats>(c) * scale[j], Ints);
    const Floats unit = (Floats)((top[j] - rule.fraction + 127) << 23);
    Ints bits = (Ints)(Cut(units, rule.to_half) * unit);
    if (rule.fraction < 23 && !rule.to_half) bits &= -(1 << (23 - rule.fraction));
    Store(c, bits | (units & INT32_MIN));
  }
  return bad;
}

template <int kStride>
bool StepAll(const ProductTile& tile, const TileRule& rule, const int32_t* a_exponents) {
  Ints bad = {};
  const int step = rule.step == 0 ? tile.depth : rule.step;
  for (int r = 0; r < kTileRows; r += kWidth)
    for (int j = 0; j < tile.columns; j += kBlock) {
      const int column = kStride == 0 ? j : j * kStride;
      Operands o = {tile.a + r,
                    tile.b + column,
                    a_exponents + r,
                    tile.b_exponents + column / 2,
                    tile.c + j * kTileRows + r,
                    0,
                    0,
                    tile.columns};
      for (; o.end < tile.depth; o.first = o.end) {
        o.end = o.first + step;
        bad |= StepBlock<kStride>(o, rule);
      }
    }
  int32_t lanes[kWidth], any = 0;
  Store(lanes, bad);
  for (const int32_t lane : lanes) any |= lane;
  return any == 0;
}

bool MultiplyFloatTile(const ProductTile& given, const TileRule& rule) {
  ProductTile tile = given;
  alignas(64) int32_t a_exponents[kMaxDepth * kTileRows], b_exponents[kMaxColumns * kMaxDepth / 2];
  ExponentsOf(tile.a, tile.depth * kTileRows, rule.least_a, a_exponents);
  for (int i = 0; i < tile.depth * kTileRows; ++i)
    a_exponents[i] = PairOf(a_exponents[i], a_exponents[i]);
  if (tile.b_exponents == nullptr) {
    PairExponents(tile, rule.least_b, b_exponents);
    tile.b_exponents = b_exponents;
  }
  const auto run = [&](auto f) { return f(tile, rule, a_exponents); };
  if (tile.b_by_depth) return run(StepAll<0>);
  switch (tile.depth) {
    case 4:
      return run(StepAll<4>);
    case 8:
      return run(StepAll<8>);
    case 16:
      return run(StepAll<16>);
    case 32:
      return run(StepAll<32>);
    default:
      return run(StepAll<64>);
  }
}

template <int kStride>
void AddIntegers(const ProductTile& tile, bool saturate) {
  constexpr int kColumn = kStride == 0 ? 1 : kStride;
  const int along = kStride == 0 ? tile.columns : 1;
  for (int r = 0; r < kTileRows; r += kWidth)
    for (int j0 = 0; j0 < tile.columns; j0 += kBlock) {
      Floats sum[kBlock] = {};
      for (int k = 0; k < tile.depth; ++k) {
        const Floats own = Load<Floats>(tile.a + k * kTileRows + r);
        const float* const other = tile.b + j0 * kColumn + k * along;
#pragma GCC unroll 8
        for (int j = 0; j < kBlock; ++j) sum[j] += own * other[j * kColumn];
      }
#pragma GCC unroll 8
      for (int j = 0; j < kBlock; ++j) {
        float* const at = tile.c + (j0 + j) * kTileRows + r;
        const Ints c = Load<Ints>(at), d = __builtin_convertvector(sum[j], Ints);
        const Ints total = (Ints)((Words)c + (Words)d);
        const Ints over = (c ^ total) & (d ^ total);  // negative where it overflows
        const Ints limit = c < 0 ? Ints{} + INT32_MIN : Ints{} + INT32_MAX;
        Store(at, saturate ? (over < 0 ? limit : total) : total);
      }
    }
}

void MultiplyIntegerTile(const ProductTile& tile, bool saturate) {
  if (tile.b_by_depth) return AddIntegers<0>(tile, saturate);
  switch (tile.depth) {
    case 16:
      return AddIntegers<16>(tile, saturate);
    case 32:
      return AddIntegers<32>(tile, saturate);
    default:
      return AddIntegers<64>(tile, saturate);
  }
}

// Eight lanes of 32 bits.
using Ints8 = int32_t __attribute__((vector_size(32)));
using Floats8 = float __attribute__((vector_size(32)));
using Shorts8 = uint16_t __attribute__((vector_size(16)));

// The upper 16 bits of a word as bf16; the lower ones must be zero.
// f16 in the lower 16 bits, the upper ones zero: the exponent is moved by a multiplication, which
// makes subnormals right, too.
Floats8 HalfValue(Ints8 bits) {
  const Ints8 magnitude = bits & 0x7fff;
  const Ints8 value = (Ints8)((Floats8)(magnitude << 13) * 0x1p112f);
  const Ints8 wide = magnitude >= 0x7c00 ? value | 0x7f800000 : value;
  return (Floats8)(wide | (bits & 0x8000) << 16);
}

void Widen(const void* from, int count, TileElement element, const float* table, float* to) {
  const auto* const bytes = static_cast<const uint8_t*>(from);
  if (element == TileElement::kByte) {
    for (int i = 0; i < count; ++i) to[i] = table[bytes[i]];
    return;
  }
  for (int i = 0; i < count; i += 8) {
    if (element == TileElement::kTF32) {
      Store(to + i, Load<Ints8>(bytes + 4 * i) & ~0x1fff);
      continue;
    }
    const Ints8 bits = __builtin_convertvector(Load<Shorts8>(bytes + 2 * i), Ints8);
    if (element == TileElement::kBF16) {
      Store(to + i, bits << 16);
    } else {
      Store(to + i, HalfValue(bits));
    }
  }
}

using Ints16 = int32_t __attribute__((vector_size(64)));

// Words q, q + 4, q + 8, ... of 32.
template <int q>
Ints8 EveryFourth(Ints16 low, Ints16 high) {
  return __builtin_shufflevector(low, high, q, q + 4, q + 8, q + 12, q + 16, q + 20, q + 24,
                                 q + 28);
}
template <typename F>
void ForQuarters(const uint32_t* words, F f) {
  const Ints16 low = Load<Ints16>(words), high = Load<Ints16>(words + 16);
  f(0, EveryFourth<0>(low, high));
  f(1, EveryFourth<1>(low, high));
  f(2, EveryFourth<2>(low, high));
  f(3, EveryFourth<3>(low, high));
}

// Eight words of `element`s, each word's elements one below the other in `to`.
void WidenWords(Ints8 words, TileElement element, const float* table, float* to) {
  switch (element) {
    case TileElement::kTF32:
      return Store(to, words & ~0x1fff);
    case TileElement::kF16:
      Store(to, HalfValue(words & 0xffff));
      return Store(to + kTileRows, HalfValue((Ints8)(words >> 16) & 0xffff));
    case TileElement::kBF16:
      Store(to, words << 16);
      return Store(to + kTileRows, words & ~0xffff);
    case TileElement::kByte:
      break;
  }
  uint32_t lanes[8];
  Store(lanes, words);
  for (int byte = 0; byte < 4; ++byte)
    for (int row = 0; row < 8; ++row)
      to[byte * kTileRows + row] = table[lanes[row] >> 8 * byte & 0xff];
}

void Unpack(const uint32_t* const* registers, int count, TileElement element, const float* table,
            float* to) {
  const int pack = element == TileElement::kTF32 ? 1 : element == TileElement::kByte ? 4 : 2;
  for (int i = 0; i < count; ++i) {
    float* const rows = to + i % 2 * 8 + i / 2 * 4 * pack * kTileRows;
    ForQuarters(registers[i], [&](int q, Ints8 words) {
      WidenWords(words, element, table, rows + q * pack * kTileRows);
    });
  }
}

// Where register i of accumulators has column 0 of its four, which are two apart.
int PlaceOfSums(int i) { return (i / 4 * 8 + i % 2) * kTileRows + i / 2 % 2 * 8; }

void UnpackSums(const uint32_t* const* registers, int count, float* to) {
  for (int i = 0; i < count; ++i)
    ForQuarters(registers[i],
                [&](int q, Ints8 words) { Store(to + PlaceOfSums(i) + q * 2 * kTileRows, words); });
}

void PackSums(const float* from, int count, uint32_t* const* registers) {
  for (int i = 0; i < count; ++i) {
    const float* const at = from + PlaceOfSums(i);
    constexpr int kNext = 2 * kTileRows;
    const Ints8 a = Load<Ints8>(at), b = Load<Ints8>(at + kNext), c = Load<Ints8>(at + 2 * kNext),
                d = Load<Ints8>(at + 3 * kNext);
    const Ints16 low =
        __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15);
    const Ints16 high =
        __builtin_shufflevector(c, d, 0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15);
    Store(registers[i], __builtin_shufflevector(low, high, 0, 1, 16, 17, 2, 3, 18, 19, 4, 5, 20, 21,
                                                6, 7, 22, 23));
    Store(registers[i] + 16, __builtin_shufflevector(low, high, 8, 9, 24, 25, 10, 11, 26, 27, 12,
                                                     13, 28, 29, 14, 15, 30, 31));
  }
}

}  // namespace

const ProductKernels kProductKernels = {
    &MultiplyFloatTile, &MultiplyIntegerTile, &PairExponents, &Widen, &Unpack, &UnpackSums,
    &PackSums};

}  // namespace hlokit::ptx::HLOKIT_ISA
// SPDX-License-Identifier: Apache-2.0
