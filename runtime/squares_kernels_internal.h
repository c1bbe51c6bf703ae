// Squares in vector registers; the including file defines HLOKIT_ISA and HLOKIT_VECTOR_BYTES.
#pragma once

#include <string.h>
#if HLOKIT_VECTOR_BYTES == 64
#include <immintrin.h>
#endif

#include "runtime/lanes_internal.h"
#include "runtime/squares_internal.h"

namespace hlokit::HLOKIT_ISA {
namespace {

// Lanes that fill a line, written past the caches; others as they are.
template <bool kPastCache, int kLanes, typename T, typename V>
void Store(T* to, const V& row) {
#if HLOKIT_VECTOR_BYTES == 64
  if constexpr (kPastCache && sizeof(V) == 64) {
    __m512i line;
    memcpy(&line, &row, 64);
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to), line);
    return;
  }
#endif
  StoreLanes<kLanes>(to, row);
}

#if HLOKIT_VECTOR_BYTES == 64
// Two squares beside each other in the result, whose rows make whole lines.
inline void MovePastCache(const uint16_t* from, int64_t from_pitch, uint16_t* to,
                          int64_t to_pitch) {
  for (int64_t j = 0; j < 32; j += 16) {
    Lanes<uint16_t, 16>::Type halves[2][16];
#pragma GCC unroll 2
    for (int64_t h = 0; h < 2; ++h) {
#pragma GCC unroll 16
      for (int64_t k = 0; k < 16; ++k)
        halves[h][k] = LoadLanes<16>(from + (16 * h + k) * from_pitch + j);
      TransposeRows<uint16_t, 16>(halves[h]);
    }
#pragma GCC unroll 16
    for (int64_t k = 0; k < 16; ++k) {
      const auto low = (Lanes<uint64_t, 4>::Type)halves[0][k];
      const auto high = (Lanes<uint64_t, 4>::Type)halves[1][k];
      _mm512_stream_si512(reinterpret_cast<__m512i*>(to + (j + k) * to_pitch),
                          (__m512i)__builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7));
    }
  }
}
#endif

template <typename T, bool kPastCache = false>
void Move(const void* from_data, int64_t from_pitch, void* to_data, int64_t to_pitch) {
  constexpr int kEdge = 64 / sizeof(T), kFit = HLOKIT_VECTOR_BYTES / sizeof(T);
  constexpr int kLanes = kFit > 16 ? 16 : kFit;
  const T* from = static_cast<const T*>(from_data);
  T* to = static_cast<T*>(to_data);
#if HLOKIT_VECTOR_BYTES == 64
  if constexpr (kPastCache && sizeof(T) == 2) return MovePastCache(from, from_pitch, to, to_pitch);
#endif
  // Lines are read whole: their addresses may fall together in the cache.
  alignas(64) T square[kLanes < kEdge ? kEdge * kEdge : 1];
  if constexpr (kLanes < kEdge) {
    for (int64_t i = 0; i < kEdge; ++i) memcpy(square + i * kEdge, from + i * from_pitch, 64);
    from = square;
    from_pitch = kEdge;
  }
  for (int64_t j = 0; j < kEdge; j += kLanes) {
    for (int64_t i = 0; i < kEdge; i += kLanes) {
      typename Lanes<T, kLanes>::Type rows[kLanes];
#pragma GCC unroll 16
      for (int k = 0; k < kLanes; ++k) rows[k] = LoadLanes<kLanes>(from + (i + k) * from_pitch + j);
      TransposeRows<T, kLanes>(rows);
#pragma GCC unroll 16
      for (int k = 0; k < kLanes; ++k)
        Store<kPastCache, kLanes>(to + (j + k) * to_pitch + i, rows[k]);
    }
  }
}

}  // namespace

constexpr SquareKernels kSquares = {
    {&Move<uint8_t>, &Move<uint16_t>, &Move<uint32_t>, &Move<uint64_t>},
#if HLOKIT_VECTOR_BYTES == 64
    {nullptr, &Move<uint16_t, true>, &Move<uint32_t, true>, &Move<uint64_t, true>}};
#else
    {}};
#endif

}  // namespace hlokit::HLOKIT_ISA
// SPDX-License-Identifier: Apache-2.0
