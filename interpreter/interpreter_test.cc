// Runs of modules: devices that meet, limits, observers, infeed and outfeed.
#include "interpreter/interpreter.h"

#include <gtest/gtest.h>

#include <mutex>

#include "absl/strings/str_replace.h"
#include "parser/parser.h"
#include "types/literal_text.h"

namespace hlokit {
namespace {

std::unique_ptr<Module> Parse(const std::string& text) {
  Diagnostics diagnostics;
  auto file = std::make_shared<const SourceFile>("test.hlo", text);
  auto module = ParseModule(file, {}, diagnostics);
  EXPECT_TRUE(module.ok()) << diagnostics.Render(*file);
  return module.ok() ? *std::move(module) : nullptr;
}

// One row a collective: its text on replicas whose argument is {10 d, 10 d + 1}, and each replica's
// result.
struct Collective {
  const char* name;
  int64_t replicas;
  const char* root;
  std::vector<const char*> values;
};

class CollectiveTest : public testing::TestWithParam<Collective> {};

TEST_P(CollectiveTest, GivesEachReplicaItsValue) {
  const auto module = Parse(absl::StrCat(R"(HloModule m
    add { x = s32[] parameter(0)  y = s32[] parameter(1)  ROOT r = s32[] add(x, y) }
    ENTRY e { x = s32[2] parameter(0)
    )",
                                         GetParam().root, "\n}\n"));
  ASSERT_NE(module, nullptr);
  std::vector<Literal> literals;
  for (int32_t d = 0; d < GetParam().replicas; ++d)
    literals.push_back(Literal::R1<int32_t>(std::vector<int32_t>{10 * d, 10 * d + 1}));
  std::vector<std::vector<const Literal*>> arguments;
  for (const Literal& literal : literals) arguments.push_back({&literal});
  InterpreterOptions options;
  options.replicas = GetParam().replicas;
  const auto results = InterpretDevices(*module, arguments, options);
  ASSERT_TRUE(results.ok()) << results.status();
  for (size_t d = 0; d < results->size(); ++d) {
    const std::string value = absl::StrReplaceAll(Text((*results)[d]), {{"( ", "("}, {" )", ")"}});
    EXPECT_EQ(value, GetParam().values[d]) << "replica " << d;
  }
}

const Collective kCollectives[] = {
    {"all_reduce",
     2,
     "ROOT r = s32[2] all-reduce(x), replica_groups={{0,1}}, to_apply=add",
     {"{10, 12}", "{10, 12}"}},
    {"all_reduce_groups",
     4,
     "ROOT r = s32[2] all-reduce(x), replica_groups={{0,2},{1,3}}, to_apply=add",
     {"{20, 22}", "{40, 42}", "{20, 22}", "{40, 42}"}},
    {"all_reduce_start",
     2,
     R"(s = s32[2] all-reduce-start(x), replica_groups={}, to_apply=add
      ROOT d = s32[2] all-reduce-done(s))",
     {"{10, 12}", "{10, 12}"}},
    {"all_gather",
     2,
     "ROOT r = s32[4] all-gather(x), replica_groups={{1,0}}, dimensions={0}",
     {"{10, 11, 0, 1}", "{10, 11, 0, 1}"}},
    {"all_gather_start",
     2,
     R"(s = (s32[2], s32[4]) all-gather-start(x), replica_groups={{0,1}}, dimensions={0}
      ROOT d = s32[4] all-gather-done(s))",
     {"{0, 1, 10, 11}", "{0, 1, 10, 11}"}},
    {"reduce_scatter",
     2,
     "ROOT r = s32[1] reduce-scatter(x), replica_groups={{0,1}}, dimensions={0}, to_apply=add",
     {"{10}", "{12}"}},
    {"all_to_all",
     2,
     "ROOT r = s32[2] all-to-all(x), replica_groups={{0,1}}, dimensions={0}",
     {"{0, 10}", "{1, 11}"}},
    {"all_to_all_tuple",
     2,
     R"(n = s32[2] negate(x)
      ROOT r = (s32[2], s32[2]) all-to-all(x, n), replica_groups={{0,1}})",
     {"({0, 1}, {10, 11})", "({0, -1}, {-10, -11})"}},
    {"collective_permute",
     3,
     "ROOT r = s32[2] collective-permute(x), source_target_pairs={{0,1},{1,2}}",
     {"{0, 0}", "{0, 1}", "{10, 11}"}},
    {"collective_broadcast",
     3,
     "ROOT r = s32[2] collective-broadcast(x), replica_groups={{1,0}}",
     {"{10, 11}", "{10, 11}", "{0, 0}"}},
    {"ragged_all_to_all",
     2,
     R"(o = s32[4] constant({0,0,0,0}) id = u32[] replica-id() i = s32[] convert(id)
      in = s32[3] constant({1,2,0}) a = s32[2] constant({0,1}) one = s32[2] constant({1,1})
      b = s32[2] broadcast(i), dimensions={}
      ROOT r = s32[4] ragged-all-to-all(in, o, a, one, b, one), replica_groups={{0,1}})",
     {"{1, 1, 0, 0}", "{2, 2, 0, 0}"}},
    {"replica_id",
     2,
     "i = u32[] replica-id() p = u32[] partition-id() ROOT t = (u32[], u32[]) tuple(i, p)",
     {"(0, 0)", "(1, 0)"}},
    {"send_recv",
     2,
     R"(t = token[] after-all()
      r = (s32[2], u32[], token[]) recv(t), channel_id=1, frontend_attributes={_xla_send_recv_source_target_pairs="{{0,1}}"}
      s = (s32[2], u32[], token[]) send(x, t), channel_id=1, frontend_attributes={_xla_send_recv_source_target_pairs="{{0,1}}"}
      d = (s32[2], token[]) recv-done(r), channel_id=1  sd = token[] send-done(s), channel_id=1
      ROOT v = s32[2] get-tuple-element(d), index=0)",
     {"{0, 0}", "{0, 1}"}},
};
INSTANTIATE_TEST_SUITE_P(All, CollectiveTest, testing::ValuesIn(kCollectives),
                         [](const auto& info) { return std::string(info.param.name); });

