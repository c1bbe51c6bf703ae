// Convolutions of any layout.
#pragma once

#include "runtime/convolution/conv_desc.h"
#include "runtime/dot/finish_desc.h"
#include "runtime/element.h"

#ifdef __cplusplus
extern "C" {
#endif

// out[b, o, y] = sum over features i of o's group and window places t of lhs[b, i, y *
// window_stride + t * rhs_dilation
// - pad_low] * rhs[i, o, t], where lhs has lhs_dilation - 1 zeros between neighbours and zeros
// around. Sums are kept and rounded as hlokit_dot does. Errors (in the context): as hlokit_dot; too
// many dimensions. Source: XLA Operation Semantics, "ConvWithGeneralPadding".
void hlokit_conv(void* ctx, const HlokitConvDesc* desc, const void* lhs, const void* rhs,
                 void* out);

// hlokit_conv of f32, whose output features are the columns of `finish`, and then that. bias,
// residual: may be null; neither lies in `out`.
void hlokit_finished_conv(void* ctx, const HlokitConvDesc* desc, const HlokitFinishDesc* finish,
                          const void* lhs, const void* rhs, const void* bias, const void* residual,
                          void* out);

// hlokit_conv of f32, then `function` for all parts of the result, whose rows and columns are those
// of `finish`. arrays: what `function` gets; none of them but the first lies in `out`.
void hlokit_conv_then(void* ctx, const HlokitConvDesc* desc, const HlokitFinishDesc* finish,
                      const void* lhs, const void* rhs, HlokitFinishFunction function,
                      void* const* arrays, void* out);

#ifdef __cplusplus
}  // extern "C"
#endif
// SPDX-License-Identifier: Apache-2.0
