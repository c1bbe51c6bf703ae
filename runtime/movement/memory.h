// Moving bytes: strided copies (transposes, slices, pads) and fills.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// One dimension of a copy: its size and the distance, in elements, between neighbours in source and
// destination.
typedef struct HlokitCopyDim {
  int64_t size, from, to;
} HlokitCopyDim;

enum { HLOKIT_MAX_COPY_DIMS = 32 };

typedef struct HlokitCopyDesc {
  int64_t element_bytes;  // 1, 2, 4, 8 or 16
  int64_t rank;
  HlokitCopyDim dims[HLOKIT_MAX_COPY_DIMS];  // in any order; may end after the last one used
} HlokitCopyDesc;

// to[sum of index * to-stride] = from[sum of index * from-stride] for every index; the two must not
// overlap. A stride of 0 in `from` repeats (a broadcast). Errors: an element size or rank out of
// range.
void hlokit_copy_strided(void* ctx, const HlokitCopyDesc* desc, const void* from, void* to);

// Copies or clears `bytes` bytes, in parallel where that pays.
void hlokit_copy(void* ctx, const void* from, void* to, int64_t bytes);
void hlokit_fill_zero(void* ctx, void* to, int64_t bytes);
// As hlokit_copy, for what this program does not read again: by non-temporal stores.
void hlokit_copy_out(void* ctx, const void* from, void* to, int64_t bytes);

#ifdef __cplusplus
}  // extern "C"
#endif
// SPDX-License-Identifier: Apache-2.0
