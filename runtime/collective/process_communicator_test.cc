// Collectives over several processes, which are threads here: the same bytes as in one process, and
// ends of waits that nobody can help.
#include "runtime/collective/process_communicator.h"

#include <gtest/gtest.h>
#include <string.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <functional>
#include <mutex>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <tuple>

#include "runtime/collective/in_process_communicator.h"
#include "runtime/collective/testing_internal.h"
#include "support/together.h"

namespace hlokit {
namespace {

using End = Communicator::End;

// The network between transports of one test.
class Network {
 public:
  explicit Network(int size) : posted_(static_cast<size_t>(size)) {}

  struct Request {
    const void* from = nullptr;  // of a send
    void* to = nullptr;          // of a receive
    int64_t bytes = 0;
    bool done = false;
  };
  using Stream = std::tuple<int, int, int>;  // source, target, tag

  Request* Start(const Stream& stream, Request request) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto& [sends, receives] = streams_[stream];
    auto* const own = new Request(request);
    (request.from != nullptr ? sends : receives).push_back(own);
    while (!sends.empty() && !receives.empty()) {
      EXPECT_EQ(sends.front()->bytes, receives.front()->bytes);
      memcpy(receives.front()->to, sends.front()->from,
             static_cast<size_t>(std::min(sends.front()->bytes, receives.front()->bytes)));
      sends.front()->done = receives.front()->done = true;
      sends.pop_front();
      receives.pop_front();
    }
    return own;
  }
  bool Test(Request* request) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!request->done) return false;
    delete request;
    return true;
  }
  void Abandon(Request* request) {
    std::lock_guard<std::mutex> lock(mutex_);
    for (auto& [stream, queues] : streams_) {
      std::erase(queues.first, request);
      std::erase(queues.second, request);
    }
    delete request;
  }
  void Post(int source, int target, std::vector<char> message) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!silent_) posted_[static_cast<size_t>(target)].emplace_back(source, std::move(message));
  }
  bool Poll(int target, int& source, std::vector<char>& message) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto& queue = posted_[static_cast<size_t>(target)];
    if (queue.empty()) return false;
    std::tie(source, message) = std::move(queue.front());
    queue.pop_front();
    return true;
  }
  void Silence() {
    std::lock_guard<std::mutex> lock(mutex_);
    silent_ = true;
  }

 private:
  std::mutex mutex_;
  std::map<Stream, std::pair<std::deque<Request*>, std::deque<Request*>>> streams_;
  std::vector<std::deque<std::pair<int, std::vector<char>>>> posted_;
  bool silent_ = false;
};

class NetworkTransport final : public Transport {
 public:
  NetworkTransport(Network& network, int rank, int size)
      : network_(network), rank_(rank), size_(size) {}
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  Request StartSend(int target, int tag, const void* data, int64_t bytes) override {
    return network_.Start({rank_, target, tag}, {data, nullptr, bytes});
  }
  Request StartReceive(int source, int tag, void* data, int64_t bytes) override {
    return network_.Start({source, rank_, tag}, {nullptr, data, bytes});
  }
  bool Test(Request request) override {
    return network_.Test(static_cast<Network::Request*>(request));
  }
  void Abandon(Request request) override {
    network_.Abandon(static_cast<Network::Request*>(request));
  }
  void Post(int target, std::vector<char> message) override {
    network_.Post(rank_, target, std::move(message));
  }
  bool Poll(int& source, std::vector<char>& message) override {
    return network_.Poll(rank_, source, message);
  }
  std::string Error() const override { return ""; }

 private:
  Network& network_;
  const int rank_, size_;
};

// `processes` groups on one network, and a communicator in each.
class Cluster {
 public:
  explicit Cluster(std::vector<int> rank_of, double timeout_s = 60,
                   const std::function<void(const std::string&)>& on_slow = {})
      : rank_of_(std::move(rank_of)) {
    const int processes = *std::max_element(rank_of_.begin(), rank_of_.end()) + 1;
    network_ = std::make_unique<Network>(processes);
    for (int rank = 0; rank < processes; ++rank)
      groups_.push_back(std::make_unique<ProcessGroup>(
          std::make_unique<NetworkTransport>(*network_, rank, processes),
          ProcessGroup::Options{.timeout_s = timeout_s, .on_slow = on_slow, .on_status = {}}));
    for (auto& group : groups_)
      communicators_.push_back(std::make_unique<ProcessCommunicator>(*group, rank_of_));
  }
  ~Cluster() { communicators_.clear(); }
  Communicator& of(int64_t device) { return *communicators_[rank_of_[device]]; }
  ProcessGroup& group(int rank) { return *groups_[rank]; }
  Network& network() { return *network_; }

