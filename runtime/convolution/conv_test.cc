// Convolutions against a plain loop over all indices, with random windows, layouts, groups and
// types.
#include "runtime/convolution/conv.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/context.h"
#include "runtime/dot/frozen_arrays.h"

namespace hlokit {
namespace {

using Random = std::mt19937;
int64_t Draw(Random& random, int64_t low, int64_t high) {
  return low + random() % (high - low + 1);
}

// Gives dense strides in a random order of dimensions.
int64_t LayOut(Random& random, std::vector<std::pair<int64_t, int64_t*>> dims) {
  std::shuffle(dims.begin(), dims.end(), random);
  int64_t elements = 1;
  for (auto& [size, stride] : dims) *stride = elements, elements *= size;
  return elements;
}

struct Sizes {
  int64_t lhs, rhs, out;
};

HlokitConvDesc RandomConv(Random& random, int64_t type, Sizes& sizes) {
  HlokitConvDesc c = {};
  c.lhs_type = c.rhs_type = c.out_type = type;
  c.feature_groups = Draw(random, 0, 2) == 0 ? Draw(random, 2, 3) : 1;
  c.batch_groups = c.feature_groups == 1 && Draw(random, 0, 2) == 0 ? 2 : 1;
  c.batch = c.batch_groups * Draw(random, 1, 3);
  const int64_t in = Draw(random, 1, 5), groups = c.feature_groups * c.batch_groups;
  c.in_features = in * c.feature_groups;
  c.out_features = groups * Draw(random, 1, 20);
  c.spatial_rank = Draw(random, 0, 3);
  for (int64_t i = 0; i < c.spatial_rank; ++i) {
    HlokitConvDim& d = c.dims[i];
    d.lhs_size = Draw(random, 1, 7), d.rhs_size = Draw(random, 1, 4);
    d.window_stride = Draw(random, 1, 2), d.lhs_dilation = Draw(random, 1, 3),
    d.rhs_dilation = Draw(random, 1, 2);
    d.pad_low = Draw(random, -2, 3), d.reversed = Draw(random, 0, 1);
    const int64_t padded = (d.lhs_size - 1) * d.lhs_dilation + 1 + d.pad_low + Draw(random, -1, 3);
    const int64_t window = (d.rhs_size - 1) * d.rhs_dilation + 1;
    d.out_size = padded < window ? 0 : (padded - window) / d.window_stride + 1;
  }
  std::vector<std::pair<int64_t, int64_t*>> lhs = {{c.batch, &c.lhs_batch_stride},
                                                   {c.in_features, &c.lhs_feature_stride}};
  std::vector<std::pair<int64_t, int64_t*>> rhs = {{in, &c.rhs_in_stride},
                                                   {c.out_features, &c.rhs_out_stride}};
  std::vector<std::pair<int64_t, int64_t*>> out = {{c.batch / c.batch_groups, &c.out_batch_stride},
                                                   {c.out_features, &c.out_feature_stride}};
  for (int64_t i = 0; i < c.spatial_rank; ++i) {
    lhs.push_back({c.dims[i].lhs_size, &c.dims[i].lhs_stride});
    rhs.push_back({c.dims[i].rhs_size, &c.dims[i].rhs_stride});
    out.push_back({c.dims[i].out_size, &c.dims[i].out_stride});
  }
  sizes = {LayOut(random, lhs), LayOut(random, rhs), LayOut(random, out)};
  return c;
}

// Offsets of lhs and rhs at output place `y` and window place `t`; false where the window meets no
// element.
bool Meet(const HlokitConvDesc& c, const int64_t* y, const int64_t* t, int64_t& lhs, int64_t& rhs) {
  for (int64_t i = 0; i < c.spatial_rank; ++i) {
    const HlokitConvDim& d = c.dims[i];
    const int64_t place = y[i] * d.window_stride + t[i] * d.rhs_dilation - d.pad_low;
    if (place < 0 || place % d.lhs_dilation != 0 || place / d.lhs_dilation >= d.lhs_size)
      return false;
    lhs += place / d.lhs_dilation * d.lhs_stride;
    rhs += (d.reversed ? d.rhs_size - 1 - t[i] : t[i]) * d.rhs_stride;
  }
  return true;
}

bool Next(const HlokitConvDesc& c, int64_t HlokitConvDim::*size, int64_t* index) {
  for (int64_t i = c.spatial_rank; i-- > 0;) {
    if (++index[i] < c.dims[i].*size) return true;
    index[i] = 0;
  }
  return false;
}

template <typename T>
T PlainSum(const HlokitConvDesc& c, const T* lhs, const T* rhs, int64_t b, int64_t o,
           const int64_t* y) {
  const int64_t in = c.in_features / c.feature_groups, batch = c.batch / c.batch_groups;
  const int64_t feature_group = o / (c.out_features / c.feature_groups);
  const int64_t batch_group = o / (c.out_features / c.batch_groups);
  T sum = {};
  int64_t t[3] = {};
  do {
    for (int64_t i = 0; i < in; ++i) {
      int64_t l = ((c.batch_groups > 1 ? batch_group * batch : 0) + b) * c.lhs_batch_stride +
                  ((c.feature_groups > 1 ? feature_group * in : 0) + i) * c.lhs_feature_stride;
      int64_t r = i * c.rhs_in_stride + o * c.rhs_out_stride;
      if (Meet(c, y, t, l, r)) sum += lhs[l] * rhs[r];
    }
  } while (Next(c, &HlokitConvDim::rhs_size, t));
  return sum;
}

template <typename T>
void CheckConv(const HlokitConvDesc& c, const Sizes& sizes, Random& random) {
  std::vector<T> lhs(sizes.lhs), rhs(sizes.rhs), out(sizes.out, T(99));
  for (T& x : lhs) x = T(Draw(random, -3, 3));
  for (T& x : rhs) x = T(Draw(random, -3, 3));
  HlokitRunContext ctx = {};
  hlokit_conv(&ctx, &c, lhs.data(), rhs.data(), out.data());
  ASSERT_EQ(ctx.failed, 0) << ctx.error;
  if (sizes.out == 0) return;
  for (int64_t b = 0; b < c.batch / c.batch_groups; ++b) {
    for (int64_t o = 0; o < c.out_features; ++o) {
      int64_t y[3] = {};
      do {
        int64_t at = b * c.out_batch_stride + o * c.out_feature_stride;
        for (int64_t i = 0; i < c.spatial_rank; ++i) at += y[i] * c.dims[i].out_stride;
        ASSERT_EQ(out[at], PlainSum(c, lhs.data(), rhs.data(), b, o, y)) << "place " << at;
      } while (Next(c, &HlokitConvDim::out_size, y));
    }
  }
}

template <typename T>
void CheckRandom(int64_t type, int count) {
  Random random(3);
  for (int i = 0; i < count; ++i) {
    SCOPED_TRACE(i);
    Sizes sizes;
    const HlokitConvDesc c = RandomConv(random, type, sizes);
    CheckConv<T>(c, sizes, random);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(ConvTest, F32) { CheckRandom<float>(HLOKIT_F32, 400); }
TEST(ConvTest, F64) { CheckRandom<double>(HLOKIT_F64, 100); }
TEST(ConvTest, S32) { CheckRandom<int32_t>(HLOKIT_S32, 100); }
TEST(ConvTest, C64) { CheckRandom<std::complex<float>>(HLOKIT_C64, 100); }
TEST(ConvTest, C128) { CheckRandom<std::complex<double>>(HLOKIT_C128, 50); }

// NHWC with HWIO, the layouts of models; features enough for whole vectors.
HlokitConvDesc Image(int64_t batch, int64_t size, int64_t in, int64_t out, int64_t window,
                     int64_t stride, int64_t pad, int64_t groups, Sizes& sizes) {
  const int64_t out_size = (size + 2 * pad - window) / stride + 1, per_group = in / groups;
  HlokitConvDesc c = {HLOKIT_F32,
                      HLOKIT_F32,
                      HLOKIT_F32,
                      batch,
                      in,
                      out,
                      groups,
                      1,
                      size * size * in,
                      1,
                      out,
                      1,
                      out_size * out_size * out,
                      1,
                      2,
                      {}};
  c.dims[0] = {size, window, out_size, size * in, window * per_group * out, out_size * out, stride,
               pad,  1,      1,        0};
  c.dims[1] = {size, window, out_size, in, per_group * out, out, stride, pad, 1, 1, 0};
  sizes = {batch * size * size * in, window * window * per_group * out,
           batch * out_size * out_size * out};
  return c;
}

TEST(ConvTest, Images) {
  Random random(5);
  Sizes sizes;
  const HlokitConvDesc plain = Image(2, 14, 40, 48, 3, 1, 1, 1, sizes);
  CheckConv<float>(plain, sizes, random);
  const HlokitConvDesc first = Image(1, 20, 3, 64, 7, 2, 3, 1, sizes);
  CheckConv<float>(first, sizes, random);
  const HlokitConvDesc depthwise = Image(2, 9, 70, 70, 3, 2, 1, 70, sizes);
  CheckConv<float>(depthwise, sizes, random);
  for (const int64_t out :
       {1, 3, 8, 12, 40}) {  // few features of many: windows in whole vectors, or not
    const HlokitConvDesc few = Image(1, 13, 64, out, 3, 1, 1, 1, sizes);
    CheckConv<float>(few, sizes, random);
    const HlokitConvDesc odd = Image(2, 11, 46, out, 3, 2, 1, 1, sizes);
    CheckConv<float>(odd, sizes, random);
  }
}

// Windows of 3 x 3, whose weights stay in registers, and others; padding, negative too, wider than
// the window, or of all that a window meets; strides and dilated windows.
TEST(ConvTest, DepthwiseWithPadding) {
  Random random(9);
  for (const int64_t features : {2, 16, 70})
    for (const int64_t size : {1, 4, 11})
      for (const int64_t window : {1, 3, 5})
        for (const int64_t pad : {-1, 0, 1, 2, 6})
          for (const int64_t stride : {1, 2}) {
            const int64_t dilation = window == 3 && pad == 2 ? 2 : 1;
            const int64_t out = (size + 2 * pad - (window - 1) * dilation - 1) / stride + 1;
            if (size + 2 * pad < (window - 1) * dilation + 1) continue;
            HlokitConvDesc c = {};
            c.lhs_type = c.rhs_type = c.out_type = HLOKIT_F32;
            c.batch = 2;
            c.batch_groups = 1;
            c.in_features = c.out_features = c.feature_groups = c.rhs_in_stride = features;
            c.lhs_feature_stride = c.rhs_out_stride = c.out_feature_stride = 1;
            c.lhs_batch_stride = size * size * features;
            c.out_batch_stride = out * out * features;
            c.spatial_rank = 2;
            c.dims[0] = {size,
                         window,
                         out,
                         size * features,
                         window * features,
                         out * features,
                         stride,
                         pad,
                         1,
                         dilation,
                         0};
            c.dims[1] = c.dims[0];
            c.dims[1].lhs_stride = c.dims[1].rhs_stride = c.dims[1].out_stride = features;
            const Sizes sizes = {2 * c.lhs_batch_stride, window * window * features,
                                 2 * c.out_batch_stride};
            CheckConv<float>(c, sizes, random);
          }
}

// What a depthwise convolution of two images of 9 x 9 x 70 by a stride of 2 asks for its window's
// gradient.
TEST(ConvTest, GradientOfDepthwiseWindow) {
  constexpr int64_t kSize = 9, kOut = 5, kFeatures = 70;
  Random random(6);
  HlokitConvDesc c = {};
  c.lhs_type = c.rhs_type = c.out_type = HLOKIT_F32;
  c.batch = c.batch_groups = c.out_features = kFeatures;
  c.in_features = 2;
  c.feature_groups = c.lhs_batch_stride = c.rhs_out_stride = c.out_feature_stride = 1;
  c.lhs_feature_stride = kSize * kSize * kFeatures;
  c.rhs_in_stride = kOut * kOut * kFeatures;
  c.spatial_rank = 2;
  c.dims[0] = {kSize, kOut, 3, kSize * kFeatures, kOut * kFeatures, 3 * kFeatures, 1, 1, 1, 2, 0};
  c.dims[1] = {kSize, kOut, 3, kFeatures, kFeatures, kFeatures, 1, 1, 1, 2, 0};
  const Sizes sizes = {2 * c.lhs_feature_stride, 2 * c.rhs_in_stride, 9 * kFeatures};
  CheckConv<float>(c, sizes, random);
}

// Windows of 3 x 3 over many features (winograd.cc): odd and even sizes, padding more and less than
// the window's, several pictures, sums of more than one part; small integers give exact results.
TEST(ConvTest, ManyFeatures) {
  Random random(11);
  Sizes sizes;
  for (const auto& [batch, size, in, out, pad] :
       std::vector<std::array<int64_t, 5>>{{1, 14, 64, 64, 1},
                                           {1, 15, 32, 96, 1},
                                           {3, 9, 48, 32, 0},
                                           {1, 12, 64, 32, 3},
                                           {2, 14, 32, 64, -1},
                                           {1, 13, 1040, 32, 1},
                                           {1, 14, 40, 48, 1}}) {
    SCOPED_TRACE(size);
    CheckConv<float>(Image(batch, size, in, out, 3, 1, pad, 1, sizes), sizes, random);
    if (HasFatalFailure()) return;
  }
}

// What the gradient of such a convolution asks for: the window reversed, its features exchanged.
TEST(ConvTest, ManyFeaturesReversed) {
  Random random(12);
  Sizes sizes;
  HlokitConvDesc c = Image(1, 14, 32, 64, 3, 1, 1, 1, sizes);
  for (int i = 0; i < 2; ++i) c.dims[i].reversed = 1;
  CheckConv<float>(c, sizes, random);
  c.rhs_in_stride = 1, c.rhs_out_stride = 32;
  CheckConv<float>(c, sizes, random);
}

// An image of 16 x 16 x 64 with normal values, by normal weights, and what a run on some threads
// makes of it.
struct NormalConv {
  explicit NormalConv(uint32_t seed) {
    desc = Image(1, 16, 64, 64, 3, 1, 1, 1, sizes);
    Random random(seed);
    std::normal_distribution<float> normal;
    lhs.resize(sizes.lhs), rhs.resize(sizes.rhs);
    for (float& x : lhs) x = normal(random);
    for (float& x : rhs) x = normal(random);
  }
  std::vector<float> Run(int32_t threads, FrozenArrays* frozen = nullptr) const {
    std::vector<float> out(sizes.out, 99);
    HlokitRunContext ctx = {};
    ctx.num_threads = threads;
    ctx.frozen = frozen;
    hlokit_conv(&ctx, &desc, lhs.data(), rhs.data(), out.data());
    EXPECT_EQ(ctx.failed, 0) << ctx.error;
    return out;
  }
  double Exact(int64_t y, int64_t x, int64_t feature) const {
    const std::vector<double> l(lhs.begin(), lhs.end()), r(rhs.begin(), rhs.end());
    const int64_t place[] = {y, x};
    return PlainSum(desc, l.data(), r.data(), 0, feature, place);
  }

  Sizes sizes;
  HlokitConvDesc desc;
  std::vector<float> lhs, rhs;
};

TEST(ConvTest, ManyFeaturesRoundLittle) {
  const NormalConv conv(13);
  const std::vector<float> out = conv.Run(1);
  EXPECT_EQ(out, conv.Run(2));
  EXPECT_EQ(out, conv.Run(3));
  for (int64_t i = 0; i < 16; ++i) {
    const double exact = conv.Exact(i, 15 - i, 4 * i);
    // Results are sums of 576 products of deviation 1: 24 is their deviation.
    EXPECT_NEAR(out[(i * 16 + 15 - i) * 64 + 4 * i], exact, 24 * 2e-6) << i;
  }
}

// Weights that no run changes are transformed by the first run alone.
TEST(ConvTest, ManyFeaturesByFrozenWeights) {
  NormalConv conv(15);
  const std::vector<float> expected = conv.Run(2);
  PackedForms forms([] { return int64_t{1} << 40; });
  FrozenArrays frozen(&forms);
  frozen.Add(0, conv.rhs.data(), conv.sizes.rhs * int64_t{sizeof(float)});
  EXPECT_EQ(conv.Run(2, &frozen), expected);
  EXPECT_EQ(forms.counts().arrays, 1);
  EXPECT_EQ(forms.counts().bytes, int64_t{16 * 64 * 64 * sizeof(float)});
  std::fill(conv.rhs.begin(), conv.rhs.end(), 0.0f);  // nobody looks at them again
  EXPECT_EQ(conv.Run(1, &frozen), expected);
  EXPECT_EQ(forms.counts().arrays, 1);
}

// Pictures without pixels have padding alone.
TEST(ConvTest, ManyFeaturesOfNoPixels) {
  Sizes sizes;
  HlokitConvDesc c = Image(1, 0, 32, 32, 3, 1, 8, 1, sizes);
  Random random(16);
  CheckConv<float>(c, sizes, random);
}

// An infinity, a NaN or a large number spoils the results that see it, and no others.
TEST(ConvTest, ManyFeaturesKeepOutliersWhereTheyAre) {
  for (const float value : {INFINITY, NAN, 3.4e38f, 1e20f, -1e9f}) {
    NormalConv conv(14);
    conv.lhs[(4 * 16 + 4) * 64 + 7] = value;
    const std::vector<float> out = conv.Run(2);
    for (int64_t y = 0; y < 9; ++y)
      for (int64_t x = 0; x < 9; ++x) {
        const bool sees = std::abs(y - 4) <= 1 && std::abs(x - 4) <= 1;
        const float got = out[(y * 16 + x) * 64];
        if (!sees) {
          EXPECT_NEAR(got, conv.Exact(y, x, 0), 24 * 2e-6) << y << " " << x;
        } else {
          EXPECT_FALSE(std::abs(got) < 1e5f) << y << " " << x;
        }
      }
  }
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
