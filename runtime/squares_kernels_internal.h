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

template <typename T, bool kPastCache = false>
void Move(const void* from_data, int64_t from_pitch, void* to_data, int64_t to_pitch) {
  constexpr int kEdge = 64 / sizeof(T), kFit = HLOKIT_VECTOR_BYTES / sizeof(T);
  constexpr int kLanes = kFit > 16 ? 16 : kFit;
  const T* from = static_cast<const T*>(from_data);
  T* to = static_cast<T*>(to_data);
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
    {nullptr, nullptr, &Move<uint32_t, true>, &Move<uint64_t, true>}};
#else
    {}};
#endif

}  // namespace hlokit::HLOKIT_ISA
// SPDX-License-Identifier: Apache-2.0