constexpr char kEndless[] = R"(HloModule m
  always { s = s32[] parameter(0)  ROOT t = pred[] constant(true) }
  same { ROOT s = s32[] parameter(0) }
  ENTRY e { z = s32[] constant(0)  ROOT w = s32[] while(z), condition=always, body=same })";

TEST(InterpreterTest, StepLimitEndsLoops) {
  InterpreterOptions options;
  options.step_limit = 1000;
  EXPECT_TRUE(absl::IsResourceExhausted(Interpret(*Parse(kEndless), {}, options).status()));
}

TEST(InterpreterTest, TimeLimitEndsLoops) {
  InterpreterOptions options;
  options.time_limit_s = 0.05;
  EXPECT_TRUE(absl::IsDeadlineExceeded(Interpret(*Parse(kEndless), {}, options).status()));
}

TEST(InterpreterTest, CancelEndsLoops) {
  const std::atomic<bool> cancel{true};
  InterpreterOptions options;
  options.cancel = &cancel;
  EXPECT_TRUE(absl::IsCancelled(Interpret(*Parse(kEndless), {}, options).status()));
}

TEST(InterpreterTest, MemoryLimitCountsLiveValues) {
  const auto module = Parse(R"(HloModule m
    ENTRY e { x = f32[100] iota(), iota_dimension=0  y = f32[100] negate(x)  z = f32[100] negate(y)
      ROOT r = f32[100] negate(z) })");
  InterpreterOptions options;
  options.memory_limit_bytes = 900;  // two of the four arrays
  EXPECT_TRUE(Interpret(*module, {}, options).ok());
  options.memory_limit_bytes = 700;
  EXPECT_TRUE(absl::IsResourceExhausted(Interpret(*module, {}, options).status()));
}

TEST(InterpreterTest, DevicesThatNeverMeetAreADeadlock) {
  const auto module = Parse(R"(HloModule m
    add { x = s32[] parameter(0)  y = s32[] parameter(1)  ROOT r = s32[] add(x, y) }
    meet { x = s32[] parameter(0)  ROOT r = s32[] all-reduce(x), replica_groups={}, to_apply=add }
    pass { ROOT x = s32[] parameter(0) }
    ENTRY e { i = u32[] replica-id()  c = s32[] convert(i)
      ROOT r = s32[] conditional(c, c, c), branch_computations={meet, pass} })");
  InterpreterOptions options;
  options.replicas = 2;
  const auto results = InterpretDevices(*module, {{}, {}}, options);
  EXPECT_TRUE(absl::IsFailedPrecondition(results.status())) << results.status();
}

