// Kernels run no more threads than their elements need.
#include "backends/cuda/gpu_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/substitute.h"
#include "backends/cuda/kernel_testing_internal.h"

namespace hlokit {
namespace {

std::string Sum(int64_t elements) {
  return absl::Substitute(R"(HloModule m
ENTRY e {
  x = f32[$0] parameter(0)
  y = f32[$0] parameter(1)
  ROOT s = f32[$0] add(x, y)
})",
                          elements);
}

TEST(GpuKernelsTest, GridsCoverTheirUnits) {
  for (int64_t units = 1; units < 5000; ++units) {
    const GpuGrid grid = GridOf(units);
    ASSERT_GE(grid.Threads(), units);
    ASSERT_LT(grid.Threads() - units, 128);  // idle
    if (units > 256) {
      ASSERT_EQ(grid.threads % 32, 0);
    }
    if (units % 256 == 0) {
      ASSERT_EQ(grid.threads, 256);  // blocks that work together count on it
    }
  }
  EXPECT_EQ(GridOf(1).threads, 1);
  EXPECT_EQ(GridOf(7).threads, 7);
  EXPECT_EQ(GridOf(448).threads, 224);
  EXPECT_EQ(GridOf(int64_t{1} << 40).blocks, int64_t{1} << 32);
}

// Without a limit where the grid is exact, without the block's number where there is one.
TEST(GpuKernelsTest, NothingIsAskedThatIsKnown) {
  const std::string one = PtxForTest(Sum(7)), exact = PtxForTest(Sum(448)),
                    uneven = PtxForTest(Sum(257));
  EXPECT_THAT(one, testing::HasSubstr(".reqntid 7, 1, 1"));
  EXPECT_THAT(one, testing::Not(testing::ContainsRegex("setp|ctaid")));
  EXPECT_THAT(exact, testing::HasSubstr(".reqntid 224, 1, 1"));
  EXPECT_THAT(exact, testing::Not(testing::HasSubstr("setp")));
  EXPECT_THAT(exact, testing::HasSubstr("ctaid"));
  EXPECT_THAT(uneven, testing::HasSubstr("setp"));
}

TEST(GpuKernelsTest, ValuesOfEachGrid) {
  for (const int64_t elements : {1, 7, 33, 255, 256, 257, 448, 1000, 1023})
    CheckOnSimulator(Sum(elements), 0);
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
