// Batched dot products of any layout.
#pragma once

#include <stdint.h>

#include "runtime/element.h"

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

// out[b, r, c] = sum over s of lhs[b, r, s] * rhs[b, s, c]; any strides, any sizes (an empty sum is
// 0). Sums are kept in f32 for f16, bf16 and f32 (true f32: no shortened factors), in f64, in
// integers modulo their width, in complex of those, and rounded once to out_type. Floats may mix
// (the widest decides), integers may mix, and a complex dot needs one type throughout. Results do
// not depend on the number of threads. Errors (in the context): a mix of types without kernel, too
// many dimensions, memory short.
void hlokit_dot(void* ctx, const HlokitDotDesc* desc, const void* lhs, const void* rhs, void* out);

#ifdef __cplusplus
}  // extern "C"
#endif
// SPDX-License-Identifier: Apache-2.0
