// Products of matrix instructions sixteen rows at a time, the rows side by side in vector
// registers: what dense mma and wgmma of floats to tf32 and of bytes take. Bit for bit as
// products.cc has them, for the finite numbers of the usual range; others are left to it.
#pragma once

#include <cstdint>

namespace hlokit::ptx {

// A fragment's elements are 32 bits (tf32), 16 (f16, bf16) or a byte, whose values a table has.
enum class TileElement : uint8_t { kTF32, kF16, kBF16, kByte };

inline constexpr int kTileRows = 16;

// c += a * b. a[k * 16 + row], b[column * depth + k] or, where `b_by_depth`, b[k * columns +
// column], c[column * 16 + row]. `columns` is a multiple of 8, `depth` 4, 8, 16, 32 or 64. All
// arrays begin at multiples of 64 bytes.
struct ProductTile {
  int columns = 8, depth = 0;
  bool b_by_depth = false;
  const float *a = nullptr, *b = nullptr;
  float* c = nullptr;
  // Of columns 2p and 2p + 1, as the halves of a word, at [p * depth + k] or, by depth, [k *
  // columns / 2 + p]; null: floats() finds them.
  const int32_t* b_exponents = nullptr;
};

// How floats are summed (products.cc): bits below the largest exponent that count, the smallest
// exponents of normal numbers of a, b and c, depth of a step.
struct TileRule {
  int fraction = 25, step = 0;
  int least_a = -126, least_b = -126, least_c = -126;
  bool to_half = false;  // the sums are rounded to f16, else to f32
};

// What is compiled for each instruction set.
struct ProductKernels {
  // False where an element needs another way; c is then undefined.
  bool (*floats)(const ProductTile& tile, const TileRule& rule);
  // Of integers, whose sums without c are below 2^24; c has their bits.
  void (*integers)(const ProductTile& tile, bool saturate);
  // The b_exponents of the tile's b; TileRule::least_b is `least`.
  void (*exponents)(const ProductTile& tile, int least, int32_t* pairs);
  // `count` elements one behind the other; a byte's value is table[byte].
  void (*widen)(const void* from, int count, TileElement element, const float* table, float* to);
  // Fragments of 16 rows: register i of 32 lanes has, of row lane / 4 + i % 2 * 8, the elements of
  // word lane % 4 + i / 2 * 4 of the row. to[element * 16 + row].
  void (*unpack)(const uint32_t* const* registers, int count, TileElement element,
                 const float* table, float* to);
  // The same of accumulators of 32 bits, where registers 4g to 4g + 3 have columns 8g to 8g + 7,
  // and back.
  void (*unpack_sums)(const uint32_t* const* registers, int count, float* to);
  void (*pack_sums)(const float* from, int count, uint32_t* const* registers);
};

// For this machine.
const ProductKernels& BestProductKernels();

namespace isa_base {
extern const ProductKernels kProductKernels;
}
namespace isa_avx2 {
extern const ProductKernels kProductKernels;
}
namespace isa_avx512 {
extern const ProductKernels kProductKernels;
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
