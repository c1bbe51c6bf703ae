// Tile transpose in vector registers; the including file defines HLOKIT_ISA and
// HLOKIT_VECTOR_BYTES.
#pragma once

#include <string.h>

#include <algorithm>
#if HLOKIT_VECTOR_BYTES == 64
#include <immintrin.h>
#endif

#include "runtime/lanes_internal.h"
#include "runtime/transpose/tile_transpose_internal.h"

namespace hlokit::HLOKIT_ISA {
namespace {

// Non-temporal store where the lanes fill a cache line; an ordinary store otherwise.
template <bool kNonTemporal, int kLanes, typename T, typename V>
void Store(T* to, const V& row) {
#if HLOKIT_VECTOR_BYTES == 64
  if constexpr (kNonTemporal && sizeof(V) == 64) {
    __m512i line;
    memcpy(&line, &row, 64);
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to), line);
    return;
  }
#endif
  StoreLanes<kLanes>(to, row);
}

#if HLOKIT_VECTOR_BYTES == 64
// Two tiles that are adjacent in the result, so that their rows make whole cache lines.
inline void TransposeNonTemporal(const uint16_t* from, int64_t from_pitch, uint16_t* to,
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

template <typename T, bool kNonTemporal = false>
void Move(const void* from_data, int64_t from_pitch, void* to_data, int64_t to_pitch) {
  constexpr int kEdge = 64 / sizeof(T), kFit = HLOKIT_VECTOR_BYTES / sizeof(T);
  constexpr int kLanes = kFit > 16 ? 16 : kFit;
  const T* from = static_cast<const T*>(from_data);
  T* to = static_cast<T*>(to_data);
#if HLOKIT_VECTOR_BYTES == 64
  if constexpr (kNonTemporal && sizeof(T) == 2)
    return TransposeNonTemporal(from, from_pitch, to, to_pitch);
#endif
  // Copied to the stack first, a whole line at a time: lines a power of two apart share cache sets
  // and would evict each other.
  alignas(64) T tile[kLanes < kEdge ? kEdge * kEdge : 1];
  if constexpr (kLanes < kEdge) {
    for (int64_t i = 0; i < kEdge; ++i) memcpy(tile + i * kEdge, from + i * from_pitch, 64);
    from = tile;
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
        Store<kNonTemporal, kLanes>(to + (j + k) * to_pitch + i, rows[k]);
    }
  }
}

// Tiles of kSide x kSide. The last tile of a line or column overlaps its neighbour, so that no
// remainder is left: requires lines and length of at least kSide.
template <typename T, int kSide>
void TransposeSmallTiles(const T* from, int64_t from_pitch, T* to, int64_t to_pitch, int64_t lines,
                         int64_t length) {
  for (int64_t j = 0; j < lines; j += kSide) {
    const int64_t line = std::min(j, lines - kSide);
    for (int64_t i = 0; i < length; i += kSide) {
      const int64_t at = std::min(i, length - kSide);
      typename Lanes<T, kSide>::Type rows[kSide];
#pragma GCC unroll 16
      for (int k = 0; k < kSide; ++k)
        rows[k] = LoadLanes<kSide>(from + (line + k) * from_pitch + at);
      TransposeRows<T, kSide>(rows);
#pragma GCC unroll 16
      for (int k = 0; k < kSide; ++k) StoreLanes<kSide>(to + (at + k) * to_pitch + line, rows[k]);
    }
  }
}

