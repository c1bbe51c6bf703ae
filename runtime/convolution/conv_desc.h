// What a convolution is: its dimensions in memory, as compiled code describes it.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// One spatial dimension; sizes and strides in elements.
typedef struct HlokitConvDim {
  int64_t lhs_size, rhs_size, out_size;        // of input, window and output
  int64_t lhs_stride, rhs_stride, out_stride;  // in memory
  int64_t window_stride,
      pad_low;  // pad_low may be negative (the high padding follows from out_size)
  int64_t lhs_dilation, rhs_dilation;  // 1: none
  int64_t reversed;                    // 1: the window runs backwards
} HlokitConvDim;

enum { HLOKIT_MAX_CONV_DIMS = 16 };

// All int64_t, so that a compiler can write it as a constant array of i64; dims may end after the
// last one used.
typedef struct HlokitConvDesc {
  int64_t lhs_type, rhs_type, out_type;      // as hlokit_dot takes them
  int64_t batch, in_features, out_features;  // of lhs, lhs and out
  int64_t feature_groups, batch_groups;      // at least one of them is 1
  int64_t lhs_batch_stride, lhs_feature_stride;
  int64_t rhs_in_stride, rhs_out_stride;  // rhs has in_features / feature_groups by out_features
  int64_t out_batch_stride, out_feature_stride;
  int64_t spatial_rank;
  HlokitConvDim dims[HLOKIT_MAX_CONV_DIMS];
} HlokitConvDesc;

#ifdef __cplusplus
}  // extern "C"
#endif
// SPDX-License-Identifier: Apache-2.0
