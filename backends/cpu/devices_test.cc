// Programs of which this process holds some devices, on both platforms that run on the host.
#include <gtest/gtest.h>

#include "backends/cpu/cpu_backend.h"
#include "parser/parser.h"

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
  auto executable =
      MakeCpuBackend()->Compile(ParseModule(kIds).value(), On(2, 2, {7, 5, 6, 4}, {4, 5}));
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
  const auto refused =
      MakeCpuBackend()->Compile(ParseModule(kSum).value(), On(2, 1, {0, 1}, {1})).status();
  EXPECT_TRUE(absl::IsUnimplemented(refused)) << refused;
}

TEST(LocalDevicesTest, CountsMustBeTheModules) {
  EXPECT_FALSE(MakeCpuBackend()->Compile(ParseModule(kSum).value(), On(1, 2, {0, 1}, {1})).ok());
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
