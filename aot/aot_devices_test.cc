// Programs of several devices compiled ahead of time: bits of the JIT, accessors for each device,
// and errors instead of waits without end.
#include <atomic>
#include <cstdlib>
#include <thread>

#include "aot/generate_header.h"
#include "aot/loaded_internal.h"
#include "backends/cpu/cpu_backend.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/queues.h"
#include "types/random_literal.h"

namespace hlokit {
namespace {

using ::testing::HasSubstr;

using Arguments = std::vector<std::vector<Literal>>;  // by device

Arguments RandomArguments(const Module& module, int64_t devices) {
  Arguments arguments(static_cast<size_t>(devices));
  for (std::vector<Literal>& device : arguments)
    for (const Instruction* parameter : module.entry()->parameters()) {
      device.push_back(Literal::Unset(parameter->shape()));
      FillRandom(device.back(), device.size() + 100 * arguments.size(), {});
    }
  return arguments;
}

// What the JIT makes of them, by device.
std::vector<Literal> JitResults(absl::string_view text, const Arguments& arguments) {
  const auto jit = MakeCpuBackend()->Compile(ParseModule(text).value(), {}).value();
  std::vector<DeviceArguments> given;
  for (const std::vector<Literal>& device : arguments) {
    DeviceArguments& pointers = given.emplace_back();
    for (const Literal& argument : device) pointers.push_back(&argument);
  }
  const auto run = jit->Prepare(given).value();
  EXPECT_TRUE(run->Run().ok());
  return run->TakeResults().value();
}

struct EndRun {
  void operator()(HlokitAotRun* run) const { hlokit_aot_destroy(run); }
};
using RunPointer = std::unique_ptr<HlokitAotRun, EndRun>;

RunPointer Start(const Loaded& loaded) {
  char error[HLOKIT_ERROR_SIZE] = "";
  RunPointer run(hlokit_aot_create(loaded.model(), nullptr, error, sizeof(error)));
  EXPECT_NE(run, nullptr) << error;
  return run;
}

// The program gives an array or a tuple of arrays.
void ExpectSameBits(absl::string_view text) {
  const AotObject object = Compile(text).value();
  const Loaded loaded(object);
  const RunPointer run = Start(loaded);
  const int64_t devices = hlokit_aot_device_count(run.get());
  EXPECT_EQ(devices, object.replica_count * object.partition_count);
  const Arguments arguments = RandomArguments(*ParseModule(text).value(), devices);
  const std::vector<Literal> expected = JitResults(text, arguments);
  for (int64_t d = 0; d < devices; ++d)
    for (size_t i = 0; i < arguments[d].size(); ++i)
      ToLayout(arguments[d][i], object.arguments[i].shape,
               static_cast<uint8_t*>(hlokit_aot_device_argument(run.get(), d, i)));
  for (int time = 0; time < 2; ++time) {
    ASSERT_EQ(hlokit_aot_run(run.get()), 0) << hlokit_aot_error(run.get());
    for (int64_t d = 0; d < devices; ++d)
      for (size_t i = 0; i < object.results.size(); ++i) {
        Literal found(object.results[i].shape);
        FromLayout(static_cast<const uint8_t*>(hlokit_aot_device_result(run.get(), d, i)),
                   object.results[i].shape, found);
        const Literal& wanted =
            expected[d].shape().IsTuple() ? expected[d].elements()[i] : expected[d];
        EXPECT_TRUE(found == wanted) << "result " << i << " of device " << d;
      }
  }
}

constexpr char kReducers[] = R"(
add_f32 { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b) }
add_bf16 { a = bf16[] parameter(0)
  b = bf16[] parameter(1)
  ROOT r = bf16[] add(a, b) }
most { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] maximum(a, b) }
times { a = c64[] parameter(0)
  b = c64[] parameter(1)
  ROOT r = c64[] multiply(a, b) }
any { a = pred[] parameter(0)
  b = pred[] parameter(1)
  ROOT r = pred[] or(a, b) }
