// What the tests of communicators share.
#pragma once

#include "runtime/collective/collective.h"

namespace hlokit {

// Adds f32, in f32.
inline void Add(int64_t step, void* accumulators, void* array, int64_t n) {
  auto* const sums = static_cast<float*>(accumulators);
  auto* const values = static_cast<float*>(array);
  for (int64_t i = 0; i < n; ++i) {
    if (step == HLOKIT_REDUCER_FIRST) sums[i] = values[i];
    if (step == HLOKIT_REDUCER_NEXT) sums[i] += values[i];
    if (step == HLOKIT_REDUCER_LAST) values[i] = sums[i];
  }
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
