// Exponentials of one row, compiled once per instruction set: the including file defines HLOKIT_ISA
// and HLOKIT_VECTOR_BYTES. No standard C++ headers here, as in dot/gemm_kernels_internal.h.
//
// Two passes over a row that lies in the cache: the first scales, masks and finds the largest, the
// second computes exponentials and their sum, lane by lane, in two accumulators. About 20
// instructions for a vector.
#pragma once

#include "runtime/attention/softmax_rows.h"
#include "runtime/vectors_internal.h"

namespace hlokit::HLOKIT_ISA {

using Floats = VectorOf<float>::Type;
typedef int32_t Ints __attribute__((vector_size(HLOKIT_VECTOR_BYTES)));
constexpr int64_t kFloats = VectorOf<float>::kLanes;

HLOKIT_INLINE Floats Select(Ints mask, Floats yes, Floats no) {
  return reinterpret_cast<Floats>((mask & reinterpret_cast<Ints>(yes)) |
                                  (~mask & reinterpret_cast<Ints>(no)));
}

// e to the x for x <= 0: 2^n * e^r with n an integer and |r| <= ln(2) / 2, by the first eight terms
// of the series (what is left out is below 6e-9). 0 where the result would be subnormal; NaN for
// NaN.
HLOKIT_INLINE Floats Exponential(Floats x) {
  constexpr float kLeast = -87.3f, kLog2E = 1.44269504f;
  constexpr float kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;  // the sum is ln(2)
  constexpr float kRounder = 12582912.f;  // 1.5 * 2^23: adding it leaves an integer
  const Ints tiny = x < kLeast;
  const Floats bounded = Select(tiny, Floats{} + kLeast, x);
  const Floats n = (bounded * kLog2E + kRounder) - kRounder;
  const Floats r = (bounded - n * kLn2High) - n * kLn2Low;
  Floats series = r * (1.f / 5040) + 1.f / 720;
  series = series * r + 1.f / 120;
  series = series * r + 1.f / 24;
  series = series * r + 1.f / 6;
  series = series * r + 0.5f;
  series = series * r + 1.f;
  series = series * r + 1.f;
  const Ints power = (__builtin_convertvector(n, Ints) + 127) << 23;
  return Select(tiny, Floats{}, series * reinterpret_cast<Floats>(power));
}

// Lanes whose bytes are not 0.
HLOKIT_INLINE Ints Seen(const uint8_t* mask) {
  typedef uint8_t Bytes
      __attribute__((vector_size(HLOKIT_VECTOR_BYTES / 4), aligned(1), may_alias));
  return __builtin_convertvector(*reinterpret_cast<const Bytes*>(mask), Ints) != 0;
}

// The last vector of a row: what is beyond its end is seen by nothing, and -inf.
HLOKIT_INLINE Floats LastScores(const SoftmaxRow& row, int64_t from) {
  float scores[kFloats];
  for (int64_t i = 0; i < kFloats; ++i) {
    const bool inside = from + i < row.count;
    const bool seen = inside && (row.mask == nullptr || row.mask[from + i] != 0);
    scores[i] = seen ? row.x[from + i] * row.scale : inside ? row.masked : -__builtin_inff();
  }
  return Load(scores);
}

inline __attribute__((always_inline)) Floats Larger(Floats a, Floats b) {
  return Select(a > b, a, b);
}

static SoftmaxSums FillSoftmaxRow(const SoftmaxRow& row) {
  const int64_t whole = row.count / kFloats * kFloats;
  Floats largest = Floats{} - __builtin_inff();
  for (int64_t i = 0; i < whole; i += kFloats) {
    Floats score = Load(row.x + i) * row.scale;
    if (row.mask != nullptr) score = Select(Seen(row.mask + i), score, Floats{} + row.masked);
    Store(row.x + i, score);
    largest = Larger(score, largest);
  }
  if (whole < row.count) {
    const Floats score = LastScores(row, whole);
    Store(row.x + whole, score);
    largest = Larger(score, largest);
  }
  float most = largest[0];
  for (int64_t i = 1; i < kFloats; ++i) most = largest[i] > most ? largest[i] : most;
  Floats sums[2] = {};
  int64_t i = 0;
  for (; i + kFloats < row.count; i += 2 * kFloats) {
    const Floats a = Exponential(Load(row.x + i) - most);
    const Floats b = Exponential(Load(row.x + i + kFloats) - most);
    Store(row.x + i, a);
    Store(row.x + i + kFloats, b);
    sums[0] += a;
    sums[1] += b;
  }
  if (i < row.count) {
    const Floats a = Exponential(Load(row.x + i) - most);
    Store(row.x + i, a);
    sums[0] += a;
  }
  sums[0] += sums[1];
  float sum = 0;
  for (int64_t l = 0; l < kFloats; ++l) sum += sums[0][l];
  return {most, sum};
}

static bool AllFinite(const float* x, int64_t count) {
  constexpr int32_t kExponent = 0x7f800000;  // all of these bits: infinite or NaN
  int32_t found = 0;
  for (int64_t i = 0; i < count; ++i) {
    const int32_t bits = __builtin_bit_cast(int32_t, x[i]);
    found |= (bits & kExponent) == kExponent ? 1 : 0;
  }
  return found == 0;
}

// 64 bytes at a time, then one by one.
constexpr int64_t kMaskBlock = 64;
HLOKIT_INLINE bool BlockIsZero(const uint8_t* mask) {
  uint64_t any = 0;
  for (int64_t i = 0; i < kMaskBlock; i += 8) {
    uint64_t word;
    __builtin_memcpy(&word, mask + i, sizeof word);
    any |= word;
  }
  return any == 0;
}

static int64_t FirstSeen(const uint8_t* mask, int64_t count) {
  int64_t i = 0;
  while (i + kMaskBlock <= count && BlockIsZero(mask + i)) i += kMaskBlock;
  while (i < count && mask[i] == 0) ++i;
  return i;
}

static int64_t EndSeen(const uint8_t* mask, int64_t count) {
  int64_t i = count;
  while (i >= kMaskBlock && BlockIsZero(mask + i - kMaskBlock)) i -= kMaskBlock;
  while (i > 0 && mask[i - 1] == 0) --i;
  return i > 0 ? i : count;
}

static void DivideRow(const float* from, int64_t count, float divisor, float* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = from[i] / divisor;
}

}  // namespace hlokit::HLOKIT_ISA
// SPDX-License-Identifier: Apache-2.0
