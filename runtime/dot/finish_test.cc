// Products that finish their results, against products and a plain loop: the bits are the same.
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/context.h"
#include "runtime/convolution/conv.h"
#include "runtime/dot/dot.h"
#include "runtime/element.h"

namespace hlokit {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

int64_t WordOf(float value) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

struct How {
  bool bias, residual;
  float low = -kInfinity, high = kInfinity;
};
constexpr How kHows[] = {{true, false},         {false, true},         {true, true, 0},
                         {true, false, 0, 6},   {false, false, -1, 1}, {true, true, -0.5f, 2},
                         {false, true, -2, -1}, {false, false, 1, -1}};

// Numbers, zeros of both signs, and a few that are not finite.
std::vector<float> Values(int64_t count, std::mt19937& random, bool wild = false) {
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& x : values) {
    const uint32_t kind = wild ? random() % 40 : 40;
    x = kind == 0   ? -0.0f
        : kind == 1 ? 0.0f
        : kind == 2 ? NAN
        : kind == 3 ? -kInfinity
                    : normal(random);
  }
  return values;
}

// arrays: the result, how often each element was asked for, and the result's columns. Negates.
void Negate(void* const* arrays, int64_t row, int64_t rows, int64_t col, int64_t cols) {
  const int64_t ld = *static_cast<const int64_t*>(arrays[2]);
  for (int64_t r = row; r < row + rows; ++r) {
    for (int64_t c = col; c < col + cols; ++c) {
      float& x = static_cast<float*>(arrays[0])[r * ld + c];
      x = -x;
      ++static_cast<int*>(arrays[1])[r * ld + c];
    }
  }
}

// Runs `then(ctx, desc, function, arrays, out)` with Negate: each element once, when it is summed.
template <typename Then>
void CheckThen(void* ctx, int64_t rows, int64_t cols, const std::vector<float>& sums,
               const Then& then) {
  std::vector<float> out(rows * cols, NAN);
  std::vector<int> counts(rows * cols, 0);
  void* arrays[] = {out.data(), counts.data(), &cols};
  const HlokitFinishDesc desc = {rows, cols, WordOf(-kInfinity), WordOf(kInfinity)};
  then(ctx, &desc, Negate, arrays, out.data());
  for (int64_t i = 0; i < rows * cols; ++i) {
    ASSERT_EQ(counts[i], 1) << i;
    ASSERT_EQ(WordOf(out[i]), WordOf(-sums[i])) << i;
  }
}

// Runs `plain(ctx, out)` and `finished(ctx, desc, bias, residual, out)`, and compares; `then` as
// CheckThen.
template <typename Plain, typename Finished, typename Then>
void Check(int64_t rows, int64_t cols, const Plain& plain, const Finished& finished,
           const Then& then) {
  std::mt19937 random(7);
  const std::vector<float> bias = Values(cols, random, true);
  const std::vector<float> residual = Values(rows * cols, random, true);
  for (const int threads : {1, 2, 3}) {
    HlokitRunContext ctx = {};
    ctx.struct_size = sizeof ctx;
    ctx.num_threads = threads;
    std::vector<float> sums(rows * cols, NAN);
    plain(&ctx, sums.data());
    CheckThen(&ctx, rows, cols, sums, then);
    for (const How& how : kHows) {
      const HlokitFinishDesc desc = {rows, cols, WordOf(how.low), WordOf(how.high)};
      std::vector<float> out(rows * cols, NAN);
      finished(&ctx, &desc, how.bias ? bias.data() : nullptr,
               how.residual ? residual.data() : nullptr, out.data());
      for (int64_t i = 0; i < rows * cols; ++i) {
        float x = sums[i];
        if (how.bias) x += bias[i % cols];
        if (how.residual) x += residual[i];
        if (x <= how.low) x = how.low;
        if (x >= how.high) x = how.high;
        ASSERT_TRUE(WordOf(x) == WordOf(out[i]) || (std::isnan(x) && std::isnan(out[i])))
            << i << ": " << x << " " << out[i] << ", limits " << how.low << " " << how.high;
      }
    }
  }
}

