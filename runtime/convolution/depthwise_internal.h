// Convolutions with one input feature a group, which would make poor matrix products.
#pragma once

#include "runtime/convolution/conv_desc.h"
#include "runtime/dot/finish_internal.h"

namespace hlokit {

// Computes an f32 convolution of undilated input in which each output feature reads its own input
// feature, all dense along these, with padding, which no window place reads; false (nothing done)
// if `desc` is not of that kind.
// Does `finish`, too, unless that is null.
bool RunDepthwiseLines(void* ctx, const HlokitConvDesc& desc, const char* lhs, const char* rhs,
                       char* out, Finish* finish);

// Computes an f32 convolution without padding, in which each output feature reads its own input
// feature, or its own member of the batch (the gradient of such a convolution's window), all dense
// along these; false (nothing done) if `desc` is not of that kind.
bool RunDepthwise(void* ctx, const HlokitConvDesc& desc, const char* lhs, const char* rhs,
                  char* out);

// out[c] = sum of lhs[c] * rhs[c] over `taps` pairs of pointers' offsets, added to what is there if
// `accumulate`: the inner loop, one per instruction set.
using DepthwiseRow = void (*)(const float* lhs, const float* rhs, const int64_t* lhs_taps,
                              const int64_t* rhs_taps, int64_t taps, int64_t features,
                              bool accumulate, float* out);

// Neighbouring places p of neighbouring lines l of the output that meet the same places of the
// window: out[l * out_line + p * out_step + c] =
// sum over t of lhs[l * lhs_line + p * lhs_step + lhs_taps[t] + c] * rhs[rhs_taps[t] + c].
// Then `finish`, unless that is null.
struct DepthwiseTask {
  const float *lhs, *rhs;
  const int64_t *lhs_taps, *rhs_taps;
  int64_t taps, features, places, lhs_step, out_step, lines, lhs_line, out_line;
  float* out;
  const Finish* finish;
};
using DepthwiseLinesKernel = void (*)(const DepthwiseTask& task);

namespace isa_base {
extern const DepthwiseRow kDepthwiseRow;
extern const DepthwiseLinesKernel kDepthwiseLines;
}  // namespace isa_base
namespace isa_avx2 {
extern const DepthwiseRow kDepthwiseRow;
extern const DepthwiseLinesKernel kDepthwiseLines;
}  // namespace isa_avx2
namespace isa_avx512 {
extern const DepthwiseRow kDepthwiseRow;
extern const DepthwiseLinesKernel kDepthwiseLines;
}  // namespace isa_avx512

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