TEST(InterpreterTest, ObserverSeesEveryValue) {
  const auto module = Parse(R"(HloModule m
    half { x = f32[] parameter(0)  y = f32[] constant(0.5)  ROOT r = f32[] multiply(x, y) }
    ENTRY e { x = f32[] constant(3)  f = f32[] fusion(x), kind=kLoop, calls=half  ROOT t = (f32[]) tuple(f) })");
  std::vector<std::string> seen;
  InterpreterOptions options;
  options.observer = [&](int64_t, const Instruction& instruction, const Literal& value) {
    seen.push_back(absl::StrCat(instruction.name(), "=", Text(value)));
    return absl::OkStatus();
  };
  ASSERT_TRUE(Interpret(*module, {}, options).ok());
  EXPECT_EQ(seen.size(), 6u);
  EXPECT_EQ(seen.back(), "t=( 1.5 )");
}

TEST(InterpreterTest, InfeedAndOutfeedAreInOrder) {
  const auto module = Parse(R"(HloModule m
    ENTRY e { t = token[] after-all()  a = (s32[], token[]) infeed(t)  ta = token[] get-tuple-element(a), index=1
      b = (s32[], token[]) infeed(ta)  tb = token[] get-tuple-element(b), index=1
      x = s32[] get-tuple-element(a), index=0  y = s32[] get-tuple-element(b), index=0
      o = token[] outfeed(y, tb), outfeed_shape=s32[]  ROOT d = s32[] subtract(x, y) })");
  int32_t next = 5;
  std::vector<std::string> out;
  InterpreterOptions options;
  options.infeed = [&](int64_t, const Shape&) { return Literal::R0<int32_t>(next++); };
  options.outfeed = [&](int64_t, const Literal& item) {
    out.push_back(Text(item));
    return absl::OkStatus();
  };
  const auto results = Interpret(*module, {}, options);
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(Text((*results)[0]), "-1");
  EXPECT_EQ(out, std::vector<std::string>{"6"});
}

TEST(InterpreterTest, FlushesDenormalsOnRequest) {
  const auto module = Parse(R"(HloModule m
    ENTRY e { x = f32[3] constant({1e-40,-1e-40,1})  ROOT r = f32[3] ceil(x) })");
  InterpreterOptions options;
  EXPECT_EQ(Text((*Interpret(*module, {}, options))[0]), "{1, -0, 1}");
  options.flush_denormals = true;
  EXPECT_EQ(Text((*Interpret(*module, {}, options))[0]), "{0, -0, 1}");
}

TEST(InterpreterTest, ArgumentsAreCheckedAndNeverWritten) {
  const auto module = Parse(R"(HloModule m
    ENTRY e { x = s32[3] parameter(0)  u = s32[1] constant({9})  i = s32[] constant(1)
      ROOT r = s32[3] dynamic-update-slice(x, u, i) })");
  std::vector<Literal> arguments;
  arguments.push_back(Literal::R1<int32_t>({1, 2, 3}));
  const auto results = Interpret(*module, arguments);
  ASSERT_TRUE(results.ok());
  EXPECT_EQ(Text((*results)[0]), "{1, 9, 3}");
  EXPECT_EQ(Text(arguments[0]), "{1, 2, 3}");
  EXPECT_TRUE(absl::IsInvalidArgument(Interpret(*module, {}).status()));
  arguments[0] = Literal::R1<int32_t>({1, 2});
  EXPECT_TRUE(absl::IsInvalidArgument(Interpret(*module, arguments).status()));
}

TEST(InterpreterTest, DeepCallsDoNotUseTheStack) {
  std::string text = "HloModule m\nbody0 { x = s32[] parameter(0)  ROOT r = s32[] add(x, x) }\n";
  for (int i = 1; i < 20000; ++i)
    absl::StrAppend(&text, "body", i,
                    " { x = s32[] parameter(0)  ROOT r = s32[] call(x), to_apply=body", i - 1,
                    " }\n");
  const auto module = Parse(
      text + "ENTRY e { x = s32[] constant(4)  ROOT r = s32[] call(x), to_apply=body19999 }\n");
  const auto results = Interpret(*module, {});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(Text((*results)[0]), "8");
}

TEST(InterpreterTest, EvaluatesOneInstruction) {
  const auto module = Parse(R"(HloModule m
    add { x = s32[] parameter(0)  y = s32[] parameter(1)  ROOT r = s32[] add(x, y) }
    ENTRY e { x = s32[3] constant({1,2,3})  z = s32[] constant(0)
      ROOT r = s32[] reduce(x, z), dimensions={0}, to_apply=add })");
  const Instruction& root = *module->entry()->root();
  const auto value =
      EvaluateInstruction(root, {root.operand(0)->literal(), root.operand(1)->literal()});
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_EQ(Text(*value), "6");
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