 private:
  const std::vector<int> rank_of_;
  std::unique_ptr<Network> network_;
  std::vector<std::unique_ptr<ProcessGroup>> groups_;
  std::vector<std::unique_ptr<ProcessCommunicator>> communicators_;
};

using Floats = std::vector<float>;
using Call = std::function<End(Communicator& communicator, const Communicator::Part& part)>;

// One collective over random arrays, in groups.
struct Case {
  std::vector<std::vector<int64_t>> groups;
  std::vector<HlokitCollectiveArray> arrays;
  int64_t result_factor_up = 1, result_factor_down = 1;  // result bytes by operand bytes
  Call call;
};

std::vector<std::vector<Floats>> RunCase(const Case& c, int64_t devices,
                                         const std::function<Communicator&(int64_t)>& of) {
  std::vector<std::vector<Floats>> results(static_cast<size_t>(devices));
  EXPECT_TRUE(RunTogether(devices, [&](int64_t device) {
    std::mt19937 random(static_cast<uint32_t>(device));
    std::vector<Floats> operands;
    for (const HlokitCollectiveArray& a : c.arrays) {
      Floats& values = operands.emplace_back(a.rows * a.row_bytes / sizeof(float));
      for (float& value : values)
        value = std::ldexp(static_cast<float>(random() % 1000), static_cast<int>(random() % 40));
      results[device].emplace_back(values.size() * c.result_factor_up / c.result_factor_down,
                                   -1.0F);
    }
    std::vector<const void*> from;
    std::vector<void*> to;
    for (size_t a = 0; a < operands.size(); ++a) {
      from.push_back(operands[a].data());
      to.push_back(results[device][a].data());
    }
    for (const auto& group : c.groups) {
      const auto place = std::find(group.begin(), group.end(), device);
      if (place == group.end()) continue;
      Communicator::Part part;
      part.waiter = {device, "the call", 7};
      part.group = group;
      part.place = static_cast<size_t>(place - group.begin());
      part.arrays = c.arrays;
      part.operands = from.data();
      part.results = to.data();
      EXPECT_EQ(c.call(of(device), part), End::kNone);
    }
    of(device).Leave(device, false);
  }));
  return results;
}

void ExpectSameAsInOneProcess(const Case& c, const std::vector<int>& rank_of) {
  const auto devices = static_cast<int64_t>(rank_of.size());
  InProcessCommunicator whole(devices);
  Cluster cluster(rank_of);
  EXPECT_EQ(RunCase(c, devices, [&](int64_t d) -> Communicator& { return cluster.of(d); }),
            RunCase(c, devices, [&](int64_t) -> Communicator& { return whole; }));
}

// Devices of the processes side by side, interleaved, and unevenly spread.
const std::vector<std::vector<int>> kPlacements = {
    {0, 1, 2, 3}, {0, 0, 1, 1}, {0, 1, 0, 1}, {0, 0, 0, 1}};
const std::vector<std::vector<std::vector<int64_t>>> kGroups = {
    {{0, 1, 2, 3}}, {{2, 0, 3, 1}}, {{0, 2}, {1, 3}}, {{1, 0}, {3, 2}}};

HlokitCollectiveArray Rows(int64_t rows, int64_t elements) {
  return {rows, elements * 4, 4, 0, Add};
}

class ProcessCommunicatorTest : public ::testing::TestWithParam<std::tuple<int, int>> {
 protected:
  void Expect(std::vector<HlokitCollectiveArray> arrays, int64_t up, int64_t down, Call call) {
    const auto& groups = kGroups[std::get<1>(GetParam())];
    const auto members = static_cast<int64_t>(groups[0].size());
    ExpectSameAsInOneProcess({groups, std::move(arrays), up == 0 ? members : up,
                              down == 0 ? members : down, std::move(call)},
                             kPlacements[std::get<0>(GetParam())]);
  }
};

