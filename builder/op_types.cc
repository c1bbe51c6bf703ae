// Padding by rule, and default dimension numbers.
#include "builder/op_types.h"

#include <algorithm>

#include "support/status.h"

namespace hlokit {
namespace {

std::pair<int64_t, int64_t> SamePadding(int64_t size, int64_t window, int64_t stride) {
  const int64_t results = size / stride + (size % stride != 0);
  const __int128 covered = static_cast<__int128>(results - 1) * stride + window;
  const int64_t total = static_cast<int64_t>(std::max<__int128>(covered - size, 0));
  return {total / 2, total - total / 2};
}

}  // namespace

absl::StatusOr<PaddingPairs> MakePadding(absl::Span<const int64_t> sizes,
                                         absl::Span<const int64_t> windows,
                                         absl::Span<const int64_t> strides, Padding padding) {
  if (sizes.size() != windows.size() || sizes.size() != strides.size())
    return InvalidArgument("padding of ", sizes.size(), " dimensions with ", windows.size(),
                           " window sizes and ", strides.size(), " strides");
  PaddingPairs pairs;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] < 0 || windows[d] <= 0 || strides[d] <= 0)
      return InvalidArgument("padding of size ", sizes[d], " with window ", windows[d],
                             " and stride ", strides[d]);
    pairs.push_back(padding == Padding::kSame ? SamePadding(sizes[d], windows[d], strides[d])
                                              : std::pair<int64_t, int64_t>());
  }
  return pairs;
}

ConvolutionDimensionNumbers DefaultConvDimensionNumbers(int spatial) {
  ConvolutionDimensionNumbers numbers;
  numbers.input_batch = numbers.output_batch = numbers.kernel_output_feature = 0;
  numbers.input_feature = numbers.output_feature = numbers.kernel_input_feature = 1;
  for (int d = 0; d < spatial; ++d) {
    numbers.input_spatial.push_back(d + 2);
    numbers.kernel_spatial.push_back(d + 2);
    numbers.output_spatial.push_back(d + 2);
  }
  return numbers;
}

PaddingConfig MakeEdgePaddingConfig(absl::Span<const std::pair<int64_t, int64_t>> padding) {
  PaddingConfig config;
  for (const auto& [low, high] : padding) config.push_back({low, high, 0});
  return config;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
