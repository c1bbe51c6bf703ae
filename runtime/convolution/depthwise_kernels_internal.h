// The inner loop of depthwise convolutions; the including file defines HLOKIT_ISA and
// HLOKIT_VECTOR_BYTES.
#pragma once

#include "runtime/convolution/depthwise_internal.h"
#include "runtime/element.h"

namespace hlokit::HLOKIT_ISA {
namespace {

typedef float Vector __attribute__((vector_size(HLOKIT_VECTOR_BYTES)));
typedef float Unaligned __attribute__((vector_size(HLOKIT_VECTOR_BYTES), aligned(4), may_alias));
constexpr int64_t kLanes = HLOKIT_VECTOR_BYTES / sizeof(float);

HLOKIT_INLINE Vector Load(const float* from) { return *reinterpret_cast<const Unaligned*>(from); }

// Sums kVectors vectors of features in registers over all places of the window.
template <int kVectors>
HLOKIT_INLINE void Block(const float* lhs, const float* rhs, const int64_t* lhs_taps,
                         const int64_t* rhs_taps, int64_t taps, bool accumulate, float* out) {
  Vector sum[kVectors] = {};
  for (int64_t t = 0; t < taps; ++t) {
    const float* x = lhs + lhs_taps[t];
    const float* w = rhs + rhs_taps[t];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) sum[v] += Load(x + v * kLanes) * Load(w + v * kLanes);
  }
  for (int v = 0; v < kVectors; ++v) {
    if (accumulate) sum[v] += Load(out + v * kLanes);
    *reinterpret_cast<Unaligned*>(out + v * kLanes) = sum[v];
  }
}

void Row(const float* lhs, const float* rhs, const int64_t* lhs_taps, const int64_t* rhs_taps,
         int64_t taps, int64_t features, bool accumulate, float* out) {
  int64_t c = 0;
  for (; c + 4 * kLanes <= features; c += 4 * kLanes)
    Block<4>(lhs + c, rhs + c, lhs_taps, rhs_taps, taps, accumulate, out + c);
  for (; c + kLanes <= features; c += kLanes)
    Block<1>(lhs + c, rhs + c, lhs_taps, rhs_taps, taps, accumulate, out + c);
  for (; c < features; ++c) {
    float sum = 0;
    for (int64_t t = 0; t < taps; ++t) sum += lhs[lhs_taps[t] + c] * rhs[rhs_taps[t] + c];
    out[c] = accumulate ? out[c] + sum : sum;
  }
}

}  // namespace

constexpr DepthwiseRow kDepthwiseRow = &Row;

}  // namespace hlokit::HLOKIT_ISA
// SPDX-License-Identifier: Apache-2.0
