// Lanes: order, waiting, and what a lane that is full does to its callers.
#include "pjrt/background.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace hlokit {
namespace {

TEST(RecentTimeTest, TheLeastCountsUntilRunsBecomeLong) {
  RecentTime recent;
  EXPECT_FALSE(recent.IsShort());
  recent.Note(5e-3, false);  // the first touches its memory
  EXPECT_FALSE(recent.IsShort());
  recent.Note(50e-6, false);
  EXPECT_TRUE(recent.IsShort());
  recent.Note(1e-3, true);  // the machine was busy
  EXPECT_TRUE(recent.IsShort());
  for (int run = 0; run < 100; ++run) recent.Note(1e-3, false);
  EXPECT_FALSE(recent.IsShort());
}

// Whether it runs alone after some runs either way of these times.
bool AloneAfter(double together, double alone) {
  RecentTime recent;
  for (int run = 0; run < 8; ++run) {
    EXPECT_FALSE(recent.RunsAlone());
    recent.Note(together, false);
  }
  for (int run = 0; run < 8; ++run) {
    EXPECT_TRUE(recent.RunsAlone());
    recent.Note(alone, true);
  }
  EXPECT_TRUE(recent.IsShort());
  return recent.RunsAlone();
}

TEST(RecentTimeTest, RunsThatManyCoresMakeShortUseThem) {
  EXPECT_TRUE(AloneAfter(50e-6, 60e-6));
  EXPECT_FALSE(AloneAfter(50e-6, 1e-3));
}

TEST(BackgroundTest, ALaneKeepsTheOrder) {
  std::vector<int> seen;  // by one lane alone
  const int lane = QuietestLane();
  for (int i = 0; i < 200; ++i) RunInBackground([&seen, i] { seen.push_back(i); }, lane);
  AwaitBackground();
  ASSERT_EQ(seen.size(), 200u);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(seen[static_cast<size_t>(i)], i);
}

// A lane that is busy is not the quietest where there are several.
TEST(BackgroundTest, GoesOnWhileTheCallerDoes) {
  std::mutex held;
  std::atomic<bool> ran = false;
  held.lock();
  const int busy = QuietestLane();
  RunInBackground(
      [&] {
        const std::lock_guard<std::mutex> lock(held);
        ran = true;
      },
      busy);
  if (std::thread::hardware_concurrency() > 1) {
    EXPECT_NE(QuietestLane(), busy);
  }
  EXPECT_FALSE(ran);
  held.unlock();
  AwaitBackground();
  EXPECT_TRUE(ran);
}

TEST(BackgroundTest, TakesTasksOfManyThreads) {
  std::atomic<int> count = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 16; ++t)
    threads.emplace_back([&count] {
      for (int i = 0; i < 100; ++i) RunInBackground([&count] { ++count; }, QuietestLane());
    });
  for (std::thread& thread : threads) thread.join();
  AwaitBackground();
  EXPECT_EQ(count, 1600);
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
