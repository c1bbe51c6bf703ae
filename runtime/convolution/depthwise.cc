// Depthwise convolutions: one pass over the output places, all features of a place together.
#include "runtime/convolution/depthwise_internal.h"

#include <algorithm>

#include "runtime/cpu_features.h"
#include "runtime/dot/index_maps_internal.h"
#include "runtime/parallel.h"

namespace hlokit {
namespace {

DepthwiseRow RowKernel() { return HLOKIT_OF_BEST_ISA(kDepthwiseRow); }

bool IsDepthwise(const HlokitConvDesc& c) {
  const bool f32 = c.lhs_type == HLOKIT_F32 && c.rhs_type == HLOKIT_F32 && c.out_type == HLOKIT_F32;
  return f32 && c.feature_groups > 1 && c.batch_groups == 1 && c.in_features == c.feature_groups &&
         c.out_features == c.in_features && c.lhs_feature_stride == 1 && c.rhs_out_stride == 1 &&
         c.out_feature_stride == 1;
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
  if (!IsDepthwise(c)) return false;
  using Dim = HlokitConvDim;
  const OwnedIndexMap lhs_rows = MapOf(c, {c.batch, c.lhs_batch_stride}, &Dim::out_size,
                                       &Dim::lhs_stride, &Dim::window_stride);
  const OwnedIndexMap out_rows =
      MapOf(c, {c.batch, c.out_batch_stride}, &Dim::out_size, &Dim::out_stride, nullptr);
  const std::vector<int64_t> lhs_taps =
      Offsets(MapOf(c, {1, 0}, &Dim::rhs_size, &Dim::lhs_stride, &Dim::rhs_dilation));
  const std::vector<int64_t> rhs_taps =
      Offsets(MapOf(c, {1, 0}, &Dim::rhs_size, &Dim::rhs_stride, nullptr));
  const int64_t taps = static_cast<int64_t>(lhs_taps.size());
  const int64_t work = std::max<int64_t>(1, taps * c.out_features);
  const DepthwiseRow row = RowKernel();
  ParallelFor(ctx, out_rows.map().size, (1 << 16) / work + 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      row(reinterpret_cast<const float*>(lhs) + OffsetAt(lhs_rows.map(), i),
          reinterpret_cast<const float*>(rhs), lhs_taps.data(), rhs_taps.data(), taps,
          c.out_features, reinterpret_cast<float*>(out) + OffsetAt(out_rows.map(), i));
    }
  });
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
