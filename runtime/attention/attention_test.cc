// Attention beside a plain softmax in f64: sizes, layouts, masks, and what a mask must not hide.
#include "runtime/attention/attention.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/context.h"

namespace hlokit {
namespace {

constexpr float kLowest = std::numeric_limits<float>::lowest();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

int64_t Bits(float value) {
  int32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

// Two batch dimensions; queries and keys as [batch, row, head, depth], values as
// [batch, head, depth, row], the result as [batch, head, row, depth], the mask as [row, key].
class Case {
 public:
  Case(int64_t batch, int64_t heads, int64_t rows, int64_t keys, int64_t depth, int64_t value_depth)
      : queries(batch * rows * heads * depth),
        key_array(batch * keys * heads * depth),
        values(batch * heads * value_depth * keys) {
    std::mt19937 random(3);
    std::normal_distribution<float> normal;
    for (auto* array : {&queries, &key_array, &values})
      for (float& x : *array) x = normal(random);
    desc = {rows,
            keys,
            depth,
            value_depth,
            heads * depth,
            1,
            heads * depth,
            1,
            1,
            keys,
            keys,
            1,
            value_depth,
            1,
            Bits(1 / std::sqrt(static_cast<float>(depth))),
            Bits(kLowest),
            2,
            {{batch, rows * heads * depth, keys * heads * depth, heads * value_depth * keys, 0,
              heads * rows * value_depth},
             {heads, depth, depth, value_depth * keys, 0, rows * value_depth}}};
  }

  void SetMask(bool (*sees)(int64_t row, int64_t key)) {
    mask.resize(desc.rows * desc.keys);
    for (int64_t i = 0; i < desc.rows; ++i)
      for (int64_t j = 0; j < desc.keys; ++j) mask[i * desc.keys + j] = sees(i, j) ? 1 : 0;
  }

  std::vector<float> Run(int threads) {
    HlokitRunContext context = {};
    context.struct_size = sizeof(context);
    context.num_threads = threads;
    std::vector<float> out(desc.batch[0].size * desc.batch[0].out, NAN);
    hlokit_attention(&context, &desc, queries.data(), key_array.data(), values.data(),
                     mask.empty() ? nullptr : mask.data(), out.data());
    EXPECT_FALSE(context.failed) << context.error;
    return out;
  }

  // The results, by sums in f64.
  std::vector<double> Expected() const {
    std::vector<double> out;
    float scale, masked;
    const auto scale_bits = static_cast<int32_t>(desc.scale_bits);
    const auto masked_bits = static_cast<int32_t>(desc.masked_bits);
    std::memcpy(&scale, &scale_bits, sizeof scale);
    std::memcpy(&masked, &masked_bits, sizeof masked);
    for (int64_t b = 0; b < desc.batch[0].size; ++b)
      for (int64_t h = 0; h < desc.batch[1].size; ++h)
        for (int64_t i = 0; i < desc.rows; ++i) AppendRow(b, h, i, scale, masked, out);
    return out;
  }

  void CheckAgainstF64() {
    const std::vector<double> expected = Expected();
    const std::vector<float> got = Run(2);
    ASSERT_EQ(got.size(), expected.size());
    for (size_t i = 0; i < got.size(); ++i) {
      if (std::isnan(expected[i])) {
        ASSERT_TRUE(std::isnan(got[i])) << i << ": " << got[i];
      } else if (std::isinf(expected[i])) {
        ASSERT_EQ(got[i], expected[i]);
      } else {
        ASSERT_NEAR(got[i], expected[i], 3e-6 * (1 + std::fabs(expected[i]))) << i;
      }
    }
    for (const int threads : {1, 3, 16}) {
      const std::vector<float> again = Run(threads);
      ASSERT_EQ(std::memcmp(again.data(), got.data(), got.size() * sizeof(float)), 0);
    }
  }

  HlokitAttentionDesc desc;
  std::vector<float> queries, key_array, values;
  std::vector<uint8_t> mask;

 private:
  void AppendRow(int64_t b, int64_t h, int64_t i, float scale, float masked,
                 std::vector<double>& out) const {
    const auto &outer = desc.batch[0], &inner = desc.batch[1];
    std::vector<double> scores(desc.keys);
    double most = -kInfinity, sum = 0;
    for (int64_t j = 0; j < desc.keys; ++j) {
      double s = 0;
      for (int64_t k = 0; k < desc.depth; ++k)
        s += double{queries[b * outer.queries + h * inner.queries + i * desc.query_row + k]} *
             key_array[b * outer.keys + h * inner.keys + j * desc.key_row + k];
      const bool seen = mask.empty() || mask[i * desc.mask_row + j * desc.mask_key] != 0;
      scores[j] = seen ? s * scale : masked;
      most = std::isnan(scores[j]) || std::isnan(most) ? NAN : std::max(most, scores[j]);
    }
    for (double& s : scores) sum += s = std::exp(s - most);
    for (int64_t c = 0; c < desc.value_depth; ++c) {
      double result = 0;
      for (int64_t j = 0; j < desc.keys; ++j)
        result += scores[j] * values[b * outer.values + h * inner.values + c * desc.keys + j];
      out.push_back(result / sum);
    }
  }
};

bool Causal(int64_t row, int64_t key) { return key <= row; }
bool Window(int64_t row, int64_t key) { return key <= row && key > row - 40; }
bool Odd(int64_t row, int64_t key) { return (row + key) % 2 == 1; }
bool SomeRowsSeeNothing(int64_t row, int64_t key) { return row % 3 != 0 && key < 50; }

TEST(AttentionTest, Sizes) {
  for (const auto& [rows, keys] :
       {std::pair<int64_t, int64_t>{1, 1}, {1, 700}, {13, 31}, {14, 32}, {15, 33}, {200, 513}})
    for (const auto& [depth, values] : {std::pair<int64_t, int64_t>{1, 1}, {20, 40}, {64, 64}})
      Case(2, 3, rows, keys, depth, values).CheckAgainstF64();
  Case(1, 9, 130, 100, 600, 70).CheckAgainstF64();
}

TEST(AttentionTest, Masks) {
  for (const auto sees : {Causal, Window, Odd, SomeRowsSeeNothing})
    for (const float masked : {kLowest, -1e9f, -kInfinity, -3.f, 0.f})
      for (const int64_t rows : {30, 150}) {
        Case c(1, 2, rows, 150, 16, 24);
        c.SetMask(sees);
        c.desc.masked_bits = Bits(masked);
        c.CheckAgainstF64();
      }
}

TEST(AttentionTest, AMaskOfRowsOrOfKeysAlone) {
  for (const bool of_keys : {false, true}) {
    Case c(1, 2, 40, 90, 16, 24);
    c.SetMask(Window);
    c.desc.mask_row = of_keys ? 0 : 90;
    c.desc.mask_key = of_keys ? 1 : 0;
    c.CheckAgainstF64();
  }
  Case c(1, 2, 40, 20, 16, 24);  // keys of a mask that lie apart
  c.SetMask(Odd);
  c.desc.mask_row = 1;
  c.desc.mask_key = 40;
  c.CheckAgainstF64();
}

// An infinite value times a weight of 0 is NaN, whatever the mask says.
TEST(AttentionTest, ValuesThatAreNotFinite) {
  for (const float value : {kInfinity, -kInfinity, static_cast<float>(NAN)}) {
    Case c(1, 2, 60, 60, 8, 16);
    c.SetMask(Causal);
    c.values[7 * 60 + 50] = value;
    c.CheckAgainstF64();
  }
}

// Scores that the mask hides may be anything; those that it shows spread.
TEST(AttentionTest, KeysThatAreNotFinite) {
  Case c(1, 2, 60, 60, 8, 16);
  c.SetMask(Causal);
  c.key_array[50 * 16 + 3] = NAN;
  c.key_array[30 * 16 + 9] = kInfinity;
  c.CheckAgainstF64();
}

// A seen score so low that what the mask hides has a weight.
TEST(AttentionTest, LowScores) {
  Case c(1, 1, 30, 64, 4, 8);
  c.SetMask(Causal);
  c.desc.masked_bits = Bits(-50.f);
  for (float& q : c.queries) q = -30;
  for (float& k : c.key_array) k = 1.5f;  // scores of -45
  c.CheckAgainstF64();
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
