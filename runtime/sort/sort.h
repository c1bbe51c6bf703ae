// Sorting along one dimension, and the k largest elements.
#pragma once

#include <stdint.h>

#include "runtime/element.h"

#ifdef __cplusplus
extern "C" {
#endif

enum HlokitOrder {
  HLOKIT_ORDER_NUMERIC = 0,  // floats: -0 equals +0, all NaN are equal and follow +infinity
  HLOKIT_ORDER_TOTAL =
      1,  // floats: IEEE total order, -NaN < -inf < ... < -0 < +0 < ... < +inf < +NaN
};

// Arrays are dense and read as [outer][length][inner]; each of the outer * inner rows is sorted
// along `length`.
typedef struct HlokitSortDesc {
  int64_t key_type;    // real types only
  int64_t order;       // HlokitOrder; integers have one order
  int64_t descending;  // 1: the reverse order (NaN first); equal keys still keep their order
  int64_t outer, length, inner;
} HlokitSortDesc;

// Sorts one array. Stable: equal keys with different bits (zeros, NaN) keep their order. `from` may
// be `to`. Errors (here and below): a type without order, memory short.
void hlokit_sort_keys(void* ctx, const HlokitSortDesc* desc, const void* from, void* to);

// Sorts `count` arrays of one shape by the first, stably; element_bytes[i] is 1, 2, 4, 8 or 16.
// from[i] may be to[i].
void hlokit_sort_by_key(void* ctx, const HlokitSortDesc* desc, int64_t count,
                        const int64_t* element_bytes, const void* const* from, void* const* to);

// Nonzero if element a of a row comes before element b; columns[i] is the row of array i, dense.
typedef int32_t (*HlokitLess)(void* env, const void* const* columns, int64_t a, int64_t b);

// As hlokit_sort_by_key, by any comparison (key_type, order and descending are ignored). An
// inconsistent comparison gives some permutation. `less` is called from several threads.
void hlokit_sort_generic(void* ctx, const HlokitSortDesc* desc, int64_t count,
                         const int64_t* element_bytes, const void* const* from, void* const* to,
                         HlokitLess less, void* env);

typedef struct HlokitTopKDesc {
  int64_t type;
  int64_t rows, length, k;  // dense [rows][length]; k <= length
  int64_t smallest;         // 1: the k smallest, ascending
} HlokitTopKDesc;

// values[rows][k] and indices[rows][k] (s32): the largest of each row, in HLOKIT_ORDER_TOTAL,
// largest first, the lower index first among equals. Source: XLA's TopK custom call.
void hlokit_topk(void* ctx, const HlokitTopKDesc* desc, const void* from, void* values,
                 int32_t* indices);

#ifdef __cplusplus
}  // extern "C"
#endif
// SPDX-License-Identifier: Apache-2.0