TEST_P(ProcessCommunicatorTest, AllReduce) {
  // The last: several blocks. Three of 16 KiB: more scratch memory than a thread keeps.
  Expect({Rows(1, 4), Rows(1, 0), Rows(1, 4096), Rows(1, 4096), Rows(1, 4096), Rows(1, 50003),
          Rows(1, 600011)},
         1, 1, [](auto& c, const auto& part) { return c.AllReduce(part); });
}
TEST(ProcessAllReduceTest, MayOverwriteItsOperand) {
  for (const int64_t count : {3000, 50000}) {  // in one round and by ranges, of several blocks each
    Cluster cluster({0, 1});
    const std::vector<int64_t> group = {0, 1};
    const HlokitCollectiveArray array = Rows(1, count);
    EXPECT_TRUE(RunTogether(2, [&](int64_t device) {
      Floats values(static_cast<size_t>(count));
      for (size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<float>(i) + static_cast<float>(device);
      const void* const from = values.data();
      void* const to = values.data();
      Communicator::Part part;
      part.waiter = {device, "the call", 7};
      part.group = group;
      part.place = static_cast<size_t>(device);
      part.arrays = {&array, 1};
      part.operands = &from;
      part.results = &to;
      EXPECT_EQ(cluster.of(device).AllReduce(part), End::kNone);
      for (size_t i = 0; i < values.size(); ++i)
        ASSERT_EQ(values[i], 2 * static_cast<float>(i) + 1) << i;
      cluster.of(device).Leave(device, false);
    }));
  }
}
TEST_P(ProcessCommunicatorTest, AllGather) {
  Expect({Rows(1, 5), Rows(3, 7), Rows(1, 20000)}, 0, 1,
         [](auto& c, const auto& part) { return c.AllGather(part); });
}
TEST_P(ProcessCommunicatorTest, ReduceScatter) {
  Expect({Rows(1, 8), Rows(3, 4), Rows(1, 40000)}, 1, 0,
         [](auto& c, const auto& part) { return c.ReduceScatter(part); });
}
TEST_P(ProcessCommunicatorTest, AllToAll) {
  Expect({Rows(1, 8), Rows(3, 4), Rows(1, 40000)}, 1, 1,
         [](auto& c, const auto& part) { return c.AllToAll(part); });
}
TEST_P(ProcessCommunicatorTest, AllToAllArrays) {
  const size_t members = kGroups[std::get<1>(GetParam())][0].size();
  Expect(std::vector<HlokitCollectiveArray>(members, Rows(1, 6)), 1, 1,
         [](auto& c, const auto& part) { return c.AllToAllArrays(part); });
}
TEST_P(ProcessCommunicatorTest, Permute) {
  const std::vector<int64_t> pairs = {0, 1, 1, 0};
  Expect({Rows(1, 6), Rows(1, 30000)}, 1, 1,
         [pairs](auto& c, const auto& part) { return c.Permute(part, pairs); });
}
TEST_P(ProcessCommunicatorTest, BroadcastAndBarrier) {
  Expect({Rows(1, 6), Rows(1, 30000)}, 1, 1, [](auto& c, const auto& part) {
    const End end = c.Barrier(part);
    return end == End::kNone ? c.Broadcast(part) : end;
  });
}
TEST_P(ProcessCommunicatorTest, Evaluate) {
  Expect({Rows(1, 6)}, 1, 1, [](auto& c, const auto& part) {
    return c.Evaluate(part, [](std::span<Communicator::Member* const> members) {
      for (Communicator::Member* to : members)
        for (int i = 0; to->results != nullptr && i < 6; ++i)
          for (size_t k = 0; k < members.size(); ++k)
            static_cast<float*>(to->results[0])[i] +=
                static_cast<float>(k) * static_cast<const float*>(members[k]->operands[0])[i];
    });
  });
}
INSTANTIATE_TEST_SUITE_P(Placements, ProcessCommunicatorTest,
                         ::testing::Combine(::testing::Range(0, 4), ::testing::Range(0, 4)));

TEST(ProcessMessagesTest, ReachDevicesOfOtherProcessesInOrder) {
  Cluster cluster({0, 1});
  ASSERT_TRUE(RunTogether(2, [&](int64_t device) {
    const Communicator::Waiter waiter{device, "send or recv", 1};
    for (int i = 0; i < 20; ++i) {
      const std::string text = std::to_string(i);
      if (device == 0) {
        const std::span<const char> array(text.data(), text.size());
        cluster.of(0).Send(waiter, 5, 1, {&array, 1});
      } else {
        std::string got;
        EXPECT_EQ(
            cluster.of(1).Receive(
                waiter, 5, 1, [&](auto arrays) { got.assign(arrays[0].begin(), arrays[0].end()); }),
            End::kNone);
        EXPECT_EQ(got, text);
      }
    }
    cluster.of(device).Leave(device, false);
  }));
}

// Each device waits in a collective of its own number, of both devices.
std::vector<std::string> EndsAt(Cluster& cluster, const std::vector<int64_t>& numbers) {
  std::vector<std::string> texts(2);
  const std::vector<int64_t> group = {0, 1};
  EXPECT_TRUE(RunTogether(2, [&](int64_t device) {
    const std::string at = "all-reduce %" + std::to_string(numbers[device]);
    Communicator::Part part;
    part.waiter = {device, at.c_str(), numbers[device]};
    part.group = group;
    part.place = static_cast<size_t>(device);
    if (numbers[device] >= 0)
      texts[device] = cluster.of(device).Text(cluster.of(device).Barrier(part), part.waiter);
    cluster.of(device).Leave(device, false);
  }));
  return texts;
}

TEST(ProcessEndsTest, DifferentCollectivesAreADeadlock) {
  Cluster cluster({0, 1});
  for (const std::string& text : EndsAt(cluster, {3, 4}))
    EXPECT_EQ(text,
              "devices wait for one another for ever: rank 0: device 0 at all-reduce %3; "
              "rank 1: device 1 at all-reduce %4");
}

TEST(ProcessEndsTest, WhoHasEndedIsNotWaitedFor) {
  Cluster cluster({0, 1});
  // The second has left its run before the first comes to the barrier.
  const std::vector<std::string> texts = EndsAt(cluster, {3, -1});
  EXPECT_EQ(texts[0],
            "devices wait for one another for ever: rank 0: device 0 at all-reduce %3; "
            "rank 1: device 1 has ended");
}

TEST(ProcessEndsTest, AnAbortReachesAll) {
  Cluster cluster({0, 1});
  cluster.group(1).Abort("rank 1: no such file");
  EXPECT_EQ(EndsAt(cluster, {3, -1})[0],
            "stopped with the other devices at all-reduce %3: rank 1: no such file");
}

TEST(ProcessEndsTest, SilenceEndsTheJob) {
  Cluster cluster({0, 1}, /*timeout_s=*/0.7);
  cluster.network().Silence();
  EXPECT_EQ(EndsAt(cluster, {3, -1})[0],
            "stopped with the other devices at all-reduce %3: rank 1 has been silent for more than "
            "0.7 s; rank 0: device 0 at all-reduce %3");
}

// The second process comes late, when the first has waited for more than half the timeout.
TEST(ProcessEndsTest, WhoIsSlowIsNamedAndWaitedFor) {
  std::mutex mutex;
  std::vector<std::string> told;
  Cluster cluster({0, 1}, /*timeout_s=*/1, [&](const std::string& text) {
    std::lock_guard<std::mutex> lock(mutex);
    told.push_back(text);
  });
  const std::vector<int64_t> group = {0, 1};
  const auto has_told = [&] {
    std::lock_guard<std::mutex> lock(mutex);
    return !told.empty();
  };
  EXPECT_TRUE(RunTogether(2, [&](int64_t device) {
    for (int i = 0; device == 1 && i < 3000 && !has_told(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    Communicator::Part part;
    part.waiter = {device, "all-reduce %3", 3};
    part.group = group;
    part.place = static_cast<size_t>(device);
    EXPECT_EQ(cluster.of(device).Barrier(part), End::kNone);
    cluster.of(device).Leave(device, false);
  }));
  std::lock_guard<std::mutex> lock(mutex);
  EXPECT_EQ(told, std::vector<std::string>({"rank 0 (device 0 at all-reduce %3) waits for rank 1 "
                                            "(computing on device 1), for more than 0.5 s"}));
}

TEST(FindSlowTest, NamesWhoHasNotCome) {
  ProcessStatus waits, computes, ahead;
  waits.run = computes.run = ahead.run = 2;
  waits.in_run = computes.in_run = ahead.in_run = waits.all_wait = true;
  waits.text = "device 0 at x";
  computes.text = "computing on device 1";
  waits.collectives = {{7, 0, {0, 1, 2}}};
  ahead.all_wait = true;
  ahead.collectives = waits.collectives;
  EXPECT_EQ(FindSlow({waits, computes, ahead}, 0),
            "rank 0 (device 0 at x) waits for rank 1 (computing on device 1)");
  EXPECT_EQ(FindSlow({waits, computes, ahead}, 1), "");  // waits for nobody
  EXPECT_EQ(FindSlow({waits, ProcessStatus(), ahead}, 0),
            "rank 0 (device 0 at x) waits for rank 1 (has run nothing yet)");
  EXPECT_EQ(FindSlow({waits, ahead, ahead}, 0), "");  // the exchange goes on
}

TEST(FindDeadlockTest, ALateProcessMayStillCome) {
  ProcessStatus waits;
  waits.run = 2;
  waits.in_run = waits.all_wait = true;
  waits.text = "device 0 at x";
  waits.collectives = {{7, 0, {1}}};
  ProcessStatus other;
  EXPECT_EQ(FindDeadlock({waits, other}), "");  // has not begun
  other.run = 1;
  EXPECT_EQ(FindDeadlock({waits, other}), "");  // has ended the run before
  other.run = 2;
  EXPECT_EQ(FindDeadlock({waits, other}), "rank 0: device 0 at x; rank 1: has ended its run");
  other.in_run = true;
  EXPECT_EQ(FindDeadlock({waits, other}), "");  // computes
  other.all_wait = true;
  other.collectives = {{7, 0, {0}}};
  EXPECT_EQ(FindDeadlock({waits, other}), "");  // the exchange goes on
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
