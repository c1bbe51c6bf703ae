// softmax(scale * Q K^T, masked) V for a batch of heads, without an array of the scores.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { HLOKIT_MAX_ATTENTION_BATCH = 6 };

// One batch dimension: its size and the distance, in elements, between neighbours in each array.
typedef struct HlokitAttentionDim {
  int64_t size, queries, keys, values, mask, out;
} HlokitAttentionDim;

// All int64_t, so that a compiler can write it as a constant array of i64; `batch` may end after
// the last one used. Strides are in elements.
typedef struct HlokitAttentionDesc {
  int64_t rows, keys, depth, value_depth;
  int64_t query_row, query_depth, key_row, key_depth, value_row, value_col, mask_row, mask_key;
  int64_t out_row, out_col;
  int64_t scale_bits, masked_bits;  // of two f32: scores are multiplied by the first; the second
                                    // stands for those that the mask leaves out
  int64_t batch_rank;
  HlokitAttentionDim batch[HLOKIT_MAX_ATTENTION_BATCH];
} HlokitAttentionDesc;

// out[b, i, :] = sum over j of p[j] * values[b, j, :], where p = softmax over j of s[j], and
// s[j] = scale * (queries[b, i, :] . keys[b, j, :]) where mask[b, i, j] is not 0, else `masked`.
// f32; `mask` of bytes, null: none is left out. Keys that no row of a block of rows sees are not
// computed, where that gives what computing them would. Results do not depend on the number of
// threads. Error (in the context): memory short.
void hlokit_attention(void* ctx, const HlokitAttentionDesc* desc, const float* queries,
                      const float* keys, const float* values, const uint8_t* mask, float* out);

#ifdef __cplusplus
}  // extern "C"
#endif
// SPDX-License-Identifier: Apache-2.0
