// Dots of the groups of one dimension whose sizes are known at run time only.
#pragma once

#include <stdint.h>

#include "runtime/dot/dot.h"

#ifdef __cplusplus
extern "C" {
#endif

// All int64_t; `dot` ends after its last dimension.
typedef struct HlokitRaggedDotDesc {
  int64_t ragged;                // which of dot.dims is cut into groups
  int64_t groups;                // how many
  int64_t size_type;             // of the groups' sizes: HLOKIT_S32, S64, U32 or U64
  int64_t size_ranks;            // so many of the batch dimensions in front have sizes of their own
  int64_t rhs_group, out_group;  // elements from one group's array to the next (0: there is one)
  int64_t out_bytes;             // of the whole result
  HlokitDotDesc dot;             // of all groups
} HlokitRaggedDotDesc;

// Cuts dimension `ragged` into consecutive groups of sizes[batch..., group] elements each, less
// where it ends before, and computes the dot of each (hlokit_dot) with the group's own array of
// `rhs` or into its own of `out`, where those have a group dimension. The rest of `out` is zero.
// Errors as hlokit_dot.
void hlokit_ragged_dot(void* ctx, const HlokitRaggedDotDesc* desc, const void* lhs, const void* rhs,
                       const void* sizes, void* out);

#ifdef __cplusplus
}  // extern "C"
#endif
// SPDX-License-Identifier: Apache-2.0
