// Batched dot products of any layout.
#pragma once

#include "runtime/dot/dot_desc.h"
#include "runtime/dot/finish_desc.h"
#include "runtime/element.h"

#ifdef __cplusplus
extern "C" {
#endif

// out[b, r, c] = sum over s of lhs[b, r, s] * rhs[b, s, c]; any strides, any sizes (an empty sum is
// 0). Sums are kept in f32 for f16, bf16 and f32 (true f32: no shortened factors), in f64, in
// integers modulo their width, in complex of those, and rounded once to out_type. Floats may mix
// (the widest decides), integers may mix, and a complex dot needs one type throughout. Results do
// not depend on the number of threads. Errors (in the context): a mix of types without kernel, too
// many dimensions, memory short.
void hlokit_dot(void* ctx, const HlokitDotDesc* desc, const void* lhs, const void* rhs, void* out);

// hlokit_dot of f32, whose columns are those of `finish`, and then that. bias, residual: may be
// null; neither lies in `out`.
void hlokit_finished_dot(void* ctx, const HlokitDotDesc* desc, const HlokitFinishDesc* finish,
                         const void* lhs, const void* rhs, const void* bias, const void* residual,
                         void* out);

// hlokit_dot of f32, then `function` for all parts of the result, whose rows and columns are those
// of `finish`. arrays: what `function` gets; none of them but the first lies in `out`.
void hlokit_dot_then(void* ctx, const HlokitDotDesc* desc, const HlokitFinishDesc* finish,
                     const void* lhs, const void* rhs, HlokitFinishFunction function,
                     void* const* arrays, void* out);

#ifdef __cplusplus
}  // extern "C"
#endif
// SPDX-License-Identifier: Apache-2.0
