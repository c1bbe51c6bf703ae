// Dots against a plain triple loop, over layouts, sizes and types.
#include "runtime/dot/dot.h"

#include <complex>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/context.h"

namespace hlokit {
namespace {

template <typename T>
struct TypeOf;
template <>
struct TypeOf<float> {
  static constexpr int64_t kType = HLOKIT_F32;
};
template <>
struct TypeOf<double> {
  static constexpr int64_t kType = HLOKIT_F64;
};
template <>
struct TypeOf<Bfloat16> {
  static constexpr int64_t kType = HLOKIT_BF16;
};
template <>
struct TypeOf<Half> {
  static constexpr int64_t kType = HLOKIT_F16;
};
template <>
struct TypeOf<int8_t> {
  static constexpr int64_t kType = HLOKIT_S8;
};
template <>
struct TypeOf<uint8_t> {
  static constexpr int64_t kType = HLOKIT_U8;
};
template <>
struct TypeOf<int32_t> {
  static constexpr int64_t kType = HLOKIT_S32;
};
template <>
struct TypeOf<uint64_t> {
  static constexpr int64_t kType = HLOKIT_U64;
};
template <>
struct TypeOf<std::complex<float>> {
  static constexpr int64_t kType = HLOKIT_C64;
};
template <>
struct TypeOf<std::complex<double>> {
  static constexpr int64_t kType = HLOKIT_C128;
};

// Small integers: every sum is exact in every type, so results must be equal.
template <typename T>
T Make(int value) {
  if constexpr (std::is_same_v<T, Bfloat16>)
    return ToBfloat16(value);
  else if constexpr (std::is_same_v<T, Half>)
    return ToHalf(value);
  else if constexpr (std::is_same_v<T, std::complex<float>> ||
                     std::is_same_v<T, std::complex<double>>)
    return T(value, (value * 7) % 3);
  else
    return static_cast<T>(value);
}
template <typename T>
auto Wide(T value) {
  if constexpr (std::is_same_v<T, Bfloat16> || std::is_same_v<T, Half>)
    return ToFloat(value);
  else
    return value;
}

// Dims in the order of HlokitDotDesc; arrays are as large as the strides reach.
template <typename In, typename Out, typename Rhs = In>
void CheckDot(std::vector<HlokitDotDim> dims, int batch, int rows, int cols, int range) {
  int64_t lhs_size = 1, rhs_size = 1, out_size = 1;
  bool empty_out = false;
  HlokitDotDesc desc = {TypeOf<In>::kType,
                        TypeOf<Rhs>::kType,
                        TypeOf<Out>::kType,
                        batch,
                        rows,
                        cols,
                        static_cast<int64_t>(dims.size()) - batch - rows - cols,
                        {}};
  for (size_t i = 0; i < dims.size(); ++i) {
    desc.dims[i] = dims[i];
    lhs_size += (dims[i].size - 1) * dims[i].lhs;
    rhs_size += (dims[i].size - 1) * dims[i].rhs;
    out_size += (dims[i].size - 1) * dims[i].out;
    empty_out |= dims[i].size == 0 && static_cast<int>(i) < batch + rows + cols;
  }
  std::mt19937 random(7);
  auto draw = [&] { return static_cast<int>(random() % (2 * range + 1)) - range; };
  std::vector<In> lhs(std::max<int64_t>(lhs_size, 1));
  std::vector<Rhs> rhs(std::max<int64_t>(rhs_size, 1));
  for (In& x : lhs) x = Make<In>(draw());
  for (Rhs& x : rhs) x = Make<Rhs>(draw());
  std::vector<Out> out(std::max<int64_t>(out_size, 1), Make<Out>(77));
  HlokitRunContext ctx = {};
  hlokit_dot(&ctx, &desc, lhs.data(), rhs.data(), out.data());
  ASSERT_EQ(ctx.failed, 0) << ctx.error;
  if (empty_out) return;

  std::vector<int64_t> index(dims.size(), 0);
  const size_t kept = batch + rows + cols;
  for (bool more = true; more;) {
    int64_t l = 0, r = 0, o = 0, sum_count = 1;
    for (size_t i = 0; i < kept; ++i) {
      l += index[i] * dims[i].lhs, r += index[i] * dims[i].rhs, o += index[i] * dims[i].out;
    }
    for (size_t i = kept; i < dims.size(); ++i) sum_count *= dims[i].size;
    decltype(Wide(Out())) want = {};
    for (int64_t s = 0; s < sum_count; ++s) {
      int64_t rest = s, ls = l, rs = r;
      for (size_t i = dims.size(); i-- > kept;) {
        ls += rest % dims[i].size * dims[i].lhs, rs += rest % dims[i].size * dims[i].rhs;
        rest /= dims[i].size;
      }
      want +=
          static_cast<decltype(want)>(Wide(lhs[ls])) * static_cast<decltype(want)>(Wide(rhs[rs]));
    }
    ASSERT_EQ(Wide(out[o]), want) << "at " << o;
    more = false;
    for (size_t i = kept; i-- > 0;) {
      if (++index[i] < dims[i].size) {
        more = true;
        break;
      }
      index[i] = 0;
    }
  }
}

template <typename In, typename Out, typename Rhs = In>
void CheckMatrices(int range) {
  const int64_t sizes[][3] = {{1, 1, 1},     {1, 70, 300},  {3, 200, 9},  {5, 1, 17},
                              {14, 32, 256}, {15, 33, 257}, {64, 3, 0},   {0, 4, 4},
                              {33, 129, 70}, {130, 7, 20},  {28, 600, 5}, {2, 5, 600},
                              {7, 31, 200},  {16, 9, 1030}, {30, 48, 40},  // whole vectors and
                              {15, 40, 1100}};  // parts of one behind the last whole tile
  for (const auto& [m, n, k] : sizes) {
    CheckDot<In, Out, Rhs>({{m, k, 0, n}, {n, 0, 1, 1}, {k, 1, n, 0}}, 0, 1, 1,
                           range);  // all row-major
    CheckDot<In, Out, Rhs>({{m, 1, 0, n}, {n, 0, k, 1}, {k, m, 1, 0}}, 0, 1, 1,
                           range);  // both transposed
    CheckDot<In, Out, Rhs>({{m, k, 0, 1}, {n, 0, 1, m}, {k, 1, n, 0}}, 0, 1, 1,
                           range);  // out by columns
    CheckDot<In, Out, Rhs>({{m, 2 * k, 0, 2 * n}, {n, 0, 3, 2}, {k, 2, 3 * n, 0}}, 0, 1, 1,
                           range);  // gaps
  }
}

TEST(DotTest, F32) { CheckMatrices<float, float>(3); }
TEST(DotTest, F64) { CheckMatrices<double, double>(3); }
TEST(DotTest, Bf16ToF32) { CheckMatrices<Bfloat16, float>(3); }
TEST(DotTest, Bf16) { CheckMatrices<Bfloat16, Bfloat16>(1); }
TEST(DotTest, F16) { CheckMatrices<Half, Half>(1); }
TEST(DotTest, S8ToS32) { CheckMatrices<int8_t, int32_t>(128); }
TEST(DotTest, U8ToS32) { CheckMatrices<uint8_t, int32_t>(255); }
TEST(DotTest, U8ByS8) { CheckMatrices<uint8_t, int32_t, int8_t>(255); }
TEST(DotTest, S8ByU8) { CheckMatrices<int8_t, int32_t, uint8_t>(255); }
TEST(DotTest, S8Wraps) { CheckMatrices<int8_t, int8_t>(3); }
TEST(DotTest, U64) { CheckMatrices<uint64_t, uint64_t>(1000); }
TEST(DotTest, C64) { CheckMatrices<std::complex<float>, std::complex<float>>(3); }
TEST(DotTest, C128) { CheckMatrices<std::complex<double>, std::complex<double>>(3); }

TEST(DotTest, ManyDimensions) {
  // batch 2 x 3; rows 4 x 5 that do not merge; columns 6 x 2; sums 3 x 7
  const std::vector<HlokitDotDim> dims = {{2, 1260, 1512, 1440}, {3, 420, 504, 480 / 2},  // batch
                                          {4, 5, 0, 60},         {5, 1, 0, 1},            // rows
                                          {6, 0, 1, 10},         {2, 0, 6, 5},            // columns
                                          {3, 140, 12, 0},       {7, 20, 72 / 2, 0}};     // sums
  CheckDot<float, float>(dims, 2, 2, 2, 3);
  CheckDot<Half, float>(dims, 2, 2, 2, 3);
  CheckDot<std::complex<float>, std::complex<float>>(dims, 2, 2, 2, 3);
}

// The first tile of each panel packs it; two slabs, the last panel narrower.
TEST(DotTest, FewRowsPackAsTheyGo) {
  const int64_t m = 45, n = 205, k = 1030;
  CheckDot<float, float>({{m, k, 0, n}, {n, 0, 1, 1}, {k, 1, n, 0}}, 0, 1, 1, 3);
  CheckDot<float, Bfloat16>({{m, k, 0, n}, {n, 0, 1, 1}, {k, 1, n, 0}}, 0, 1, 1, 1);
  CheckDot<float, float>({{m, k, 0, n}, {n, 0, 1, 1}, {k, 1, n + 7, 0}}, 0, 1, 1, 3);
}

// B comes from memory: few rows read it in place, run by run; more rows pack the panels that come
// next. Three slabs of parts of 512, or one; the last panel narrower; rows of B apart.
TEST(DotTest, FewRowsReadLongRowsAheadOfTime) {
  for (const int64_t m : {2, 7, 14, 20, 28, 45}) {
    for (const auto& [n, k] : {std::pair<int64_t, int64_t>{509, 1100}, {1600, 335}}) {
      CheckDot<float, float>({{m, k, 0, n}, {n, 0, 1, 1}, {k, 1, n + 3, 0}}, 0, 1, 1, 3);
      CheckDot<float, Bfloat16, Bfloat16>({{m, k, 0, 1}, {n, 0, 1, m}, {k, 1, n + 3, 0}}, 0, 1, 1,
                                          1);
    }
  }
}

// Pairs of bf16 likewise: an odd depth is packed ahead, and a few rows are one tile.
TEST(DotTest, FewRowsOfPairsPackAsTheyGo) {
  const int64_t n = 300;
  for (const int64_t m : {4, 5, 20, 45}) {
    for (const int64_t k : {64, 1030, 1031, 2100}) {
      CheckDot<Bfloat16, float>({{m, k, 0, n}, {n, 0, 1, 1}, {k, 1, n + 2, 0}}, 0, 1, 1, 3);
      CheckDot<Bfloat16, float>({{m, 1, 0, n}, {n, 0, 1, 1}, {k, m, n, 0}}, 0, 1, 1, 3);
    }
  }
}

// The same where rows of A lie a page apart, so that each thread packs A, and where they do not.
TEST(DotTest, FewRowsGiveTheSameBitsForAnyNumberOfThreads) {
  for (const auto& [m, k] : {std::pair<int64_t, int64_t>{45, 1024}, {45, 1030}, {12, 1030}}) {
    const int64_t n = 300;
    std::mt19937 random(3);
    std::uniform_real_distribution<float> draw(-1, 1);
    std::vector<float> lhs(m * k), rhs(k * n), one(m * n), more(m * n);
    for (float& x : lhs) x = draw(random);
    for (float& x : rhs) x = draw(random);
    const HlokitDotDesc desc = {
        HLOKIT_F32, HLOKIT_F32, HLOKIT_F32, 0, 1, 1, 1, {{m, k, 0, n}, {n, 0, 1, 1}, {k, 1, n, 0}}};
    HlokitRunContext ctx = {};
    ctx.num_threads = 1;
    hlokit_dot(&ctx, &desc, lhs.data(), rhs.data(), one.data());
    for (int threads = 2; threads <= 4; ++threads) {
      ctx.num_threads = threads;
      hlokit_dot(&ctx, &desc, lhs.data(), rhs.data(), more.data());
      EXPECT_EQ(one, more) << threads << " threads, depth " << k;
    }
    ASSERT_EQ(ctx.failed, 0) << ctx.error;
  }
}

// Columns that lie along the summed dimension: read where they lie by few rows, else transposed.
TEST(DotTest, ColumnsAlongTheSum) {
  for (const int64_t m : {1, 3, 7, 8, 9, 20, 61, 64, 65}) {
    for (const int64_t k : {64, 77, 1040}) {
      const int64_t n = 75;
      CheckDot<float, float>({{m, k, 0, n}, {n, 0, k, 1}, {k, 1, 1, 0}}, 0, 1, 1, 3);
      CheckDot<double, double>({{m, k, 0, n}, {n, 0, k, 1}, {k, 1, 1, 0}}, 0, 1, 1, 3);
      CheckDot<Bfloat16, float>({{m, k, 0, n}, {n, 0, k + 2, 1}, {k, 1, 1, 0}}, 0, 1, 1, 3);
      CheckDot<Half, float>({{m, 1, 0, n}, {n, 0, k, 1}, {k, m, 1, 0}}, 0, 1, 1, 3);
    }
  }
}

TEST(DotTest, ManySmallBatches) {
  CheckDot<float, float>({{1000, 12, 20, 15}, {3, 4, 0, 5}, {5, 0, 1, 1}, {4, 1, 5, 0}}, 1, 1, 1,
                         3);
}

TEST(DotTest, RefusesMixOfFloatAndInteger) {
  HlokitDotDesc desc = {
      HLOKIT_F32, HLOKIT_S32, HLOKIT_F32, 0, 1, 1, 1, {{1, 1, 0, 1}, {1, 0, 1, 1}, {1, 1, 1, 0}}};
  float x = 1, out = 5;
  HlokitRunContext ctx = {};
  hlokit_dot(&ctx, &desc, &x, &x, &out);
  EXPECT_EQ(ctx.failed, 1);
  EXPECT_EQ(out, 5);
}

TEST(DotTest, SumsOfBfloat16RoundOnce) {
  const int64_t k = 1000;  // more than one slab
  std::vector<Bfloat16> ones(k, ToBfloat16(1));
  Bfloat16 out;
  HlokitDotDesc desc = {
      HLOKIT_BF16, HLOKIT_BF16, HLOKIT_BF16, 0,
      1,           1,           1,           {{1, k, 0, 1}, {1, 0, 1, 1}, {k, 1, 1, 0}}};
  HlokitRunContext ctx = {};
  hlokit_dot(&ctx, &desc, ones.data(), ones.data(), &out);
  EXPECT_EQ(ToFloat(out), 1000.0f);
}

TEST(ElementTest, HalfRoundTrips) {
  for (int bits = 0; bits < 0x10000; ++bits) {
    const Half half{static_cast<uint16_t>(bits)};
    if ((bits & 0x7c00) == 0x7c00 && (bits & 0x3ff) != 0) continue;  // NaN
    EXPECT_EQ(ToHalf(ToFloat(half)).bits, bits);
    const Bfloat16 wide{static_cast<uint16_t>(bits)};
    if ((bits & 0x7f80) == 0x7f80 && (bits & 0x7f) != 0) continue;
    EXPECT_EQ(ToBfloat16(ToFloat(wide)).bits, bits);
  }
  EXPECT_EQ(ToHalf(65519.0f).bits, 0x7bff);
  EXPECT_EQ(ToHalf(65520.0f).bits, 0x7c00);
  EXPECT_EQ(ToHalf(0x1p-25f).bits, 0);    // a tie, to even
  EXPECT_EQ(ToHalf(0x1.8p-24f).bits, 2);  // a tie, to even
  EXPECT_EQ(ToHalf(2049.0f).bits, ToHalf(2048.0f).bits);
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
