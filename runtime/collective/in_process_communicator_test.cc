// Collectives of threads: values, the order of sums, functions of all members, barriers, ends.
#include "runtime/collective/in_process_communicator.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstring>

#include "runtime/collective/testing_internal.h"
#include "support/together.h"

namespace hlokit {
namespace {

using End = Communicator::End;

using Call = std::function<End(Communicator& communicator, const Communicator::Part& part)>;

// One row of floats a device to start with. Each device's result, as `call` leaves it.
std::vector<std::vector<float>> Results(const std::vector<std::vector<float>>& operands,
                                        const std::vector<int64_t>& group, size_t result_size,
                                        const Call& call, std::vector<End>* ends = nullptr) {
  const auto devices = static_cast<int64_t>(operands.size());
  InProcessCommunicator communicator(devices);
  std::vector<std::vector<float>> results(operands.size(), std::vector<float>(result_size, -1));
  EXPECT_TRUE(RunTogether(devices, [&](int64_t device) {
    const auto bytes = static_cast<int64_t>(operands[device].size() * sizeof(float));
    const HlokitCollectiveArray array = {1, bytes, sizeof(float), 0, Add};
    const void* const operand = operands[device].data();
    void* const result = results[device].data();
    Communicator::Part part;
    part.waiter = {device, "the call", 7};
    part.group = group;
    part.place = std::find(group.begin(), group.end(), device) - group.begin();
    part.arrays = {&array, 1};
    part.operands = &operand;
    part.results = &result;
    part.own = &results[device];
    const End end = call(communicator, part);
    if (ends != nullptr) (*ends)[device] = end;
    communicator.Leave(device, end != End::kNone);
  }));
  return results;
}

using Rows = std::vector<std::vector<float>>;

TEST(InProcessCommunicatorTest, SumsGoMemberByMemberInTheGroupsOrder) {
  const auto reduce = [](Communicator& c, const Communicator::Part& part) {
    return c.AllReduce(part);
  };
  // 1e8 + 1 - 1e8 is 0 from the left in f32, and 1 in the order 0, 2, 1.
  EXPECT_EQ(Results({{1e8F, 1}, {1, 2}, {-1e8F, 3}}, {0, 1, 2}, 2, reduce), Rows(3, {0, 6}));
  EXPECT_EQ(Results({{1e8F, 1}, {1, 2}, {-1e8F, 3}}, {0, 2, 1}, 2, reduce), Rows(3, {1, 6}));
}

TEST(InProcessCommunicatorTest, MovesRowsAndPieces) {
  const Rows two = {{1, 2}, {3, 4}};
  EXPECT_EQ(Results(two, {1, 0}, 4, [](auto& c, const auto& part) { return c.AllGather(part); }),
            Rows(2, {3, 4, 1, 2}));
  EXPECT_EQ(Results(two, {0, 1}, 2, [](auto& c, const auto& part) { return c.AllToAll(part); }),
            (Rows{{1, 3}, {2, 4}}));
  EXPECT_EQ(
      Results(two, {0, 1}, 1, [](auto& c, const auto& part) { return c.ReduceScatter(part); }),
      (Rows{{4}, {6}}));
  EXPECT_EQ(Results(two, {1, 0}, 2, [](auto& c, const auto& part) { return c.Broadcast(part); }),
            Rows(2, {3, 4}));
  EXPECT_EQ(Results(two, {0, 1}, 2,
                    [](auto& c, const auto& part) {
                      return c.Permute(part, std::array<int64_t, 2>{0, 1});
                    }),
            (Rows{{0, 0}, {1, 2}}));
}

TEST(InProcessCommunicatorTest, FunctionsSeeAllMembersOnce) {
  std::atomic<int> calls = 0;
  const auto results =
      Results({{1}, {2}, {3}}, {2, 1, 0}, 1, [&](Communicator& c, const Communicator::Part& part) {
        return c.Evaluate(part, [&](std::span<Communicator::Member* const> members) {
          ++calls;
          for (size_t m = 0; m < members.size(); ++m) {
            const float first = *static_cast<const float*>(members[0]->operands[0]);
            static_cast<std::vector<float>*>(members[m]->own)->at(0) = first * 10 + m;
          }
        });
      });
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(results, (Rows{{32}, {31}, {30}}));
}

TEST(InProcessCommunicatorTest, NobodyPassesABarrierBeforeAllCame) {
  std::atomic<int> came = 0;
  std::atomic<bool> early = false;
  Results(Rows(4, {0}), {0, 1, 2, 3}, 1, [&](Communicator& c, const Communicator::Part& part) {
    ++came;
    const End end = c.Barrier(part);
    if (came != 4) early = true;
    return end;
  });
  EXPECT_FALSE(early);
}

TEST(InProcessCommunicatorTest, MessagesComeToTheirTarget) {
  const auto results =
      Results({{5, 6}, {7, 8}}, {0, 1}, 2, [](Communicator& c, const Communicator::Part& part) {
        const std::span<const char> bytes(static_cast<const char*>(part.operands[0]), 8);
        c.Send(part.waiter, 3, 1 - part.waiter.device, {{bytes}});
        return c.Receive(part.waiter, 3, part.waiter.device,
                         [&](auto arrays) { std::memcpy(part.results[0], arrays[0].data(), 8); });
      });
  EXPECT_EQ(results, (Rows{{7, 8}, {5, 6}}));
}

TEST(InProcessCommunicatorTest, AbortStopsThoseThatWaitAndSaysWhy) {
  std::vector<End> ends(2);
  std::string text;
  Results(
      {{1}, {2}}, {0, 1}, 1,
      [&](Communicator& c, const Communicator::Part& part) {
        if (part.waiter.device == 1) {
          c.Abort("rank 3 is gone");
          return End::kStopped;
        }
        const End end = c.AllReduce(part);
        text = c.Text(end, part.waiter);
        return end;
      },
      &ends);
  EXPECT_EQ(ends[0], End::kStopped);
  EXPECT_EQ(text, "stopped with the other devices at the call: rank 3 is gone");
}

TEST(InProcessCommunicatorTest, WaitsThatNeverEndAreDeadlocks) {
  std::vector<End> ends(2, End::kNone);
  Results(
      {{1}, {2}}, {0, 1}, 1,
      [&](Communicator& c, const Communicator::Part& part) {
        return part.waiter.device == 1 ? End::kNone : c.Barrier(part);
      },
      &ends);
  EXPECT_EQ(ends[0], End::kDeadlock);
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
