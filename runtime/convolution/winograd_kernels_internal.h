// The transformations of Winograd's F(2 x 2, 3 x 3), a vector of features at a time; the including
// file defines HLOKIT_ISA and HLOKIT_VECTOR_BYTES. Each is a small matrix applied to the columns
// of a square of values and then to its rows: 32 additions for a patch, 24 for a result.
#pragma once

#include "runtime/convolution/winograd_internal.h"
#include "runtime/dot/finish_kernels_internal.h"
#include "runtime/element.h"
#include "runtime/vectors_internal.h"

namespace hlokit::HLOKIT_ISA {
namespace {

using Floats = VectorOf<float>::Type;
constexpr int64_t kFloats = VectorOf<float>::kLanes;

// Four places in a row of a patch: d0 - d2, d1 + d2, d2 - d1, d1 - d3.
HLOKIT_INLINE void TransformFour(Floats* d, int step) {
  const Floats a = d[0], b = d[step], c = d[2 * step], e = d[3 * step];
  d[0] = a - c;
  d[step] = b + c;
  d[2 * step] = c - b;
  d[3 * step] = b - e;
}

void TransformPatch(const float* const* places, int64_t features, int64_t step, float* to) {
  for (int64_t f = 0; f < features; f += kFloats) {
    Floats d[16];
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) d[i] = Load(places[i] + f);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) TransformFour(d + i, 4);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) TransformFour(d + 4 * i, 1);
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) Store(to + i * step + f, d[i]);
  }
}

// Three weights in a row: g0, (g0 + g1 + g2) / 2, (g0 - g1 + g2) / 2, g2.
HLOKIT_INLINE void TransformThree(const Floats* g, int step, Floats* to, int to_step) {
  const Floats outer = (g[0] + g[2 * step]) * 0.5f, inner = g[step] * 0.5f;
  to[0] = g[0];
  to[to_step] = outer + inner;
  to[2 * to_step] = outer - inner;
  to[3 * to_step] = g[2 * step];
}

HLOKIT_INLINE Floats LoadStrided(const float* from, int64_t stride) {
  if (stride == 1) return Load(from);
  alignas(HLOKIT_VECTOR_BYTES) float lanes[kFloats];
  for (int64_t i = 0; i < kFloats; ++i) lanes[i] = from[i * stride];
  return Load(lanes);
}

void TransformWindow(const float* from, const int64_t* taps, int64_t stride, int64_t count,
                     int64_t step, float* to) {
  for (int64_t f = 0; f < count; f += kFloats) {
    Floats g[9], half[12], whole[16];
#pragma GCC unroll 9
    for (int i = 0; i < 9; ++i) g[i] = LoadStrided(from + taps[i] + f * stride, stride);
#pragma GCC unroll 3
    for (int i = 0; i < 3; ++i) TransformThree(g + i, 3, half + i, 3);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) TransformThree(half + 3 * i, 1, whole + 4 * i, 1);
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) Store(to + i * step + f, whole[i]);
  }
}

// Two results of four products: m0 + m1 + m2, m1 - m2 - m3.
HLOKIT_INLINE void TransformProducts(const Floats* m, int step, Floats* to, int to_step) {
  to[0] = m[0] + m[step] + m[2 * step];
  to[to_step] = m[step] - m[2 * step] - m[3 * step];
}

bool TransformResult(const float* products, int64_t features, int64_t step, float* const* out,
                     const Finish* finish, const float* const* residuals) {
  Floats zeros = {};  // stays zero while all is finite
  for (int64_t f = 0; f < features; f += kFloats) {
    Floats m[16], half[8], whole[4];
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) m[i] = Load(products + i * step + f);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) TransformProducts(m + i, 4, half + i, 4);
#pragma GCC unroll 2
    for (int i = 0; i < 2; ++i) TransformProducts(half + 4 * i, 1, whole + 2 * i, 1);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      zeros += whole[i] * 0.0f;
      if (finish != nullptr)
        whole[i] =
            Finished(*finish, whole[i], residuals[i] == nullptr ? nullptr : residuals[i] + f, f);
      Store(out[i] + f, whole[i]);
    }
  }
  bool finite = true;
  for (int64_t i = 0; i < kFloats; ++i) finite &= zeros[i] == 0;
  return finite;
}

void Magnitude(const float* from, int64_t count, float* largest, float* sum) {
  Floats most = {}, total = {};
  for (int64_t i = 0; i < count; i += kFloats) {
    const Floats x = Load(from + i), magnitude = x < 0 ? -x : x;
    most = magnitude > most ? magnitude : most;
    total += magnitude;
  }
  for (int64_t i = 0; i < kFloats; ++i) {
    *largest = most[i] > *largest ? most[i] : *largest;
    *sum += total[i];
  }
}

}  // namespace

extern const WinogradKernels kWinograd = {TransformPatch, TransformWindow, TransformResult,
                                          Magnitude};

}  // namespace hlokit::HLOKIT_ISA
// SPDX-License-Identifier: Apache-2.0
