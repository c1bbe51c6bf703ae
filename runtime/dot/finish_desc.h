// What is done to each result of a product after its sum, as compiled code describes it.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// result = min(max(sum + bias[column] + residual, low), high), in f32. Columns lie side by side in
// memory, and rows one after the other. All int64_t, so that a compiler can write it as a constant
// array of i64.
typedef struct HlokitFinishDesc {
  int64_t rows, cols;
  int64_t low, high;  // the bits of two f32, neither of them -0 or NaN, `high` not 0 either
} HlokitFinishDesc;

// What else may be done to rows [row, row + rows) of columns [col, col + cols) of the result, by
// compiled code; arrays: the result, then what that code reads.
typedef void (*HlokitFinishFunction)(void* const* arrays, int64_t row, int64_t rows, int64_t col,
                                     int64_t cols);

#ifdef __cplusplus
}  // extern "C"
#endif
// SPDX-License-Identifier: Apache-2.0
