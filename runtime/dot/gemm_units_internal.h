// Packing for Gemm's inner loops that multiply units of four bytes along k: pairs of bf16, quads of
// 8-bit integers. A packed element is a unit: the geometry of 32-bit types stays as it is, with a
// half or a quarter of the depth. The including file defines what gemm_kernels_internal.h wants.
#pragma once

#include "runtime/dot/gemm_kernels_internal.h"

namespace hlokit::HLOKIT_ISA {
namespace {

constexpr int kUnitVectors = 2;
constexpr int64_t kUnitLanes = HLOKIT_VECTOR_BYTES / 4;
constexpr int64_t kUnitWidth = kUnitVectors * kUnitLanes;

// Elements of one unit. What is missing of the last one is zero.
template <typename S>
constexpr int64_t kPerUnit = 4 / sizeof(S);

// T: the type of a packed element; S: the bits of a source's.
template <typename T, typename S>
void PackUnitsA(const GemmSource& source, int64_t x0, int64_t count, int64_t k0, int64_t depth,
                int64_t pitch, T* to) {
  const S* from = static_cast<const S*>(source.data);
  S* rows = reinterpret_cast<S*>(to);
  pitch *= kPerUnit<S>;
  if (HasRuns(source.outer) && !HasRuns(source.k)) {
    S column[kGemmMaxRows];
    for (int64_t first = 0; first < count; first += kGemmMaxRows) {
      const int64_t height = Least(kGemmMaxRows, count - first);
      for (int64_t p = 0; p < depth; ++p) {
        Gather(from + OffsetAt(source.k, k0 + p), source.outer, x0 + first, height, column);
        for (int64_t r = 0; r < height; ++r) rows[(first + r) * pitch + p] = column[r];
      }
    }
  } else {
    GatherLines(from, source.outer, x0, count, source.k, k0, depth, rows, pitch);
  }
  for (int64_t p = depth; p % kPerUnit<S> != 0; ++p) {
    for (int64_t r = 0; r < count; ++r) rows[r * pitch + p] = 0;
  }
}

// Elements that lie side by side, each as a word; in two steps, since GCC 12 widens bytes to words
// one by one.
template <typename S>
HLOKIT_INLINE typename VectorOf<uint32_t>::Type LoadWords(const S* from) {
  typedef S Narrow __attribute__((vector_size(kUnitLanes * sizeof(S)), aligned(1), may_alias));
  typedef uint16_t Half __attribute__((vector_size(kUnitLanes * 2)));
  return __builtin_convertvector(
      __builtin_convertvector(*reinterpret_cast<const Narrow*>(from), Half),
      typename VectorOf<uint32_t>::Type);
}

// A vector of units from elements that lie side by side in each of the rows.
template <typename S>
HLOKIT_INLINE typename VectorOf<uint32_t>::Type InterleavedUnits(const S* const* rows, int64_t at) {
  typename VectorOf<uint32_t>::Type units = {};
#pragma GCC unroll 4
  for (int i = 0; i < kPerUnit<S>; ++i)
    units |= LoadWords(rows[i] + at) << static_cast<int>(8 * sizeof(S) * i);
  return units;
}

// Two or four rows of B become one row of units.
template <typename T, typename S>
void PackUnitsAcross(const GemmSource& source, int64_t x0, int64_t count, int64_t k0, int64_t depth,
                     int64_t width, T* to) {
  const S* from = static_cast<const S*>(source.data);
  const bool in_place = count == kUnitWidth && RunFrom(source.outer, x0) >= count;
  alignas(64) S copies[kPerUnit<S>][kUnitWidth] = {};
  for (int64_t p = 0; p < depth; p += kPerUnit<S>) {
    const S* rows[kPerUnit<S>];
    for (int64_t i = 0; i < kPerUnit<S>; ++i) {
      rows[i] = copies[i];
      if (p + i >= depth) {
        for (int64_t j = 0; j < kUnitWidth; ++j) copies[i][j] = 0;
        continue;
      }
      const S* row = from + OffsetAt(source.k, k0 + p + i);
      if (in_place) {
        rows[i] = row + OffsetAt(source.outer, x0);
        if (source.k.table == nullptr) __builtin_prefetch(rows[i] + kRowsAhead * source.k.stride);
      } else {
        Gather(row, source.outer, x0, count, copies[i]);
      }
    }
    uint32_t* units = reinterpret_cast<uint32_t*>(to + p / kPerUnit<S> * width);
    for (int64_t j = 0; j < kUnitWidth; j += kUnitLanes)
      Store(units + j, InterleavedUnits(rows, j));
  }
}

// Columns that lie along k: units are in place already, and are transposed as 32-bit words.
template <typename T, typename S>
void PackUnitsAlongK(const GemmSource& source, int64_t x0, int64_t count, int64_t k0, int64_t depth,
                     int64_t width, T* to) {
  constexpr int64_t kEdge = kUnitLanes, kRun = kEdge * kPerUnit<S>;
  const S* from = static_cast<const S*>(source.data);
  alignas(64) T tile[kEdge][kEdge] = {};
  alignas(64) T transposed[kEdge * kEdge];
  for (int64_t p = 0; p < depth; p += kRun) {
    const int64_t length = Least(kRun, depth - p);
    for (int64_t j = 0; j < width; j += kEdge) {
      for (int64_t i = 0; i < kEdge; ++i) {
        S* row = reinterpret_cast<S*>(tile[i]);
        const int64_t used = j + i < count ? length : 0;
        if (used > 0)
          Gather(from + OffsetAt(source.outer, x0 + j + i), source.k, k0 + p, used, row);
        for (int64_t q = used; q < kRun; ++q) row[q] = 0;
      }
      TransposeTile<T>(tile, transposed, kEdge);
      for (int64_t q = 0; q * kPerUnit<S> < length; ++q)
        Store(to + (p / kPerUnit<S> + q) * width + j, Load(transposed + q * kEdge));
    }
  }
}

template <typename T, typename S>
void PackUnitsB(const GemmSource& source, int64_t x0, int64_t count, int64_t k0, int64_t depth,
                int64_t width, T* to) {
  (LiesAlongK(source) ? PackUnitsAlongK<T, S> : PackUnitsAcross<T, S>)(source, x0, count, k0, depth,
                                                                       width, to);
}

}  // namespace
}  // namespace hlokit::HLOKIT_ISA
// SPDX-License-Identifier: Apache-2.0
