// Depthwise convolutions: each feature has a window of its own, so there is no sum over features
// for a matrix product. One pass over the output places computes all features of a place together,
// a vector of features at a time: sums[f] += x[place + tap][f] * w[tap][f]. The gradient of such a
// window has the same form with batch and features exchanged.
#include "runtime/convolution/depthwise_internal.h"

#include <algorithm>

#include "runtime/cpu_features.h"
#include "runtime/dot/index_maps_internal.h"
#include "runtime/parallel.h"

namespace hlokit {
namespace {

DepthwiseRow RowKernel() { return HLOKIT_OF_BEST_ISA(kDepthwiseRow); }

// What a convolution is to the kernel: `features` side by side at each place of the result, summed
// over the window, and that over `rounds`.
struct Form {
  int64_t features = 0;  // 0: not of this kind
  StridedDim lhs_outer, out_outer;
  int64_t rounds = 1, lhs_step = 0, rhs_step = 0;
};

bool LieTogether(int64_t features, int64_t lhs_stride, const HlokitConvDesc& c) {
  return features > 1 && lhs_stride == 1 && c.rhs_out_stride == 1 && c.out_feature_stride == 1 &&
         c.out_features == features;
}

Form FormOf(const HlokitConvDesc& c) {
  if (c.lhs_type != HLOKIT_F32 || c.rhs_type != HLOKIT_F32 || c.out_type != HLOKIT_F32) return {};
  if (c.feature_groups == c.in_features && LieTogether(c.feature_groups, c.lhs_feature_stride, c))
    return {c.in_features, {c.batch, c.lhs_batch_stride}, {c.batch, c.out_batch_stride}};
  // The gradient of a window: what was the batch is summed, what were features are the batch.
  if (c.batch_groups == c.batch && c.in_features > 0 &&
      LieTogether(c.batch_groups, c.lhs_batch_stride, c))
    return {c.batch, {1, 0}, {1, 0}, c.in_features, c.lhs_feature_stride, c.rhs_in_stride};
  return {};
}

OwnedIndexMap MapOf(const HlokitConvDesc& c, StridedDim first, int64_t HlokitConvDim::*size,
                    int64_t HlokitConvDim::*stride, int64_t HlokitConvDim::*scale) {
  std::vector<StridedDim> dims = {first};
  for (int64_t i = 0; i < c.spatial_rank; ++i) {
    dims.push_back(
        {c.dims[i].*size, c.dims[i].*stride * (scale == nullptr ? 1 : c.dims[i].*scale)});
  }
  return OwnedIndexMap(dims);
}

std::vector<int64_t> Offsets(const OwnedIndexMap& map) {
  std::vector<int64_t> offsets(map.map().size);
  for (size_t i = 0; i < offsets.size(); ++i) offsets[i] = OffsetAt(map.map(), i);
  return offsets;
}

}  // namespace

bool RunDepthwise(void* ctx, const HlokitConvDesc& c, const char* lhs, const char* rhs, char* out) {
  const Form form = FormOf(c);
  if (form.features == 0) return false;
  using Dim = HlokitConvDim;
  const OwnedIndexMap lhs_rows =
      MapOf(c, form.lhs_outer, &Dim::out_size, &Dim::lhs_stride, &Dim::window_stride);
  const OwnedIndexMap out_rows =
      MapOf(c, form.out_outer, &Dim::out_size, &Dim::out_stride, nullptr);
  const std::vector<int64_t> lhs_taps =
      Offsets(MapOf(c, {1, 0}, &Dim::rhs_size, &Dim::lhs_stride, &Dim::rhs_dilation));
  const std::vector<int64_t> rhs_taps =
      Offsets(MapOf(c, {1, 0}, &Dim::rhs_size, &Dim::rhs_stride, nullptr));
  const int64_t taps = static_cast<int64_t>(lhs_taps.size());
  const int64_t work = std::max<int64_t>(1, form.rounds * taps * form.features);
  const DepthwiseRow row = RowKernel();
  ParallelFor(ctx, out_rows.map().size, (1 << 16) / work + 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const float* x = reinterpret_cast<const float*>(lhs) + OffsetAt(lhs_rows.map(), i);
      const float* w = reinterpret_cast<const float*>(rhs);
      float* sums = reinterpret_cast<float*>(out) + OffsetAt(out_rows.map(), i);
      for (int64_t r = 0; r < form.rounds; ++r, x += form.lhs_step, w += form.rhs_step)
        row(x, w, lhs_taps.data(), rhs_taps.data(), taps, form.features, r > 0, sums);
    }
  });
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