norm { a = f32[] parameter(0)
  b = f32[] parameter(1)
  aa = f32[] multiply(a, a)
  bb = f32[] multiply(b, b)
  s = f32[] add(aa, bb)
  ROOT r = f32[] sqrt(s) }
)";

TEST(AotDevicesTest, ReductionsGiveTheBitsOfTheJit) {
  ExpectSameBits(absl::StrCat("HloModule m, replica_count=2, num_partitions=3\n", kReducers, R"(
ENTRY e {
  x = f32[12,70] parameter(0)
  h = bf16[5000] parameter(1)
  c = c64[3] parameter(2)
  p = pred[7] parameter(3)
  i = s8[33] parameter(4)
  sum = f32[12,70] all-reduce(x), replica_groups={}, to_apply=add_f32
  six = bf16[5000] all-reduce(h), channel_id=1, use_global_device_ids=true, replica_groups={{5,4,3,2,1,0}}, to_apply=add_bf16
  pair = (f32[12,70], f32[12,70]) all-reduce(x, sum), channel_id=2, replica_groups={{0,1}}, to_apply=most
  best = f32[12,70] get-tuple-element(pair), index=0
  length = f32[12,70] all-reduce(x), channel_id=3, use_global_device_ids=true, replica_groups={{0,2,4},{1,3,5}}, to_apply=norm
  product = c64[3] all-reduce(c), replica_groups={{1,0}}, to_apply=times
  found = pred[7] all-reduce(p), replica_groups={}, to_apply=any
  part = f32[6,70] reduce-scatter(x), replica_groups={{0,1}}, dimensions={0}, to_apply=add_f32
  column = f32[12,35] reduce-scatter(x), replica_groups={{1,0}}, dimensions={1}, to_apply=add_f32
  start = f32[12,70] all-reduce-start(x), replica_groups={}, to_apply=most
  done = f32[12,70] all-reduce-done(start)
  replica = u32[] replica-id()
  partition = u32[] partition-id()
  ROOT t = (f32[12,70], bf16[5000], f32[12,70], f32[12,70], c64[3], pred[7], f32[6,70], f32[12,35], f32[12,70], u32[], u32[], s8[33]) tuple(sum, six, best, length, product, found, part, column, done, replica, partition, i)
})"));
}

TEST(AotDevicesTest, MovesGiveTheBitsOfTheJit) {
  ExpectSameBits(R"(
HloModule m, replica_count=4
ENTRY e {
  x = f32[8,6] parameter(0)
  t = f32[8,6]{0,1} parameter(1)
  b = s4[4,4] parameter(2)
  none = f32[0,4] parameter(3)
  rows = f32[32,6] all-gather(x), replica_groups={}, dimensions={0}
  columns = f32[8,12]{0,1} all-gather(t), replica_groups={{1,0},{3,2}}, dimensions={1}
  swapped = f32[8,6] all-to-all(x), replica_groups={{0,2,1,3}}, dimensions={0}
  halves = f32[8,6] all-to-all(x), replica_groups={{0,2},{1,3}}, dimensions={1}
  y = f32[8,6] negate(x)
  exchanged = (f32[8,6], f32[8,6]) all-to-all(x, y), replica_groups={{0,1},{2,3}}
  theirs = f32[8,6] get-tuple-element(exchanged), index=1
  moved = s4[4,4] collective-permute(b), source_target_pairs={{0,1},{1,0},{2,3}}
  spread = f32[8,6] collective-broadcast(x), replica_groups={{2,0},{1}}
  nothing = f32[0,4] collective-permute(none), source_target_pairs={{0,1}}
  start = (f32[8,6], f32[32,6]) all-gather-start(x), replica_groups={}, dimensions={0}
  done = f32[32,6] all-gather-done(start)
  ROOT r = (f32[32,6], f32[8,12]{0,1}, f32[8,6], f32[8,6], f32[8,6], s4[4,4], f32[8,6], f32[0,4], f32[32,6]) tuple(rows, columns, swapped, halves, theirs, moved, spread, nothing, done)
})");
}

TEST(AotDevicesTest, MessagesAndLoops) {
  ExpectSameBits(absl::StrCat("HloModule m, num_partitions=2\n", kReducers, R"(
body { s = (s32[], f32[5]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  j = s32[] add(i, one)
  v = f32[5] get-tuple-element(s), index=1
  u = f32[5] all-reduce(v), channel_id=1, use_global_device_ids=true, replica_groups={{0,1}}, to_apply=add_f32
  ROOT t = (s32[], f32[5]) tuple(j, u) }
condition { s = (s32[], f32[5]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(20)
  ROOT r = pred[] compare(i, n), direction=LT }
ENTRY e {
  x = f32[5] parameter(0)
  zero = s32[] constant(0)
  init = (s32[], f32[5]) tuple(zero, x)
  loop = (s32[], f32[5]) while(init), condition=condition, body=body
  sum = f32[5] get-tuple-element(loop), index=1
  t = token[] after-all()
  send = (f32[5], u32[], token[]) send(x, t), channel_id=7, frontend_attributes={_xla_send_recv_source_target_pairs={{0,1},{1,0}}}
  recv = (f32[5], u32[], token[]) recv(t), channel_id=7, frontend_attributes={_xla_send_recv_source_target_pairs={{0,1},{1,0}}}
  sent = token[] send-done(send), channel_id=7
  got = (f32[5], token[]) recv-done(recv), channel_id=7
  other = f32[5] get-tuple-element(got), index=0
  ROOT r = (f32[5], f32[5]) tuple(sum, other)
})"));
}

// Any module of arrays that gives a tuple of arrays: HLOKIT_AOT_MODULE=FILE.hlo.
std::vector<std::string> ModuleGiven() {
  const char* path = std::getenv("HLOKIT_AOT_MODULE");
  return path == nullptr ? std::vector<std::string>() : std::vector<std::string>{path};
}

class AotDevicesGivenTest : public testing::TestWithParam<std::string> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(AotDevicesGivenTest);

TEST_P(AotDevicesGivenTest, SameBits) { ExpectSameBits(ReadFile(GetParam()).value()); }

INSTANTIATE_TEST_SUITE_P(Module, AotDevicesGivenTest, testing::ValuesIn(ModuleGiven()));

constexpr char kTwo[] = R"(
HloModule m, replica_count=2
add { a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT r = s32[] add(a, b) }
ENTRY e {
  x = s32[4] parameter(0)
  ROOT sum = s32[4] all-reduce(x), replica_groups={}, to_apply=add
})";

TEST(AotDevicesTest, AccessorsTakeADevice) {
  const AotObject object = Compile(kTwo).value();
  const std::string header = GenerateHeader(object, "model", "two.hlo");
  EXPECT_THAT(header, HasSubstr("Runs on 2 devices at once, 2 replicas of 1 partitions"));
  EXPECT_THAT(header, HasSubstr("static inline int32_t* model_x(model_run* run, int64_t device)"));
  EXPECT_THAT(header, HasSubstr("bool set_x(int64_t device, const int32_t* data)"));
  const Loaded loaded(object);
  const RunPointer run = Start(loaded);
  for (const int64_t device : {-1, 2}) {
    EXPECT_EQ(hlokit_aot_device_argument(run.get(), device, 0), nullptr);
    EXPECT_EQ(hlokit_aot_device_result(run.get(), device, 0), nullptr);
    EXPECT_EQ(hlokit_aot_device_queues(run.get(), device), nullptr);
  }
  alignas(HLOKIT_AOT_ALIGNMENT) const int32_t mine[4] = {1, 2, 3, 4};
  alignas(HLOKIT_AOT_ALIGNMENT) int32_t sum[4] = {};
  EXPECT_EQ(hlokit_aot_set_device_argument(run.get(), 1, 0, mine), 0);
  EXPECT_EQ(hlokit_aot_set_device_argument(run.get(), 2, 0, mine), 1);
  EXPECT_EQ(hlokit_aot_set_device_result(run.get(), 0, 0, sum), 0);
  static_cast<int32_t*>(hlokit_aot_argument(run.get(), 0))[3] = 10;
  ASSERT_EQ(hlokit_aot_run(run.get()), 0) << hlokit_aot_error(run.get());
  EXPECT_EQ(sum[0], 1);
  EXPECT_EQ(sum[3], 14);
  EXPECT_EQ(static_cast<const int32_t*>(hlokit_aot_device_result(run.get(), 1, 0))[3], 14);
}

TEST(AotDevicesTest, DevicesThatWaitForEverAreNamed) {
  const Loaded loaded(Compile(R"(
HloModule m, replica_count=3
ENTRY e {
  x = f32[4] parameter(0)
  id = u32[] replica-id()
  one = u32[] constant(1)
  t = token[] after-all()
  recv = (f32[4], u32[], token[]) recv(t), channel_id=7
  got = (f32[4], token[]) recv-done(recv), channel_id=7
  ROOT r = f32[4] get-tuple-element(got), index=0
})")
                          .value());
  const RunPointer run = Start(loaded);
  for (int time = 0; time < 3; ++time) {
    EXPECT_EQ(hlokit_aot_run(run.get()), 1);
    EXPECT_THAT(hlokit_aot_error(run.get()), HasSubstr("wait"));
    EXPECT_THAT(hlokit_aot_error(run.get()), HasSubstr("recv-done %got"));
  }
}

// One device finds a wrong item in its infeed; the other waits for it in a collective, or for an
// item that never comes.
TEST(AotDevicesTest, OneThatFailsEndsTheOthers) {
  const Loaded loaded(Compile(R"(
HloModule m, replica_count=2
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b) }
ENTRY e {
  t = token[] after-all()
  in = (f32[2], token[]) infeed(t)
  x = f32[2] get-tuple-element(in), index=0
  sum = f32[2] all-reduce(x), replica_groups={}, to_apply=add
  after = token[] get-tuple-element(in), index=1
  out = token[] outfeed(sum, after), outfeed_shape=f32[2]
  ROOT r = f32[2] negate(sum)
})")
                          .value());
  const auto push = loaded.Find<decltype(hlokit_infeed_push)>("hlokit_infeed_push");
  const auto pop = loaded.Find<decltype(hlokit_outfeed_pop)>("hlokit_outfeed_pop");
  const auto execute = loaded.Find<decltype(hlokit_aot_run)>("hlokit_aot_run");
  const auto queues = loaded.Find<decltype(hlokit_aot_device_queues)>("hlokit_aot_device_queues");
  const auto cancel = loaded.Find<decltype(hlokit_aot_cancel)>("hlokit_aot_cancel");
  const auto create = loaded.Find<decltype(hlokit_aot_create)>("hlokit_aot_create");
  const auto destroy = loaded.Find<decltype(hlokit_aot_destroy)>("hlokit_aot_destroy");
  const auto error = loaded.Find<decltype(hlokit_aot_error)>("hlokit_aot_error");
  HlokitAotRun* run = create(loaded.model(), nullptr, nullptr, 0);
  ASSERT_NE(run, nullptr);
  const float item[2] = {1, 2};
  const void* arrays[] = {item};
  const int64_t right[] = {8}, wrong[] = {4};
  for (const bool other_waits_for_infeed : {false, true}) {
    push(queues(run, 1), 1, arrays, wrong);
    if (!other_waits_for_infeed) push(queues(run, 0), 1, arrays, right);
    EXPECT_EQ(execute(run), 1);
    EXPECT_THAT(error(run), HasSubstr("device 1: the infeed item's arrays differ"));
  }
  // What was wrong is gone.
  push(queues(run, 0), 1, arrays, right);
  push(queues(run, 1), 1, arrays, right);
  EXPECT_EQ(execute(run), 0) << error(run);
  float sum[2] = {};
  void* into[] = {sum};
  EXPECT_EQ(pop(queues(run, 1), 1, into, right, 0), 1);
  EXPECT_EQ(sum[1], 4);
  std::atomic<bool> done = false;
  std::thread waits([&] {
    EXPECT_EQ(execute(run), 1);
    done = true;
  });
  while (!done) cancel(run);
  waits.join();
  EXPECT_THAT(error(run), HasSubstr("cancelled"));
  destroy(run);
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
