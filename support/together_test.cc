// Calls that run at the same time, on threads that are used again.
#include "support/together.h"

#include <cfenv>

#include "gtest/gtest.h"
#include "support/testing_internal.h"

namespace hlokit {
namespace {

// Each waits until all have come.
bool AllMeetAtOnce(int64_t count) {
  std::atomic<int64_t> here = 0;
  return RunTogether(count, [&](int64_t) {
    ++here;
    while (here < count) std::this_thread::yield();
  });
}

TEST(TogetherTest, TogetherOrNotAtAll) {
  EXPECT_TRUE(HoldsWithThreads("7", [] { return AllMeetAtOnce(8); }));
  EXPECT_TRUE(HoldsWithThreads("0", [] { return AllMeetAtOnce(1); }));
  EXPECT_TRUE(HoldsWithThreads("6", [] {
    std::atomic<int> calls = 0;
    return !RunTogether(8, [&](int64_t) { ++calls; }) && calls == 0;
  }));
}

// Seven threads are all that there will ever be: each run takes those of the one before.
TEST(TogetherTest, ThreadsAreUsedAgain) {
  EXPECT_TRUE(HoldsWithThreads("7", [] {
    for (int run = 0; run < 100; ++run)
      if (!AllMeetAtOnce(2 + run % 7)) return false;
    return true;
  }));
}

TEST(TogetherTest, RunsWithinRunsHaveThreadsOfTheirOwn) {
  EXPECT_TRUE(HoldsWithThreads("5", [] {  // one, and two for each of two
    for (int run = 0; run < 20; ++run) {
      std::atomic<int> inner = 0;
      std::atomic<bool> all = true;
      if (!RunTogether(2, [&](int64_t) {
            if (!RunTogether(3, [&](int64_t) { ++inner; })) all = false;
          }))
        return false;
      if (!all || inner != 6) return false;
    }
    return true;
  }));
}

TEST(TogetherTest, AForkedChildStartsItsOwn) {
  ASSERT_TRUE(AllMeetAtOnce(4));
  EXPECT_TRUE(HoldsWithThreads("1000", [] { return AllMeetAtOnce(4) && AllMeetAtOnce(6); }));
  EXPECT_TRUE(AllMeetAtOnce(4));
}

TEST(TogetherTest, TheCallersRoundingHolds) {
  ASSERT_TRUE(RunTogether(3, [](int64_t) {}));  // parked with the default
  std::fesetround(FE_UPWARD);
  std::atomic<int> upward = 0;
  ASSERT_TRUE(RunTogether(3, [&](int64_t) { upward += std::fegetround() == FE_UPWARD; }));
  std::fesetround(FE_TONEAREST);
  EXPECT_EQ(upward, 3);
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
