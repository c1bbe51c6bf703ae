// Steps worked out by hand: kernels, waits, overlap, loops, kinds of devices, memory.
#include "simulate/timeline.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "parser/parser.h"
#include "simulate/memory_profile.h"
#include "simulate/report.h"

namespace hlokit {
namespace {

// A TB/s of memory, 1 TFLOP/s of f32 products, no launches; 4 devices a switch of 1 GB/s, islands
// joined at 100 MB/s.
Topology Machine(int64_t islands = 1) {
  Topology t;
  t.name = "machine";
  t.device.flops = {{"f32", 1e12}};
  t.device.vector_flops = 1e12;
  t.device.functions = 1e12;
  t.device.memory_bandwidth = 1e12;
  t.device.memory = 1e9;
  t.links = {{"near", LinkKind::kSwitch, {4}, 1e9, 0},
             {"far", LinkKind::kSwitch, {islands}, 1e8, 0}};
  return t;
}

std::unique_ptr<Module> Parsed(absl::string_view body, absl::string_view header = "") {
  auto module = ParseModule(absl::StrCat(
      "HloModule m", header, "\nadd {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n",
      "  ROOT s = f32[] add(a, b)\n}\n\n", body));
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

StepPrediction Predict(const Module& module, const Topology& topology) {
  auto step = Simulate(module, topology, {});
  EXPECT_TRUE(step.ok()) << step.status();
  return *std::move(step);
}

constexpr char kFour[] = ", is_scheduled=true, num_partitions=4";
// 250,000 elements are 1 MB: an all-reduce of four at 1 GB/s takes 2 * 3 / 4 ms.
constexpr double kReduce = 1.5e-3;
// Reading one and writing one.
constexpr double kNegate = 2e6 / 1e12;

TEST(TimelineTest, KernelsTakeTheirBound) {
  const auto module = Parsed(
      "ENTRY e {\n  x = f32[1000,1000] parameter(0)\n  n = f32[1000,1000] negate(x)\n"
      "  ROOT d = f32[1000,1000] dot(n, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}");
  const StepPrediction step = Predict(*module, Machine());
  EXPECT_EQ(step.devices, 1);
  EXPECT_DOUBLE_EQ(step.seconds, 8e6 / 1e12 + 2e9 / 1e12);
  EXPECT_DOUBLE_EQ(step.model_flops, 2e9);
  EXPECT_NEAR(ModelFlopsUtilisation(step), 2e9 / (2e9 + 8e6), 1e-12);
  ASSERT_EQ(step.kinds[0].instructions.size(), 2u);
  EXPECT_EQ(step.kinds[0].instructions[0].bound, Bound::kProducts);
  EXPECT_EQ(step.kinds[0].instructions[1].bound, Bound::kMemory);
}

TEST(TimelineTest, CollectivesAreExposedUnlessOverlapped) {
  const auto whole = Parsed(
      "ENTRY e {\n  x = f32[250000] parameter(0)\n"
      "  r = f32[250000] all-reduce(x), channel_id=1, replica_groups={{0,1,2,3}}, "
      "use_global_device_ids=true, to_apply=add\n  ROOT n = f32[250000] negate(x)\n}",
      kFour);
  const StepPrediction exposed = Predict(*whole, Machine());
  EXPECT_DOUBLE_EQ(exposed.seconds, kReduce + kNegate);
  EXPECT_DOUBLE_EQ(exposed.kinds[0].exposed, kReduce);
  EXPECT_DOUBLE_EQ(exposed.kinds[0].sent[0], 1.5e6);
  EXPECT_EQ(exposed.kinds[0].devices, 4);

  const auto pair = Parsed(
      "ENTRY e {\n  x = f32[250000] parameter(0)\n"
      "  s = f32[250000] all-reduce-start(x), channel_id=1, replica_groups={{0,1,2,3}}, "
      "use_global_device_ids=true, to_apply=add\n  n = f32[250000] negate(x)\n"
      "  d = f32[250000] all-reduce-done(s)\n  ROOT t = (f32[250000], f32[250000]) tuple(d, n)\n}",
      kFour);
  const StepPrediction overlapped = Predict(*pair, Machine());
  EXPECT_DOUBLE_EQ(overlapped.seconds, kReduce);
  EXPECT_DOUBLE_EQ(overlapped.kinds[0].exposed, kReduce - kNegate);
  EXPECT_DOUBLE_EQ(overlapped.kinds[0].communication, kReduce);
}

TEST(TimelineTest, AHostStartsItsDevicesInTurn) {
  Topology host = Machine();
  host.device.start = 1e-5;
  host.device.at_full_speed = 1;
  const auto module = Parsed(
      "ENTRY e {\n  x = f32[250000] parameter(0)\n  ROOT n = f32[250000] negate(x)\n}", kFour);
  EXPECT_DOUBLE_EQ(Predict(*module, host).seconds, 4 * (1e-5 + kNegate));
}

// What a module of four devices takes longer where meetings cost 10 us for each further device of
// an island, 100 us for each further island.
double MeetingSeconds(const std::string& collective, Topology machine) {
  const auto module =
      Parsed(absl::StrCat("ENTRY e {\n  x = f32[8] parameter(0)\n  y = f32[8] negate(x)\n"
                          "  ROOT s = ",
                          collective, ", channel_id=1\n}"),
             kFour);
  const double before = Predict(*module, machine).seconds;
  machine.links[0].collective = 1e-5;
  machine.links[1].collective = 1e-4;
  return Predict(*module, machine).seconds - before;
}

std::string AllReduceOf(absl::string_view groups) {
  return absl::StrCat(
      "f32[8] all-reduce(x), use_global_device_ids=true, to_apply=add, replica_groups={", groups,
      "}");
}

TEST(TimelineTest, AGroupsMembersAreWokenInTurn) {
  EXPECT_NEAR(MeetingSeconds(AllReduceOf("{0,1,2,3}"), Machine()), 3e-5, 1e-10);
  EXPECT_NEAR(MeetingSeconds(AllReduceOf("{0,1},{2,3}"), Machine()), 1e-5, 1e-10);
  // All meet at a permute.
  EXPECT_NEAR(
      MeetingSeconds("f32[8] collective-permute(x), source_target_pairs={{0,1},{1,0}}", Machine()),
      3e-5, 1e-10);
}

TEST(TimelineTest, GroupsBeyondTheCoresTakeTurns) {
  Topology host = Machine();
  host.device.groups_at_once = 2;
  EXPECT_NEAR(MeetingSeconds(AllReduceOf("{0,1,2,3}"), host), 3e-5, 1e-10);
  EXPECT_NEAR(MeetingSeconds(AllReduceOf("{0,1},{2,3}"), host), 1e-5, 1e-10);
  host.device.groups_at_once = 1;
  EXPECT_NEAR(MeetingSeconds(AllReduceOf("{0,1},{2,3}"), host), 2e-5, 1e-10);
}

// Two processes of two threads: a thread is woken once, another process is reached for each array.
TEST(TimelineTest, OtherUnitsAreReachedForEachArray) {
  Topology ranks = Machine(2);
  ranks.links[0].axes = {2};
  const std::string groups =
      ", use_global_device_ids=true, to_apply=add, replica_groups={{0,1,2,3}}";
  EXPECT_NEAR(MeetingSeconds(AllReduceOf("{0,1,2,3}"), ranks), 1e-5 + 1e-4, 1e-10);
  EXPECT_NEAR(MeetingSeconds("(f32[8], f32[8]) all-reduce(x, y)" + groups, ranks), 1e-5 + 2e-4,
              1e-10);
  EXPECT_NEAR(MeetingSeconds(AllReduceOf("{0,2},{1,3}"), ranks), 1e-4, 1e-10);
  ranks.device.groups_at_once = 2;
  EXPECT_NEAR(MeetingSeconds(AllReduceOf("{0,2},{1,3}"), ranks), 2e-4, 1e-10);
}

TEST(TimelineTest, TransfersOfOneLinkQueue) {
  const auto module = Parsed(
      "ENTRY e {\n  x = f32[250000] parameter(0)\n"
      "  s = f32[250000] all-reduce-start(x), channel_id=1, replica_groups={{0,1,2,3}}, "
      "use_global_device_ids=true, to_apply=add\n"
      "  u = f32[250000] all-reduce-start(x), channel_id=2, replica_groups={{0,1,2,3}}, "
      "use_global_device_ids=true, to_apply=add\n"
      "  d = f32[250000] all-reduce-done(s)\n  ROOT e = f32[250000] all-reduce-done(u)\n}",
      kFour);
  EXPECT_DOUBLE_EQ(Predict(*module, Machine()).seconds, 2 * kReduce);
}

TEST(TimelineTest, LoopsRunAllTheirIterations) {
  const std::string text =
      "cond {\n  p = (s32[], f32[250000]) parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n"
      "  n = s32[] constant(1000)\n  ROOT c = pred[] compare(i, n), direction=LT\n}\n\n"
      "body {\n  p = (s32[], f32[250000]) parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n"
      "  x = f32[250000] get-tuple-element(p), index=1\n"
      "  r = f32[250000] all-reduce(x), channel_id=1, replica_groups={{0,1,2,3}}, "
      "use_global_device_ids=true, to_apply=add\n"
      "  ROOT t = (s32[], f32[250000]) tuple(i, r)\n}\n\n"
      "ENTRY e {\n  p = (s32[], f32[250000]) parameter(0)\n"
      "  ROOT w = (s32[], f32[250000]) while(p), condition=cond, body=body, "
      "backend_config={\"known_trip_count\":{\"n\":\"1000\"}}\n}";
  const StepPrediction step = Predict(*Parsed(text, kFour), Machine());
  EXPECT_NEAR(step.seconds, 1000 * kReduce, 1e-6);
  EXPECT_FALSE(step.guessed_trips);
  EXPECT_NEAR(step.kinds[0].sent[0], 1000 * 1.5e6, 1);
  EXPECT_EQ(step.kinds[0].instructions[0].runs, 1000);
  // Two iterations are shown, and one span stands for the others.
  double further = 0;
  for (const TimelineSpan& span : step.kinds[0].spans) further += span.iterations;
  EXPECT_EQ(further, 998);
}

TEST(TimelineTest, StagesOfAPipelineAreKinds) {
  const auto module = Parsed(
      "ENTRY e {\n  x = f32[250000] parameter(0)\n"
      "  ROOT c = f32[250000] collective-permute(x), channel_id=1, "
      "source_target_pairs={{0,1},{1,2},{2,3},{3,4}}\n}",
      ", is_scheduled=true, num_partitions=8");
  const StepPrediction step = Predict(*module, Machine(2));
  // 0 and those in no pair alike; 1 to 3 by who sends to them; 4 across islands, at a tenth.
  ASSERT_EQ(step.kinds.size(), 5u);
  EXPECT_EQ(step.kinds[0].devices, 4);
  EXPECT_EQ(step.kinds[0].seconds, 0);
  EXPECT_DOUBLE_EQ(step.kinds[1].seconds, 1e-3);
  EXPECT_DOUBLE_EQ(step.seconds, 1e-2);
}

TEST(TimelineTest, DevicesCountsAreChecked) {
  const auto module = Parsed(
      "ENTRY e {\n  x = f32[8] parameter(0)\n"
      "  ROOT r = f32[8] all-reduce(x), channel_id=1, replica_groups=[1,64]<=[64], "
      "use_global_device_ids=true, to_apply=add\n}");
  EXPECT_EQ(DeviceCountOf(*module), 64);  // the header says nothing
  const auto step = Simulate(*module, Machine(), {});
  EXPECT_EQ(step.status().message(), "the module runs on 64 devices, machine has 4");
  EXPECT_EQ(Predict(*module, Machine(16)).kinds.size(), 1u);
}

TEST(TimelineTest, MemoryFollowsBuffers) {
  const auto plain = Parsed(
      "ENTRY e {\n  x = f32[1000] parameter(0)\n  a = f32[1000] reverse(x), dimensions={0}\n"
      "  b = f32[1000] reverse(a), dimensions={0}\n"
      "  ROOT c = f32[1000] reverse(b), dimensions={0}\n}",
      ", is_scheduled=true");
  const StepPrediction step = Predict(*plain, Machine());
  const auto memory = MemoryOf(*plain, step);
  ASSERT_TRUE(memory.ok()) << memory.status();
  EXPECT_EQ(memory->arguments, 4000);
  EXPECT_EQ(memory->results, 4000);
  EXPECT_EQ(memory->peak, 16000);  // a and b live at once
  EXPECT_DOUBLE_EQ(memory->peak_at, 8e-9);
  EXPECT_EQ(memory->points.front().bytes, 8000);
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
