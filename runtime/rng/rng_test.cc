// Random bits against words recorded from XLA's CPU (JAX 0.10.2), and distributions against their
// moments.
#include "runtime/rng/rng.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/context.h"

namespace hlokit {
namespace {

constexpr uint64_t kKey = 0x123456789abcdef0, kCounter = 0xfffffffffffffffe;

template <typename T>
struct Case {
  HlokitRngAlgorithm algorithm;
  std::vector<int64_t> dims;
  uint64_t new_counter;
  std::vector<T> first;  // elements of the result, from the first on
};

template <typename T>
void CheckBits(const Case<T>& c) {
  HlokitRngBitsDesc d = {c.algorithm, 2, sizeof(T), static_cast<int64_t>(c.dims.size()), {}};
  int64_t count = 1;
  for (size_t i = 0; i < c.dims.size(); ++i) d.dims[i] = c.dims[i], count *= c.dims[i];
  std::vector<T> out(count);
  uint64_t state[2] = {kKey, kCounter};
  HlokitRunContext ctx = {};
  hlokit_rng_bits(&ctx, &d, state, state, out.data());
  EXPECT_EQ(ctx.failed, 0) << ctx.error;
  EXPECT_EQ(state[0], kKey);
  EXPECT_EQ(state[1], c.new_counter);
  out.resize(c.first.size());
  EXPECT_EQ(out, c.first);
}

TEST(RngBitsTest, Philox) {
  CheckBits<uint32_t>({HLOKIT_RNG_PHILOX,
                       {3, 4},
                       1,
                       {0xbbd856ff, 0xb795d4a1, 0x9db4dbb7, 0xb129d7a7, 0x583ddf1e, 0xb3bb590c,
                        0xea99e9da, 0x40230b26, 0x102d8cf3, 0x2012dc06, 0xe29031fe, 0xb33c65fe}});
  CheckBits<uint64_t>(
      {HLOKIT_RNG_DEFAULT,
       {7},
       2,
       {0xb795d4a1bbd856ff, 0xb129d7a79db4dbb7, 0xb3bb590c583ddf1e, 0x40230b26ea99e9da,
        0x2012dc06102d8cf3, 0xb33c65fee29031fe, 0xaa1b32c099f81036}});
  CheckBits<uint8_t>({HLOKIT_RNG_DEFAULT, {7}, 0, {0xff, 0xa1, 0xb7, 0xa7, 0x1e, 0x0c, 0xda}});
  CheckBits<uint16_t>(
      {HLOKIT_RNG_PHILOX, {7}, 0, {0x56ff, 0xd4a1, 0xdbb7, 0xd7a7, 0xdf1e, 0x590c, 0xe9da}});
}

TEST(RngBitsTest, PhiloxWithLongCounter) {
  const HlokitRngBitsDesc d = {HLOKIT_RNG_PHILOX, 3, 4, 1, {8}};
  const uint64_t state[3] = {0x123456789abcdef, ~uint64_t{0}, 7};
  uint64_t next[3];
  std::vector<uint32_t> out(8);
  hlokit_rng_bits(nullptr, &d, state, next, out.data());
  EXPECT_EQ(out, (std::vector<uint32_t>{0xd8f2cea1, 0xeffe4af4, 0xc8f46167, 0xb27e7792, 0x90740ddf,
                                        0x5bcc659, 0x5409f86c, 0x1f676bc2}));
  EXPECT_EQ(next[1], 1u);
  EXPECT_EQ(next[2], 8u);
}

TEST(RngBitsTest, ThreeFry) {
  CheckBits<uint32_t>(
      {HLOKIT_RNG_THREE_FRY,
       {7},
       2,
       {0x3c3b507a, 0x7093e72c, 0xa4317ba7, 0x21f1aaca, 0x5eff803d, 0x4ce380f9, 0x394bdefc}});
  CheckBits<uint32_t>({HLOKIT_RNG_THREE_FRY,
                       {5, 3},
                       7,
                       {0x3c3b507a, 0xa4317ba7, 0x5eff803d, 0x7093e72c, 0x21f1aaca, 0x4ce380f9,
                        0x394bdefc, 0x523f5786, 0x553d0168, 0x64dfd0ae, 0x4028dd8d, 0xe364850a}});
  CheckBits<uint32_t>({HLOKIT_RNG_THREE_FRY,
                       {3, 4},
                       4,
                       {0x3c3b507a, 0x7093e72c, 0xa4317ba7, 0x21f1aaca, 0x5eff803d, 0x4ce380f9,
                        0x394bdefc, 0x64dfd0ae, 0x523f5786, 0x4028dd8d, 0x553d0168, 0xe364850a}});
  CheckBits<uint64_t>(
      {HLOKIT_RNG_THREE_FRY,
       {5, 3},
       13,
       {0x7093e72c3c3b507a, 0x21f1aacaa4317ba7, 0x4ce380f95eff803d, 0x64dfd0ae394bdefc}});
  CheckBits<uint16_t>({HLOKIT_RNG_THREE_FRY,
                       {2, 3, 5},
                       13,
                       {0x507a, 0x7ba7, 0x803d, 0xdefc, 0x5786, 0x0168, 0x0015}});
  CheckBits<uint32_t>({HLOKIT_RNG_THREE_FRY, {}, kCounter + 1, {0x3c3b507a}});
}

TEST(RngBitsTest, LongStreamsEqualTheirParts) {
  for (int64_t algorithm : {HLOKIT_RNG_PHILOX, HLOKIT_RNG_THREE_FRY}) {
    const int64_t total = 300000, part = 3000;  // even halves of whole blocks
    std::vector<uint64_t> whole(total), parts(total);
    const uint64_t start[2] = {kKey, kCounter - 100};
    uint64_t state[2] = {start[0], start[1]}, end[2];
    const HlokitRngBitsDesc d = {algorithm, 2, 8, 1, {total}}, p = {algorithm, 2, 8, 1, {part}};
    hlokit_rng_bits(nullptr, &d, start, end, whole.data());
    // With two words the high half of Philox's counter is the key: a carry into it is lost between
    // calls.
    const int64_t checked = algorithm == HLOKIT_RNG_PHILOX ? part : total;
    for (int64_t i = 0; i < checked; i += part)
      hlokit_rng_bits(nullptr, &p, state, state, &parts[i]);
    whole.resize(checked), parts.resize(checked);
    EXPECT_EQ(whole, parts) << algorithm;
  }
}

TEST(RngTest, UniformAndNormalMoments) {
  const int64_t count = 200000;
  for (int64_t distribution : {HLOKIT_RNG_UNIFORM, HLOKIT_RNG_NORMAL}) {
    HlokitRunContext ctx = {};
    std::vector<double> out(count);
    const double a = -1, b = 3;
    hlokit_rng(&ctx, distribution, HLOKIT_F64, count, &a, &b, out.data());
    double sum = 0, squares = 0;
    for (double x : out) {
      sum += x, squares += x * x;
      ASSERT_TRUE(distribution != HLOKIT_RNG_UNIFORM || (x >= a && x < b));
    }
    const double mean = sum / count, variance = squares / count - mean * mean;
    EXPECT_NEAR(mean, distribution == HLOKIT_RNG_UNIFORM ? 1 : -1, 0.03);
    EXPECT_NEAR(variance, distribution == HLOKIT_RNG_UNIFORM ? 16.0 / 12 : 9, 0.1);
    EXPECT_EQ(ctx.rng_state[0], static_cast<uint64_t>(count / 2));
  }
}

TEST(RngTest, IntegersCoverTheirRangeAndNarrowFloatsStayBelow) {
  HlokitRunContext ctx = {};
  std::vector<int8_t> out(10000);
  const int8_t a = -5, b = 4;
  hlokit_rng(&ctx, HLOKIT_RNG_UNIFORM, HLOKIT_S8, 10000, &a, &b, out.data());
  int seen[9] = {};
  for (int8_t x : out) {
    ASSERT_TRUE(x >= a && x < b);
    ++seen[x - a];
  }
  for (int n : seen) EXPECT_NEAR(n, 10000 / 9, 200);
  std::vector<Bfloat16> narrow(10000);
  const Bfloat16 zero = ToBfloat16(0), one = ToBfloat16(1);
  hlokit_rng(&ctx, HLOKIT_RNG_UNIFORM, HLOKIT_BF16, 10000, &zero, &one, narrow.data());
  for (Bfloat16 x : narrow) ASSERT_LT(ToFloat(x), 1.0f);
}

TEST(RngTest, StateStartsAsXlaAndCounts) {
  HlokitRunContext ctx = {};
  uint64_t state[2];
  hlokit_rng_get_and_update_state(&ctx, 5, state);
  EXPECT_EQ(state[0], 0x7012395u);
  hlokit_rng_get_and_update_state(&ctx, 1, state);
  EXPECT_EQ(state[0], 0x701239au);
  EXPECT_EQ(state[1], 0u);
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
