// What attention does with single rows, by instruction set.
#pragma once

#include <stdint.h>

namespace hlokit {

struct SoftmaxRow {
  float* x;             // scores; e to the (scaled, masked score less the largest) afterwards
  int64_t count;        // at least 1; x has room for whole vectors, and what follows becomes 0
  float scale, masked;  // as HlokitAttentionDesc has them
  const uint8_t* mask;  // count bytes; null: none is left out
};
struct SoftmaxSums {
  float largest;  // scaled and masked score; some other value where one is NaN
  float sum;      // of the exponentials; NaN where a score is NaN
};

struct AttentionKernels {
  SoftmaxSums (*softmax)(const SoftmaxRow& row);
  // Whether none of the numbers is infinite or NaN.
  bool (*all_finite)(const float* x, int64_t count);
  // The first and one past the last byte that is not 0, both `count` where there is none.
  int64_t (*first_seen)(const uint8_t* mask, int64_t count);
  int64_t (*end_seen)(const uint8_t* mask, int64_t count);
  // to[i] = from[i] / divisor
  void (*divide)(const float* from, int64_t count, float divisor, float* to);
};

namespace isa_base {
extern const AttentionKernels kAttention;
}
namespace isa_avx2 {
extern const AttentionKernels kAttention;
}
namespace isa_avx512 {
extern const AttentionKernels kAttention;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