// Few lines (kLines), or short lines (kLength elements). The dense case is a loop of its own, which
// the compiler vectorizes.
template <typename T, int kLines>
void Interleave(const T* __restrict from, int64_t from_pitch, T* __restrict to, int64_t to_pitch,
                int64_t length) {
  if (to_pitch == kLines) {
    for (int64_t i = 0; i < length; ++i)
      for (int k = 0; k < kLines; ++k) to[i * kLines + k] = from[k * from_pitch + i];
    return;
  }
  for (int64_t i = 0; i < length; ++i)
    for (int k = 0; k < kLines; ++k) to[i * to_pitch + k] = from[k * from_pitch + i];
}
template <typename T, int kLength>
void Deinterleave(const T* __restrict from, int64_t from_pitch, T* __restrict to, int64_t to_pitch,
                  int64_t lines) {
  if (from_pitch == kLength) {
    for (int64_t j = 0; j < lines; ++j)
      for (int k = 0; k < kLength; ++k) to[k * to_pitch + j] = from[j * kLength + k];
    return;
  }
  for (int64_t j = 0; j < lines; ++j)
    for (int k = 0; k < kLength; ++k) to[k * to_pitch + j] = from[j * from_pitch + k];
}

template <typename T>
void TransposeFewLines(const T* from, int64_t from_pitch, T* to, int64_t to_pitch, int64_t lines,
                       int64_t length) {
  switch (lines) {
    case 1:
      return Interleave<T, 1>(from, from_pitch, to, to_pitch, length);
    case 2:
      return Interleave<T, 2>(from, from_pitch, to, to_pitch, length);
    case 3:
      return Interleave<T, 3>(from, from_pitch, to, to_pitch, length);
    default:
      for (int64_t j = 0; j < lines; j += 4) {
        const int64_t line = std::min(j, lines - 4);
        Interleave<T, 4>(from + line * from_pitch, from_pitch, to + line, to_pitch, length);
      }
  }
}
template <typename T>
void TransposeShortLines(const T* from, int64_t from_pitch, T* to, int64_t to_pitch, int64_t lines,
                         int64_t length) {
  switch (length) {
    case 1:
      return Deinterleave<T, 1>(from, from_pitch, to, to_pitch, lines);
    case 2:
      return Deinterleave<T, 2>(from, from_pitch, to, to_pitch, lines);
    case 3:
      return Deinterleave<T, 3>(from, from_pitch, to, to_pitch, lines);
    default:
      for (int64_t i = 0; i < length; i += 4) {
        const int64_t at = std::min(i, length - 4);
        Deinterleave<T, 4>(from + at, from_pitch, to + at * to_pitch, to_pitch, lines);
      }
  }
}

template <typename T>
void TransposeAnyPart(const void* from_data, int64_t from_pitch, void* to_data, int64_t to_pitch,
                      int64_t lines, int64_t length) {
  const T* from = static_cast<const T*>(from_data);
  T* to = static_cast<T*>(to_data);
  const int64_t least = std::min(lines, length);
  if (sizeof(T) == 1 && least >= 16)
    return TransposeSmallTiles<T, 16>(from, from_pitch, to, to_pitch, lines, length);
  if (sizeof(T) <= 4 && least >= 8)
    return TransposeSmallTiles<T, 8>(from, from_pitch, to, to_pitch, lines, length);
  if (sizeof(T) >= 2 && least >= 4)
    return TransposeSmallTiles<T, 4>(from, from_pitch, to, to_pitch, lines, length);
  if (lines < length) return TransposeFewLines(from, from_pitch, to, to_pitch, lines, length);
  TransposeShortLines(from, from_pitch, to, to_pitch, lines, length);
}

}  // namespace

constexpr TileTransposeKernels kTileTransposes = {
    {&Move<uint8_t>, &Move<uint16_t>, &Move<uint32_t>, &Move<uint64_t>},
#if HLOKIT_VECTOR_BYTES == 64
    {nullptr, &Move<uint16_t, true>, &Move<uint32_t, true>, &Move<uint64_t, true>},
#else
    {},
#endif
    {&TransposeAnyPart<uint8_t>, &TransposeAnyPart<uint16_t>, &TransposeAnyPart<uint32_t>,
     &TransposeAnyPart<uint64_t>}};

}  // namespace hlokit::HLOKIT_ISA
// SPDX-License-Identifier: Apache-2.0
