// Items go through infeed and outfeed in order, and wrong ones are refused.
#include "runtime/queues.h"

#include <memory>
#include <thread>

#include "gtest/gtest.h"
#include "runtime/context.h"

namespace hlokit {
namespace {

class QueuesTest : public testing::Test {
 protected:
  QueuesTest() { ctx.queues = queues.get(); }
  std::unique_ptr<HlokitQueues, void (*)(HlokitQueues*)> queues{hlokit_queues_create(),
                                                                hlokit_queues_destroy};
  HlokitRunContext ctx = {};
  const int64_t bytes[2] = {4, 1};
};

TEST_F(QueuesTest, InfeedWaitsForTheHost) {
  std::thread host([&] {
    for (int32_t i = 1; i <= 3; ++i) {
      const char c = static_cast<char>(i);
      const void* arrays[] = {&i, &c};
      hlokit_infeed_push(queues.get(), 2, arrays, bytes);
    }
  });
  for (int32_t want = 1; want <= 3; ++want) {
    int32_t i = 0;
    char c = 0;
    void* results[] = {&i, &c};
    hlokit_infeed(&ctx, 2, results, bytes);
    EXPECT_EQ(i, want);
    EXPECT_EQ(c, want);
  }
  host.join();
  EXPECT_EQ(ctx.failed, 0);
}

TEST_F(QueuesTest, OutfeedTellsSizesAndKeepsOrder) {
  int64_t sizes[2] = {};
  EXPECT_EQ(hlokit_outfeed_front(queues.get(), 2, sizes), -1);
  for (int32_t i : {7, 8}) {
    const void* operands[] = {&i, "x"};
    hlokit_outfeed(&ctx, 2, operands, bytes);
  }
  EXPECT_EQ(hlokit_outfeed_front(queues.get(), 2, sizes), 2);
  EXPECT_EQ(sizes[0], 4);
  int32_t i = 0;
  char c = 0;
  void* arrays[] = {&i, &c};
  EXPECT_EQ(hlokit_outfeed_pop(queues.get(), 1, arrays, bytes, 0), 0);  // wrong sizes: it stays
  EXPECT_EQ(hlokit_outfeed_pop(queues.get(), 2, arrays, bytes, 0), 1);
  EXPECT_EQ(i, 7);
  EXPECT_EQ(hlokit_outfeed_pop(queues.get(), 2, arrays, bytes, 0), 1);
  EXPECT_EQ(i, 8);
  EXPECT_EQ(hlokit_outfeed_pop(queues.get(), 2, arrays, bytes, 1), 0);
}

TEST_F(QueuesTest, WrongSizesCancelAndMissingQueuesAreErrors) {
  int32_t i = 5;
  const void* arrays[] = {&i};
  void* results[] = {&i};
  hlokit_infeed_push(queues.get(), 1, arrays, bytes);
  hlokit_infeed(&ctx, 1, results, bytes + 1);
  EXPECT_NE(std::string(ctx.error).find("infeed item"), std::string::npos);

  HlokitRunContext cancelled = {};
  const auto empty = std::unique_ptr<HlokitQueues, void (*)(HlokitQueues*)>(hlokit_queues_create(),
                                                                            hlokit_queues_destroy);
  cancelled.queues = empty.get();
  cancelled.cancelled = 1;
  hlokit_infeed(&cancelled, 1, results, bytes);
  EXPECT_EQ(cancelled.failed, 1);

  HlokitRunContext none = {};
  hlokit_outfeed(&none, 1, arrays, bytes);
  EXPECT_EQ(none.failed, 1);
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
