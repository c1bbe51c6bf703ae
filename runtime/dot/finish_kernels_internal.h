// What is done to vectors of results of a product; the including file defines HLOKIT_ISA and
// HLOKIT_VECTOR_BYTES.
#pragma once

#include "runtime/dot/finish_internal.h"
#include "runtime/vectors_internal.h"

namespace hlokit::HLOKIT_ISA {
namespace {

using Floats = VectorOf<float>::Type;

// x <= low ? low : x and then x >= high ? high : x. The processor's maximum of (low, x) is x where
// either is NaN or both are zeros; of these zeros `zero` makes the limit's: it is 0 where low is,
// else -0, which changes nothing.
struct Limits {
  Floats low, high, zero;
  explicit Limits(const Finish& finish)
      : low(Broadcast(finish.low)),
        high(Broadcast(finish.high)),
        zero(Broadcast(finish.low == 0 ? 0.0f : -0.0f)) {}
  inline __attribute__((always_inline)) Floats Of(Floats x) const {
#if HLOKIT_VECTOR_BYTES == 64
    return _mm512_min_ps(high, _mm512_max_ps(low, x) + zero);
#elif HLOKIT_VECTOR_BYTES == 32
    return _mm256_min_ps(high, _mm256_max_ps(low, x) + zero);
#else
    x = x <= low ? low : x;
    return x >= high ? high : x;
#endif
  }
};

// Columns from `col` on at `to`; `residual`: what is added to them, or null.
HLOKIT_INLINE Floats Finished(const Finish& finish, Floats x, const float* residual, int64_t col) {
  if (finish.bias != nullptr) x += Load(finish.bias + col);
  if (residual != nullptr) x += Load(residual);
  return Limits(finish).Of(x);
}

HLOKIT_INLINE float Finished(const Finish& finish, float x, const float* residual, int64_t col) {
  if (finish.bias != nullptr) x += finish.bias[col];
  if (residual != nullptr) x += *residual;
  x = x <= finish.low ? finish.low : x;
  return x >= finish.high ? finish.high : x;
}

// Columns [j, j + kVectors vectors) of rows: bias and limits stay in registers.
template <int kVectors, bool kResidual>
HLOKIT_INLINE void FinishColumns(const Finish& finish, float* to, int64_t ld, int64_t rows,
                                 const float* bias) {
  constexpr int64_t kLanes = VectorOf<float>::kLanes;
  const Limits limits(finish);
  Floats add[kVectors];
  for (int v = 0; v < kVectors; ++v)  // -0 changes nothing
    add[v] = bias == nullptr ? Broadcast(-0.0f) : Load(bias + v * kLanes);
  for (int64_t r = 0; r < rows; ++r, to += ld) {
    const float* residual = kResidual ? ResidualAt(finish, to) : nullptr;
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      Floats x = Load(to + v * kLanes) + add[v];
      if constexpr (kResidual) x += Load(residual + v * kLanes);
      Store(to + v * kLanes, limits.Of(x));
    }
  }
}

template <bool kResidual>
HLOKIT_INLINE void FinishRowsOf(const Finish& finish, float* to, int64_t ld, int64_t rows,
                                int64_t cols, int64_t col) {
  constexpr int64_t kLanes = VectorOf<float>::kLanes;
  const float* bias = finish.bias == nullptr ? nullptr : finish.bias + col;
  const auto bias_at = [&](int64_t j) { return bias == nullptr ? nullptr : bias + j; };
  int64_t j = 0;
  for (; j + 2 * kLanes <= cols; j += 2 * kLanes)
    FinishColumns<2, kResidual>(finish, to + j, ld, rows, bias_at(j));
  for (; j + kLanes <= cols; j += kLanes)
    FinishColumns<1, kResidual>(finish, to + j, ld, rows, bias_at(j));
  for (; j < cols; ++j) {
    for (int64_t r = 0; r < rows; ++r) {
      float* x = to + r * ld + j;
      *x = Finished(finish, *x, ResidualAt(finish, x), col + j);
    }
  }
}

// Rows `ld` elements apart, from column `col` of the result on.
[[maybe_unused]] void FinishRows(const Finish& finish, float* to, int64_t ld, int64_t rows,
                                 int64_t cols, int64_t col) {
  if (finish.residual == 0) return FinishRowsOf<false>(finish, to, ld, rows, cols, col);
  FinishRowsOf<true>(finish, to, ld, rows, cols, col);
}

}  // namespace
}  // namespace hlokit::HLOKIT_ISA
// SPDX-License-Identifier: Apache-2.0
