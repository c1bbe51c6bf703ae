// Filters against an H200's results: weights of two dimensions, bytes, f16 and f32.
#include "ptxsim/texture_filter.h"

#include <bit>

#include "gtest/gtest.h"

namespace hlokit::ptx {
namespace {

uint32_t Filtered(FilterOf format, std::initializer_list<float> values,
                  std::initializer_list<int> weights) {
  return std::bit_cast<uint32_t>(
      FilterChannel(format, values.begin(), weights.begin(), static_cast<int>(values.size())));
}

TEST(TextureFilter, WeightsMakeAWhole) {
  const int seconds[] = {130, 77, 201};
  int weights[kFilterCorners];
  CornerWeights(seconds, 2, weights);
  EXPECT_EQ(weights[3], 39);  // 130 * 77 / 256 = 39.1
  EXPECT_EQ(weights[0], 256 - 130 - 77 + 39);
  CornerWeights(seconds, 3, weights);
  int sum = 0;
  for (const int weight : weights) sum += weight;
  EXPECT_EQ(sum, 256);
}

// Results of an H200.
TEST(TextureFilter, RoundsAsAnH200) {
  EXPECT_EQ(Filtered(FilterOf::kU8, {2 / 255.f, 0}, {176, 80}), 0x3bb080b1u);
  EXPECT_EQ(Filtered(FilterOf::kU8, {18 / 255.f, 204 / 255.f}, {64, 192}), 0x3f1e1e9eu);
  EXPECT_EQ(Filtered(FilterOf::kS16, {-10 / 32767.f, 13508 / 32767.f}, {176, 80}), 0x3e03b107u);
  EXPECT_EQ(Filtered(FilterOf::kHalf, {-2.248046875f, 3.3046875f}, {64, 192}), 0x3ff56000u);
  // A tie goes away from zero; a texel far below the other is cut.
  EXPECT_EQ(Filtered(FilterOf::kFloat, {-1.182303547859192f, -0.5140401124954224f}, {240, 16}),
            0xbf91fd1fu);
  EXPECT_EQ(Filtered(FilterOf::kFloat, {-0.022557789459824562f, -520878.96875f}, {208, 48}),
            0xc7bec069u);
  EXPECT_EQ(Filtered(FilterOf::kFloat, {0, 0}, {128, 128}), 0u);
}

}  // namespace
}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
