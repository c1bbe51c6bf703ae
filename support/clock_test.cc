// Time goes on, on every thread.
#include "support/clock.h"

#include <gtest/gtest.h>

#include "support/threads.h"

namespace hlokit {
namespace {

TEST(SteadySecondsTest, NeverGoesBack) {
  RunOnThreads(4, 4, [](int64_t) {
    double last = SteadySeconds();
    EXPECT_GE(last, 0);
    for (int i = 0; i < 10'000; ++i) {
      const double now = SteadySeconds();
      ASSERT_GE(now, last);
      last = now;
    }
  });
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
