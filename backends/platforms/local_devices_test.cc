// Programs of which this process holds some devices, on both platforms that run on the host.
#include <gtest/gtest.h>

#include "backends/platforms/platforms.h"
#include "parser/parser.h"
#include "runtime/collective/in_process_communicator.h"
#include "support/together.h"

namespace hlokit {
namespace {

constexpr char kIds[] = R"(HloModule ids, replica_count=2, num_partitions=2
ENTRY e {
  x = u32[] parameter(0)
  r = u32[] replica-id()
  p = u32[] partition-id()
  ten = u32[] constant(10)
  tens = u32[] multiply(r, ten)
  id = u32[] add(tens, p)
  ROOT s = u32[] add(x, id)
})";

constexpr char kSum[] = R"(HloModule sum, replica_count=2
add {
  a = u32[] parameter(0)
  b = u32[] parameter(1)
  ROOT s = u32[] add(a, b)
}
ENTRY e {
  x = u32[] parameter(0)
  ROOT s = u32[] all-reduce(x), replica_groups={}, to_apply=add
})";

CompileOptions On(int64_t replicas, int64_t partitions, std::vector<int64_t> global,
                  std::vector<int64_t> local) {
  CompileOptions options;
  options.devices = DeviceAssignment::Make(replicas, partitions, global, local).value();
  return options;
}

TEST(LocalDevicesTest, GetArgumentsAndGiveResultsInTheirOrder) {
  auto executable = MakeBackend("cpu").value()->Compile(ParseModule(kIds).value(),
                                                        On(2, 2, {7, 5, 6, 4}, {4, 5}));
  ASSERT_TRUE(executable.ok()) << executable.status();
  EXPECT_EQ((*executable)->devices().local(), (std::vector<int64_t>{1, 3}));
  const Literal first = Literal::R0<uint32_t>(100), second = Literal::R0<uint32_t>(200);
  auto run = (*executable)->Prepare({{&first}, {&second}});
  ASSERT_TRUE(run.ok() && (*run)->Run().ok()) << run.status();
  const std::vector<Literal> results = (*run)->TakeResults().value();
  ASSERT_EQ(results.size(), 2);
  EXPECT_EQ(results[0].GetInt(0), 101);
  EXPECT_EQ(results[1].GetInt(0), 211);
  EXPECT_FALSE((*executable)->Prepare({{&first}}).ok());
}

TEST(LocalDevicesTest, CollectivesNeedSomethingThatReachesTheOthers) {
  const auto refused = MakeBackend("cpu")
                           .value()
                           ->Compile(ParseModule(kSum).value(), On(2, 1, {0, 1}, {1}))
                           .status();
  EXPECT_TRUE(absl::IsUnimplemented(refused)) << refused;
}

TEST(LocalDevicesTest, CountsMustBeTheModules) {
  EXPECT_FALSE(
      MakeBackend("cpu").value()->Compile(ParseModule(kSum).value(), On(1, 2, {0, 1}, {1})).ok());
}

// As a transport between processes has it: each holds an end of its own.
class EndOfCommunicator final : public Communicator {
 public:
  EndOfCommunicator(Communicator& all, std::atomic<int64_t>& calls) : all_(all), calls_(calls) {}
  int64_t device_count() const override { return all_.device_count(); }
  End AllReduce(const Part& part) override { return Counted(all_.AllReduce(part)); }
  End AllGather(const Part& part) override { return all_.AllGather(part); }
  End ReduceScatter(const Part& part) override { return all_.ReduceScatter(part); }
  End AllToAll(const Part& part) override { return all_.AllToAll(part); }
  End AllToAllArrays(const Part& part) override { return all_.AllToAllArrays(part); }
  End RaggedAllToAll(const Part& part, int64_t& outside) override {
    return all_.RaggedAllToAll(part, outside);
  }
  End Permute(const Part& part, Pairs pairs) override { return all_.Permute(part, pairs); }
  End Broadcast(const Part& part) override { return all_.Broadcast(part); }
  End Barrier(const Part& part) override { return all_.Barrier(part); }
  End Evaluate(const Part& part, const Function& function) override {
    return Counted(all_.Evaluate(part, function));
  }
  void Send(const Waiter& waiter, int64_t channel, int64_t target,
            std::span<const std::span<const char>> arrays) override {
    all_.Send(waiter, channel, target, arrays);
  }
  End Receive(const Waiter& waiter, int64_t channel, int64_t target, const Take& take) override {
    return all_.Receive(waiter, channel, target, take);
  }
  void Leave(int64_t device, bool failed) override { all_.Leave(device, failed); }
  void Abort(const std::string& reason) override { all_.Abort(reason); }
  End end(int64_t device) const override { return all_.end(device); }
  int64_t ended_at(int64_t device) const override { return all_.ended_at(device); }
  std::string Text(End end, const Waiter& waiter) const override { return all_.Text(end, waiter); }

 private:
  End Counted(End end) {
    ++calls_;
    return end;
  }
  Communicator& all_;
  std::atomic<int64_t>& calls_;
};

// Two executables with a device each, that meet through a communicator from outside.
void RunAsTwoProcesses(Backend& backend) {
  InProcessCommunicator all(2);
  std::atomic<int64_t> calls = 0;
  std::vector<absl::StatusOr<Literal>> results(2, absl::UnknownError("not run"));
  const auto process = [&](int64_t rank) {
    CompileOptions options = On(2, 1, {0, 1}, {rank});
    options.communicators = [&](const DeviceAssignment& devices) {
      EXPECT_EQ(devices.local(), std::vector<int64_t>{rank});
      return std::make_unique<EndOfCommunicator>(all, calls);
    };
    auto executable = backend.Compile(ParseModule(kSum).value(), options);
    ASSERT_TRUE(executable.ok()) << executable.status();
    const Literal own = Literal::R0<uint32_t>(rank + 5);
    results[rank] = (*executable)->Run({&own, 1});
  };
  ASSERT_TRUE(RunTogether(2, process));
  for (const auto& result : results) {
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->GetInt(0), 11);
  }
  EXPECT_EQ(calls, 2);
}

TEST(LocalDevicesTest, MeetThroughACommunicatorFromOutsideOnTheCpu) {
  RunAsTwoProcesses(**MakeBackend("cpu"));
}
TEST(LocalDevicesTest, MeetThroughACommunicatorFromOutsideInTheInterpreter) {
  RunAsTwoProcesses(**MakeBackend("interpreter"));
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
