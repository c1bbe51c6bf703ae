// The inner loop of depthwise convolutions; the including file defines HLOKIT_ISA.
#include "runtime/depthwise_internal.h"

namespace hlokit::HLOKIT_ISA {
namespace {

constexpr int64_t kBlock = 64;  // features summed in registers at once

void Row(const float* lhs, const float* rhs, const int64_t* lhs_taps, const int64_t* rhs_taps, int64_t taps,
         int64_t features, float* out) {
  int64_t c = 0;
  for (; c + kBlock <= features; c += kBlock) {
    float sum[kBlock] = {};
    for (int64_t t = 0; t < taps; ++t) {
      const float* x = lhs + lhs_taps[t] + c;
      const float* w = rhs + rhs_taps[t] + c;
      for (int64_t i = 0; i < kBlock; ++i) sum[i] += x[i] * w[i];
    }
    for (int64_t i = 0; i < kBlock; ++i) out[c + i] = sum[i];
  }
  if (c == features) return;
  for (int64_t i = c; i < features; ++i) out[i] = 0;
  for (int64_t t = 0; t < taps; ++t) {
    for (int64_t i = c; i < features; ++i) out[i] += lhs[lhs_taps[t] + i] * rhs[rhs_taps[t] + i];
  }
}

}  // namespace

constexpr DepthwiseRow kDepthwiseRow = &Row;

}  // namespace hlokit::HLOKIT_ISA
// SPDX-License-Identifier: Apache-2.0
