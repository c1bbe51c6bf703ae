// What a dot is: its dimensions in memory, as compiled code describes it.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// One dimension of a dot: its size and the distance, in elements, between neighbours in each array
// (0: not in it).
typedef struct HlokitDotDim {
  int64_t size, lhs, rhs, out;
} HlokitDotDim;

enum { HLOKIT_MAX_DOT_DIMS = 64 };

// All int64_t, so that a compiler can write it as a constant array of i64; dims may end after the
// last one used.
typedef struct HlokitDotDesc {
  int64_t lhs_type, rhs_type, out_type;  // HlokitType
  int64_t batch_rank, row_rank, col_rank, sum_rank;
  HlokitDotDim
      dims[HLOKIT_MAX_DOT_DIMS];  // first the batch dimensions, then rows (lhs and out), columns
                                  // (rhs and out), sums (lhs and rhs), each group in any order
} HlokitDotDesc;

#ifdef __cplusplus
}  // extern "C"
#endif
// SPDX-License-Identifier: Apache-2.0