void CheckDot(int64_t rows, int64_t depth, int64_t cols) {
  SCOPED_TRACE(testing::Message() << rows << " x " << depth << " x " << cols);
  std::mt19937 random(1);
  std::vector<float> lhs = Values(rows * depth, random);
  const std::vector<float> rhs = Values(depth * cols, random);
  std::fill_n(lhs.begin(), depth, 0.0f);  // sums that are zeros
  HlokitDotDesc dot = {HLOKIT_F32, HLOKIT_F32, HLOKIT_F32, 0, 1, 1, 1, {}};
  dot.dims[0] = {rows, depth, 0, cols};
  dot.dims[1] = {cols, 0, 1, 1};
  dot.dims[2] = {depth, 1, cols, 0};
  Check(
      rows, cols,
      [&](void* ctx, float* out) { hlokit_dot(ctx, &dot, lhs.data(), rhs.data(), out); },
      [&](void* ctx, const HlokitFinishDesc* finish, const float* bias, const float* residual,
          float* out) {
        hlokit_finished_dot(ctx, &dot, finish, lhs.data(), rhs.data(), bias, residual, out);
      },
      [&](void* ctx, const HlokitFinishDesc* finish, HlokitFinishFunction function,
          void* const* arrays, float* out) {
        hlokit_dot_then(ctx, &dot, finish, lhs.data(), rhs.data(), function, arrays, out);
      });
}

// Each way of computing a product.
TEST(FinishTest, Dots) {
  CheckDot(3, 40, 17);
  CheckDot(1, 600, 500);
  CheckDot(300, 20, 5);
  CheckDot(40, 2100, 33);
  CheckDot(16, 4096, 16);
  CheckDot(12, 700, 1040);
  CheckDot(50, 300, 1000);
  CheckDot(100, 520, 900);
  CheckDot(2000, 70, 150);
  CheckDot(3000, 1030, 40);
  CheckDot(17, 0, 20);
}

struct Picture {
  int64_t size, features, out, window, stride, pad, groups = 1, dilation = 1;
};

void CheckConv(const Picture& p) {
  SCOPED_TRACE(testing::Message() << p.size << " " << p.features << " " << p.out << " "
                                  << p.window);
  const int64_t dilated = (p.size - 1) * p.dilation + 1;
  const int64_t places = (dilated + 2 * p.pad - p.window) / p.stride + 1;
  const int64_t in = p.features / p.groups;
  HlokitConvDesc conv = {};
  conv.lhs_type = conv.rhs_type = conv.out_type = HLOKIT_F32;
  conv.batch = 2, conv.in_features = p.features, conv.out_features = p.out;
  conv.feature_groups = p.groups, conv.batch_groups = 1;
  conv.lhs_batch_stride = p.size * p.size * p.features, conv.lhs_feature_stride = 1;
  conv.rhs_in_stride = p.out, conv.rhs_out_stride = 1;
  conv.out_batch_stride = places * places * p.out, conv.out_feature_stride = 1;
  conv.spatial_rank = 2;
  for (int d = 0; d < 2; ++d) {
    const int64_t line = d == 0 ? p.size : 1, to = d == 0 ? places : 1;
    conv.dims[d] = {
        p.size,     p.window, places, line * p.features, (d == 0 ? p.window : 1) * in * p.out,
        to * p.out, p.stride, p.pad,  p.dilation,        1,
        0};
  }
  std::mt19937 random(2);
  const std::vector<float> lhs = Values(2 * p.size * p.size * p.features, random);
  const std::vector<float> rhs = Values(p.window * p.window * in * p.out, random);
  Check(
      2 * places * places, p.out,
      [&](void* ctx, float* out) { hlokit_conv(ctx, &conv, lhs.data(), rhs.data(), out); },
      [&](void* ctx, const HlokitFinishDesc* finish, const float* bias, const float* residual,
          float* out) {
        hlokit_finished_conv(ctx, &conv, finish, lhs.data(), rhs.data(), bias, residual, out);
      },
      [&](void* ctx, const HlokitFinishDesc* finish, HlokitFinishFunction function,
          void* const* arrays, float* out) {
        hlokit_conv_then(ctx, &conv, finish, lhs.data(), rhs.data(), function, arrays, out);
      });
}

TEST(FinishTest, Convolutions) {
  CheckConv({12, 24, 40, 1, 1, 0});
  CheckConv({12, 24, 40, 1, 2, 0});
  CheckConv({15, 3, 16, 7, 2, 3});
  CheckConv({13, 32, 64, 3, 1, 1});  // Winograd's form, odd pictures
  CheckConv({14, 64, 32, 3, 1, 1});
  CheckConv({12, 16, 24, 3, 2, 1});
  CheckConv({7, 16, 24, 3, 1, 2, 1, 2});  // in phases
}

TEST(FinishTest, DepthwiseConvolutions) {
  CheckConv({14, 40, 40, 3, 1, 1, 40});
  CheckConv({15, 37, 37, 3, 2, 1, 37});
  CheckConv({12, 20, 20, 5, 1, 2, 20});
  CheckConv({9, 33, 33, 3, 1, 0, 33});
  CheckConv({6, 18, 18, 3, 1, 2, 18, 2});
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
