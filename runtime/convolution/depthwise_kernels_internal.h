// The inner loop of depthwise convolutions; the including file defines HLOKIT_ISA and
// HLOKIT_VECTOR_BYTES.
#pragma once

#include <type_traits>

#include "runtime/convolution/depthwise_internal.h"
#include "runtime/dot/finish_kernels_internal.h"
#include "runtime/element.h"
#include "runtime/vectors_internal.h"

namespace hlokit::HLOKIT_ISA {
namespace {

using Vector = VectorOf<float>::Type;
constexpr int64_t kLanes = VectorOf<float>::kLanes;

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
    Store(out + v * kLanes, sum[v]);
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

// Whether neighbouring places meet the same inputs: the taps of a row of the window are as far
// apart as the inputs of two places.
HLOKIT_INLINE bool SharesInputs(const DepthwiseTask& task) {
  for (int64_t t = 0; t + 1 < task.taps; ++t)
    if (t % 3 != 2 && task.lhs_taps[t + 1] - task.lhs_taps[t] != task.lhs_step) return false;
  return true;
}

// Sums of features from `c` on, finished where the task says how.
template <bool kFinishes, typename V>
HLOKIT_INLINE V AsAsked(const DepthwiseTask& task, V sum, const float* out, int64_t c) {
  if constexpr (!kFinishes) return sum;
  return Finished(*task.finish, sum, ResidualAt(*task.finish, out), c);
}

// kPlaces neighbouring results, whose rows of the window overlap: each input is loaded once.
template <int kTaps, int kPlaces, bool kFinishes>
HLOKIT_INLINE void SharedPlaces(const DepthwiseTask& task, const float* const* x, int64_t at,
                                const Vector* weights, float* out, int64_t c) {
  const int64_t step = task.lhs_step;
  Vector sum[kPlaces] = {};
#pragma GCC unroll 3
  for (int row = 0; row < kTaps; row += 3) {
    Vector input[kPlaces + 2];
#pragma GCC unroll 8
    for (int i = 0; i < kPlaces + 2; ++i) input[i] = Load(x[row] + at + i * step);
#pragma GCC unroll 3
    for (int tap = 0; tap < 3; ++tap) {
#pragma GCC unroll 8
      for (int p = 0; p < kPlaces; ++p) sum[p] += input[p + tap] * weights[row + tap];
    }
  }
#pragma GCC unroll 8
  for (int p = 0; p < kPlaces; ++p) {
    float* to = out + p * task.out_step;
    Store(to, AsAsked<kFinishes>(task, sum[p], to, c));
  }
}

// Features from `c` on, fewer than a vector holds, one by one.
template <bool kFinishes>
void LastFeatures(const DepthwiseTask& task, int64_t c) {
  for (; c < task.features; ++c) {
    for (int64_t line = 0; line < task.lines; ++line) {
      const float* lhs = task.lhs + line * task.lhs_line + c;
      float* out = task.out + line * task.out_line + c;
      for (int64_t p = 0; p < task.places; ++p) {
        float sum = 0;
        for (int64_t t = 0; t < task.taps; ++t)
          sum += lhs[p * task.lhs_step + task.lhs_taps[t]] * task.rhs[task.rhs_taps[t] + c];
        float* to = out + p * task.out_step;
        *to = AsAsked<kFinishes>(task, sum, to, c);
      }
    }
  }
}

// A vector of features at a time: its weights stay in registers over all places, and inputs that
// the lines share in the first-level cache.
template <int kTaps, bool kFinishes>
HLOKIT_INLINE void LinesOf(const DepthwiseTask& task) {
  constexpr int kTogether = 4;  // places
  const bool shares = SharesInputs(task);
  int64_t c = 0;
  for (; c + kLanes <= task.features; c += kLanes) {
    Vector weights[kTaps];
#pragma GCC unroll 9
    for (int t = 0; t < kTaps; ++t) weights[t] = Load(task.rhs + task.rhs_taps[t] + c);
    for (int64_t line = 0; line < task.lines; ++line) {
      const float* x[kTaps];
#pragma GCC unroll 9
      for (int t = 0; t < kTaps; ++t) x[t] = task.lhs + line * task.lhs_line + task.lhs_taps[t] + c;
      float* out = task.out + line * task.out_line + c;
      int64_t p = 0, at = 0;
      for (; shares && p + kTogether <= task.places; p += kTogether) {
        SharedPlaces<kTaps, kTogether, kFinishes>(task, x, at, weights, out, c);
        at += kTogether * task.lhs_step;
        out += kTogether * task.out_step;
      }
      for (; p < task.places; ++p, at += task.lhs_step, out += task.out_step) {
        Vector sum = {};
#pragma GCC unroll 9
        for (int t = 0; t < kTaps; ++t) sum += Load(x[t] + at) * weights[t];
        Store(out, AsAsked<kFinishes>(task, sum, out, c));
      }
    }
  }
  LastFeatures<kFinishes>(task, c);
}

// kPlaces neighbouring results of kVectors vectors of features at `lhs`, weights at `rhs`: sums are
// chains that do not wait for each other, and each weight is loaded once.
template <int kPlaces, int kVectors, bool kFinishes>
HLOKIT_INLINE void PlacesOf(const DepthwiseTask& task, const float* lhs, const float* rhs,
                            float* out, int64_t c) {
  Vector sum[kPlaces][kVectors] = {};
  for (int64_t t = 0; t < task.taps; ++t) {
    const float* x = lhs + task.lhs_taps[t];
    const float* w = rhs + task.rhs_taps[t];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const Vector weight = Load(w + v * kLanes);
#pragma GCC unroll 8
      for (int p = 0; p < kPlaces; ++p)
        sum[p][v] += Load(x + p * task.lhs_step + v * kLanes) * weight;
    }
  }
#pragma GCC unroll 8
  for (int p = 0; p < kPlaces; ++p) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      float* to = out + p * task.out_step + v * kLanes;
      Store(to, AsAsked<kFinishes>(task, sum[p][v], to, c + v * kLanes));
    }
  }
}

