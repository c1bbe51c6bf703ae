// Transforms against the definition, computed in extended precision.
#include "runtime/fft/fft.h"

#include <cmath>
#include <complex>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/context.h"

namespace hlokit {
namespace {

using Wide = std::complex<long double>;

// Transforms a dense [outer][n][inner] array along its middle dimension.
void PlainAxis(std::vector<Wide>& x, int64_t n, int64_t inner, int sign) {
  std::vector<Wide> roots(n), line(n);
  for (int64_t k = 0; k < n; ++k) roots[k] = std::polar(1.0L, sign * 2 * M_PIl * k / n);
  for (size_t start = 0; start < x.size(); ++start) {
    if (start / inner % n != 0) continue;
    for (int64_t k = 0; k < n; ++k) {
      line[k] = 0;
      for (int64_t j = 0; j < n; ++j) line[k] += x[start + j * inner] * roots[j * k % n];
    }
    for (int64_t k = 0; k < n; ++k)
      x[start + k * inner] = line[k] / (sign > 0 ? static_cast<long double>(n) : 1.0L);
  }
}

void PlainTransform(std::vector<Wide>& x, const std::vector<int64_t>& lengths, int sign) {
  int64_t inner = 1;
  for (size_t i = lengths.size(); i-- > 0; inner *= lengths[i])
    PlainAxis(x, lengths[i], inner, sign);
}

template <typename F>
void ExpectNear(const std::vector<Wide>& want, const std::vector<F>& got, bool real,
                const std::string& what) {
  long double error = 0, size = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    const Wide value = real ? Wide(got[i]) : Wide(got[2 * i], got[2 * i + 1]);
    error += std::norm(value - want[i]);
    size += std::norm(want[i]);
  }
  const long double relative = size == 0 ? error : sqrtl(error / size);
  EXPECT_LT(relative, sizeof(F) == 4 ? 4e-7L : 1e-15L) << what;
}

template <typename F>
void CheckLengths(int64_t batch, const std::vector<int64_t>& lengths) {
  const std::string what = testing::PrintToString(lengths);
  std::mt19937 random(static_cast<unsigned>(lengths[0]));
  std::normal_distribution<F> normal;
  const int64_t last = lengths.back(), kept = last / 2 + 1;
  int64_t rows = batch;
  for (size_t i = 0; i + 1 < lengths.size(); ++i) rows *= lengths[i];
  HlokitFftDesc d = {HLOKIT_FFT, sizeof(F) == 8, batch, static_cast<int64_t>(lengths.size()), {}};
  std::copy(lengths.begin(), lengths.end(), d.length);
  HlokitRunContext ctx = {};
  for (int sign : {-1, 1}) {
    std::vector<F> x(2 * rows * last), y(x.size());
    std::vector<Wide> want(rows * last);
    for (F& v : x) v = normal(random);
    for (size_t i = 0; i < want.size(); ++i) want[i] = Wide(x[2 * i], x[2 * i + 1]);
    PlainTransform(want, lengths, sign);
    d.fft_type = sign < 0 ? HLOKIT_FFT : HLOKIT_IFFT;
    hlokit_fft(&ctx, &d, x.data(), y.data());
    ExpectNear(want, y, false, what);
    hlokit_fft(&ctx, &d, x.data(), x.data());
    EXPECT_EQ(x, y) << what;
  }
  std::vector<F> x(rows * last), y(2 * rows * kept), back(x.size());
  std::vector<Wide> full(rows * last), want(rows * kept);
  for (size_t i = 0; i < x.size(); ++i) full[i] = x[i] = normal(random);
  PlainTransform(full, lengths, -1);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t k = 0; k < kept; ++k) want[r * kept + k] = full[r * last + k];
  }
  d.fft_type = HLOKIT_RFFT;
  hlokit_fft(&ctx, &d, x.data(), y.data());
  ExpectNear(want, y, false, "real " + what);
  d.fft_type = HLOKIT_IRFFT;
  hlokit_fft(&ctx, &d, y.data(), back.data());
  ExpectNear(std::vector<Wide>(x.begin(), x.end()), back, true, "back " + what);
  EXPECT_EQ(ctx.failed, 0) << ctx.error;
}

TEST(FftTest, AllShortLengths) {
  for (int64_t n = 1; n <= 70; ++n) {
    CheckLengths<float>(n % 20 + 1, {n});
    CheckLengths<double>(n % 3 + 1, {n});
  }
}

TEST(FftTest, LongLengths) {
  for (int64_t n : {243, 343, 509, 1000, 1024}) {
    CheckLengths<float>(1, {n});
    CheckLengths<double>(1, {n});
  }
}

TEST(FftTest, SeveralDimensions) {
  for (const auto& lengths : std::vector<std::vector<int64_t>>{
           {4, 6}, {16, 16}, {3, 6, 4}, {2, 17, 5}, {7, 1}, {40, 33}}) {
    CheckLengths<float>(3, lengths);
    CheckLengths<double>(1, lengths);
  }
}

TEST(FftTest, IgnoresImaginaryPartsThatRealsCannotHave) {
  const float x[] = {1, 5, 2, 0, 3, 7}, y[] = {1, 0, 2, 0, 3, 0};
  float from_x[4], from_y[4];
  const HlokitFftDesc d = {HLOKIT_IRFFT, 0, 1, 1, {4}};
  hlokit_fft(nullptr, &d, x, from_x);
  hlokit_fft(nullptr, &d, y, from_y);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(from_x[i], from_y[i]);
}

TEST(FftTest, RefusesRankFour) {
  HlokitRunContext ctx = {};
  const HlokitFftDesc d = {HLOKIT_FFT, 0, 1, 4, {1, 1, 1}};
  hlokit_fft(&ctx, &d, nullptr, nullptr);
  EXPECT_EQ(ctx.failed, 1);
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
