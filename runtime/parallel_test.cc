// Loops over the pool: every element once, whether its threads wait, sleep, or were told to rest.
#include "runtime/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>
#include <vector>

namespace hlokit {
namespace {

int64_t SumOfSquares(int64_t count) {
  std::atomic<int64_t> sum = 0;
  ParallelFor(nullptr, count, 1, [&](int64_t begin, int64_t end) {
    int64_t part = 0;
    for (int64_t i = begin; i < end; ++i) part += i * i;
    sum += part;
  });
  return sum;
}

TEST(ParallelTest, LoopsAfterARestAreWhole) {
  constexpr int64_t kCount = 1000, kExpected = kCount * (kCount - 1) * (2 * kCount - 1) / 6;
  for (int k = 0; k < 3000; ++k) {
    EXPECT_EQ(SumOfSquares(kCount), kExpected);
    if (k % 3 != 0) RestThreads();
    if (k % 100 == 0) std::this_thread::sleep_for(std::chrono::microseconds(k));
  }
}

TEST(ParallelTest, OneThreadRestsWhileAnotherWorks) {
  constexpr int64_t kCount = 500, kExpected = kCount * (kCount - 1) * (2 * kCount - 1) / 6;
  std::atomic<bool> done = false;
  std::thread resting([&] {
    while (!done) RestThreads();
  });
  for (int k = 0; k < 1000; ++k) EXPECT_EQ(SumOfSquares(kCount), kExpected);
  done = true;
  resting.join();
}

TEST(ParallelTest, LoopsOfARunAloneStayOnItsThread) {
  const std::thread::id here = std::this_thread::get_id();
  const auto strangers = [&] {
    std::atomic<int> count = 0;
    ParallelFor(nullptr, 512, 1,
                [&](int64_t, int64_t) { count += std::this_thread::get_id() != here; });
    return count.load();
  };
  {
    const ScopedAlone alone(true);
    EXPECT_TRUE(InParallelLoop());
    EXPECT_EQ(strangers(), 0);
    const ScopedAlone inner(false);
    EXPECT_EQ(strangers(), 0);
  }
  EXPECT_FALSE(InParallelLoop());
}

TEST(ParallelTest, LoopsInsideLoopsRunInPlace) {
  EXPECT_FALSE(InParallelLoop());
  std::vector<int> seen(64, 0);
  ParallelFor(nullptr, 8, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      ParallelFor(nullptr, 8, 1, [&](int64_t first, int64_t last) {
        for (int64_t j = first; j < last; ++j) ++seen[static_cast<size_t>(8 * i + j)];
      });
  });
  EXPECT_EQ(std::accumulate(seen.begin(), seen.end(), 0), 64);
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
