// Work on as many threads as there are.
#include "support/threads.h"

#include <pthread.h>

#include "gtest/gtest.h"
#include "support/testing_internal.h"

namespace hlokit {
namespace {

bool EachOnce(int threads) {
  std::vector<std::atomic<int>> calls(100);
  RunOnThreads(threads, 100, [&](int64_t i) { ++calls[static_cast<size_t>(i)]; });
  for (const auto& count : calls)
    if (count != 1) return false;
  return true;
}

TEST(ThreadsTest, WorkIsDoneOnceOnAnyNumberOfThreads) {
  for (const char* most : {"0", "1", "3", "1000"})
    for (const int threads : {1, 2, 8, 200})
      EXPECT_TRUE(HoldsWithThreads(most, [&] { return EachOnce(threads); }))
          << most << " " << threads;
}

// What the system itself refuses: a stack as large as all addresses.
TEST(ThreadsTest, TheSystemMayRefuse) {
  EXPECT_TRUE(HoldsWithThreads("100000", [] {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, size_t{1} << 47);
    pthread_setattr_default_np(&attributes);
    ThreadTeam team;
    return !team.Start([] {}) && EachOnce(4);
  }));
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
