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

// A vector of features at a time: its weights stay in registers over all places.
template <int kTaps>
HLOKIT_INLINE void LineOf(const DepthwiseTask& task) {
  int64_t c = 0;
  for (; c + kLanes <= task.features; c += kLanes) {
    Vector weights[kTaps];
    const float* x[kTaps];
#pragma GCC unroll 9
    for (int t = 0; t < kTaps; ++t) {
      weights[t] = Load(task.rhs + task.rhs_taps[t] + c);
      x[t] = task.lhs + task.lhs_taps[t] + c;
    }
    float* out = task.out + c;
    for (int64_t p = 0, at = 0; p < task.places; ++p, at += task.lhs_step, out += task.out_step) {
      Vector sum = {};
#pragma GCC unroll 9
      for (int t = 0; t < kTaps; ++t) sum += Load(x[t] + at) * weights[t];
      *reinterpret_cast<Unaligned*>(out) = sum;
    }
  }
  for (; c < task.features; ++c) {
    for (int64_t p = 0; p < task.places; ++p) {
      float sum = 0;
      for (int t = 0; t < kTaps; ++t)
        sum += task.lhs[p * task.lhs_step + task.lhs_taps[t] + c] * task.rhs[task.rhs_taps[t] + c];
      task.out[p * task.out_step + c] = sum;
    }
  }
}

// Windows of 3 x 3, whole and with a row less at the edge; others place by place.
void Line(const DepthwiseTask& task) {
  if (task.taps == 9) return LineOf<9>(task);
  if (task.taps == 6) return LineOf<6>(task);
  for (int64_t p = 0; p < task.places; ++p)
    Row(task.lhs + p * task.lhs_step, task.rhs, task.lhs_taps, task.rhs_taps, task.taps,
        task.features, false, task.out + p * task.out_step);
}

}  // namespace

constexpr DepthwiseLine kDepthwiseLine = &Line;
constexpr DepthwiseRow kDepthwiseRow = &Row;

}  // namespace hlokit::HLOKIT_ISA
// SPDX-License-Identifier: Apache-2.0
