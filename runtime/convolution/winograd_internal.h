// Convolutions of 3 x 3 windows with 4/9 of the multiplications.
#pragma once

#include "runtime/convolution/conv_desc.h"
#include "runtime/dot/finish_internal.h"

namespace hlokit {

// Computes an f32 convolution of undilated pictures by windows of 3 x 3 and stride 1, without
// groups and features together in memory (NHWC), where that is faster than a matrix product; false
// if `desc` is not of that kind, or if its values would make results less exact than the direct
// form's: `out` is then to be computed again.
// The order of summation depends on the sizes alone. Does `finish`, too, unless that is null.
bool RunWinograd(void* ctx, const HlokitConvDesc& desc, const char* lhs, const char* rhs, char* out,
                 Finish* finish);

// The three transformations, one set per instruction set. A transformed patch or window has 16
// positions, whose arrays lie `step` elements apart.
struct WinogradKernels {
  // to[p * step + c] of a patch of 4 x 4 places, each of which points at its features.
  void (*patch)(const float* const* places, int64_t features, int64_t step, float* to);
  // to[p * step + f] of `count` windows: place t of window f is from[taps[t] + f * stride].
  void (*window)(const float* from, const int64_t* taps, int64_t stride, int64_t count,
                 int64_t step, float* to);
  // out[place][f] of 2 x 2 places from the products; false if one of them is not finite. Then
  // `finish`, unless that is null, with what is added to each place.
  bool (*result)(const float* products, int64_t features, int64_t step, float* const* out,
                 const Finish* finish, const float* const* residuals);
  // The largest of `count` magnitudes, a multiple of a vector's lanes, and their sum.
  void (*magnitude)(const float* from, int64_t count, float* largest, float* sum);
};

namespace isa_base {
extern const WinogradKernels kWinograd;
}  // namespace isa_base
namespace isa_avx2 {
extern const WinogradKernels kWinograd;
}  // namespace isa_avx2
namespace isa_avx512 {
extern const WinogradKernels kWinograd;
}  // namespace isa_avx512

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