// Places [first, end) of all lines and vectors of features, kPlaces by kVectors.
template <int kPlaces, int kVectors, bool kFinishes>
void Places(const DepthwiseTask& task, int64_t first, int64_t end) {
  const auto all = [&](auto vectors, int64_t c) {
    for (int64_t line = 0; line < task.lines; ++line) {
      const float* lhs = task.lhs + line * task.lhs_line + c;
      float* out = task.out + line * task.out_line + c;
      for (int64_t p = first; p < end; p += kPlaces)
        PlacesOf<kPlaces, vectors(), kFinishes>(task, lhs + p * task.lhs_step, task.rhs + c,
                                                out + p * task.out_step, c);
    }
  };
  int64_t c = 0;
  for (; c + kVectors * kLanes <= task.features; c += kVectors * kLanes)
    all(std::integral_constant<int, kVectors>(), c);
  for (; c + kLanes <= task.features; c += kLanes) all(std::integral_constant<int, 1>(), c);
}

// A window of any size.
template <bool kFinishes>
void LinesOfAny(const DepthwiseTask& task) {
  const int64_t eights = task.places & ~int64_t{7}, fours = task.places & ~int64_t{3};
  const int64_t twos = task.places & ~int64_t{1};
  Places<8, 1, kFinishes>(task, 0, eights);
  Places<4, 2, kFinishes>(task, eights, fours);
  Places<2, 4, kFinishes>(task, fours, twos);
  Places<1, 4, kFinishes>(task, twos, task.places);
  LastFeatures<kFinishes>(task, task.features / kLanes * kLanes);
}

template <bool kFinishes>
void LinesAsAsked(const DepthwiseTask& task) {
  if (task.taps == 9) return LinesOf<9, kFinishes>(task);
  if (task.taps == 6) return LinesOf<6, kFinishes>(task);
  LinesOfAny<kFinishes>(task);
}

// Windows of 3 x 3, whole and with a row less at the edge, have code of their own.
void Lines(const DepthwiseTask& task) {
  return task.finish == nullptr ? LinesAsAsked<false>(task) : LinesAsAsked<true>(task);
}

}  // namespace

constexpr DepthwiseLinesKernel kDepthwiseLines = &Lines;
constexpr DepthwiseRow kDepthwiseRow = &Row;

}  // namespace hlokit::HLOKIT_ISA
// SPDX-License-Identifier: Apache-2.0
