// Random modules give on ptx-sim what the interpreter gives; PTX names its target; what does not
// fit or is not there is refused.
//
// HLOKIT_RANDOM_MODULES=20000 HLOKIT_RANDOM_SEED=0 tell RandomGpuModulesSlowTest how many, from
// where; HLOKIT_RANDOM_STAGE=fused of which stage (hlo-gen --list-stages), all in turn where it is
// not set; HLOKIT_RANDOM_RECIPE=SoftmaxOfRows of which kind of steps (hlo-gen --list-recipes).
#include "backends/cuda/cuda_backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "backends/cuda/gpu_arch.h"
#include "generator/generator.h"
#include "interpreter/interpreter.h"
#include "parser/parser.h"
#include "printer/whole_text.h"
#include "types/compare.h"

namespace hlokit {
namespace {

using testing::HasSubstr;

int64_t FromEnvironment(const char* name, int64_t otherwise) {
  const char* const text = std::getenv(name);
  return text != nullptr ? std::atoll(text) : otherwise;
}

std::unique_ptr<Module> Parse(const std::string& text) {
  Diagnostics diagnostics;
  auto source = std::make_shared<const SourceFile>("test.hlo", text);
  return ParseModule(source, {}, diagnostics).value();
}

HostQueues QueuesOf(RandomHost& host) {
  return {[&host](int64_t, const Shape& shape) { return host.Feed(shape); },
          [&host](int64_t, const Literal& item) {
            host.Take(item);
            return absl::OkStatus();
          }};
}

// The arguments of each device.
std::vector<std::vector<Literal>> ArgumentsOf(const Module& module, uint64_t seed) {
  const int64_t devices = module.header().replica_count * module.header().num_partitions;
  std::vector<std::vector<Literal>> arguments;
  for (int64_t device = 0; device < devices; ++device)
    arguments.push_back(RandomArguments(module, seed + 1000003 * static_cast<uint64_t>(device)));
  return arguments;
}

absl::StatusOr<std::vector<Literal>> RunOnSimulator(const Module& module,
                                                    absl::Span<const DeviceArguments> arguments,
                                                    const CompileOptions& options) {
  auto executable = MakePtxSimBackend()->Compile(module.Clone(), options);
  if (!executable.ok()) return executable.status();
  auto prepared = (*executable)->Prepare(arguments);
  if (!prepared.ok()) return prepared.status();
  if (absl::Status status = (*prepared)->Run(); !status.ok()) return status;
  return (*prepared)->TakeResults();
}

// Empty where the two agree within each array's tolerance.
std::string DifferencesOf(const RandomModule& random, const Literal& expected,
                          const Literal& actual) {
  std::string text;
  const bool tuple = expected.shape().IsTuple();
  for (size_t k = 0; k < random.tolerances.size(); ++k) {
    CompareOptions options;
    options.abs_error = random.tolerances[k];
    const CompareResult result = Compare(tuple ? expected.elements()[k] : expected,
                                         tuple ? actual.elements()[k] : actual, options);
    if (!result.equal) absl::StrAppend(&text, "array ", k, ": ", result.Report());
  }
  return text;
}

void Check(const std::string& stage, uint64_t seed) {
  GeneratorOptions options;
  options.seed = seed;
  options.instructions = 12 + static_cast<int>(seed % 3) * 8;
  if (!stage.empty()) options.stage = stage;
  if (const char* const recipe = std::getenv("HLOKIT_RANDOM_RECIPE")) options.recipe = recipe;
  const RandomModule random = GenerateModule(options);
  const std::string name = absl::StrCat(stage, " ", seed, "\n", WholeText(*random.module));
  const auto arguments = ArgumentsOf(*random.module, seed);
  std::vector<DeviceArguments> pointers(arguments.size());
  for (size_t device = 0; device < arguments.size(); ++device)
    for (const Literal& argument : arguments[device]) pointers[device].push_back(&argument);
  RandomHost host(seed), same_host(seed);
  InterpreterOptions reference;
  reference.infeed = QueuesOf(host).infeed;
  reference.outfeed = QueuesOf(host).outfeed;
  const auto expected = InterpretDevices(*random.module, pointers, reference);
  ASSERT_TRUE(expected.ok()) << expected.status() << name;
  CompileOptions compile;
  compile.host = QueuesOf(same_host);
  compile.threads = 1;
  compile.opt_level = static_cast<int>(seed % 4);
  if (seed % 2 != 0) compile.which_passes = CompileOptions::Passes::kNone;
  const auto actual = RunOnSimulator(*random.module, pointers, compile);
  ASSERT_TRUE(actual.ok()) << actual.status() << name;
  EXPECT_EQ(host.taken().size(), same_host.taken().size()) << name;
  for (size_t device = 0; device < expected->size(); ++device)
    EXPECT_EQ(DifferencesOf(random, (*expected)[device], (*actual)[device]), "") << name;
}

std::vector<std::string> StagesToRun() {
  if (const char* const chosen = std::getenv("HLOKIT_RANDOM_STAGE")) return {chosen};
  std::vector<std::string> names;
  for (StageName& stage : StageNames()) names.push_back(std::move(stage.name));
  return names;
}

TEST(RandomGpuModulesTest, SimulatorAgreesWithInterpreter) {
  for (uint64_t seed = 0; seed < 40; ++seed) Check("", seed);
  for (const std::string& stage : StagesToRun())
    for (uint64_t seed = 0; seed < 2; ++seed) Check(stage, seed);
}

TEST(RandomGpuModulesSlowTest, SimulatorAgreesWithInterpreter) {
  const int64_t first = FromEnvironment("HLOKIT_RANDOM_SEED", 1000);
  const int64_t count = FromEnvironment("HLOKIT_RANDOM_MODULES", 1000);
  const std::vector<std::string> stages = StagesToRun();
  for (int64_t seed = first; seed < first + count && !testing::Test::HasFailure(); ++seed)
    Check(stages[static_cast<size_t>(seed) % stages.size()], static_cast<uint64_t>(seed));
}

constexpr char kRemainders[] = R"(HloModule m
ENTRY e {
  x = f32[8] parameter(0)
  y = f32[8] parameter(1)
  ROOT r = f32[8] remainder(x, y)
})";

TEST(CudaBackendTest, RemaindersAreExact) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float x[] = {7, -7, 1e38f, 5.5f, 1e-40f, kInfinity, 3, -0.0f};
  const float y[] = {2, 2, 3e-38f, -1.25f, 3e-45f, 1, kInfinity, 1};
  const Literal lhs = Literal::R1<float>(x), rhs = Literal::R1<float>(y);
  const auto results = RunOnSimulator(*Parse(kRemainders), {{&lhs, &rhs}}, {});
  ASSERT_TRUE(results.ok()) << results.status();
  for (int k = 0; k < 8; ++k) {
    const float expected = std::fmod(x[k], y[k]), actual = results->front().as<float>()[k];
    EXPECT_TRUE((std::isnan(expected) && std::isnan(actual)) ||
                (expected == actual && std::signbit(expected) == std::signbit(actual)))
        << x[k] << " rem " << y[k] << " is " << actual << ", expected " << expected;
  }
}

TEST(CudaBackendTest, BitsDependNeitherOnThreadsNorOnLevel) {
  const auto module = Parse(R"(HloModule m
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
ENTRY e {
  x = f32[40,300] parameter(0)
  y = f32[40,300] exponential(x)
  zero = f32[] constant(0)
  ROOT r = f32[40] reduce(y, zero), dimensions={1}, to_apply=add
})");
  const std::vector<Literal> arguments = RandomArguments(*module, 7);
  std::vector<Literal> all;
  for (const int threads : {1, 8})
    for (const int level : {0, 1, 2, 3}) {
      CompileOptions options;
      options.threads = threads;
      options.opt_level = level;
      auto results = RunOnSimulator(*module, {{&arguments[0]}}, options);
      ASSERT_TRUE(results.ok()) << results.status();
      all.push_back(std::move(results->front()));
      EXPECT_TRUE(all.back() == all.front()) << threads << " threads, level " << level;
    }
}

// Without passes: the bits of NaN that loops of bf16 only move, its sign too.
TEST(CudaBackendTest, NansOfBF16ThatMove) {
  const auto module = Parse(R"(HloModule m
ENTRY e {
  less = pred[8] constant({1, 1, 1, 0, 1, 1, 0, 0})
  x = bf16[6] constant({-nan, nan, 1, -nan, -2, -nan})
  y = bf16[2] constant({-nan, 2})
  c = bf16[] constant(-nan)
  i = s32[] constant(1)
  padded = bf16[8] pad(x, c), padding=1_1
  joined = bf16[8] concatenate(x, y), dimensions={0}
  moved = bf16[8] select(less, padded, joined)
  changed = bf16[8] dynamic-update-slice(moved, y, i)
  a = u16[8] bitcast-convert(padded)
  b = u16[8] bitcast-convert(joined)
  d = u16[8] bitcast-convert(changed)
  ROOT u = (u16[8], u16[8], u16[8]) tuple(a, b, d)
})");
  CompileOptions options;
  options.which_passes = CompileOptions::Passes::kNone;
  const auto results = RunOnSimulator(*module, {{}}, options);
  ASSERT_TRUE(results.ok()) << results.status();
  const auto expected = Interpret(*module, {});
  ASSERT_TRUE(expected.ok());
  const CompareResult same = Compare(expected->front(), results->front(), {});
  EXPECT_TRUE(same.equal) << same.Report();
}

// Reductions of which there are none, as they come without passes.
TEST(CudaBackendTest, NoRows) {
  for (const char* const kept : {"40000,0], dimensions={0}", "0,40000], dimensions={1}"}) {
    const std::vector<std::string> parts = absl::StrSplit(kept, "], ");
    const auto module = Parse(absl::StrCat(R"(HloModule m
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
ENTRY e {
  x = f32[)",
                                           parts[0], R"(] parameter(0)
  zero = f32[] constant(0)
  ROOT r = f32[0] reduce(x, zero), )",
                                           parts[1], R"(, to_apply=add
})"));
    const std::vector<Literal> arguments = RandomArguments(*module, 1);
    CompileOptions options;
    options.which_passes = CompileOptions::Passes::kNone;
    const auto results = RunOnSimulator(*module, {{&arguments[0]}}, options);
    ASSERT_TRUE(results.ok()) << results.status();
    EXPECT_EQ(results->front().element_count(), 0);
  }
}

TEST(CudaBackendTest, PtxNamesItsTarget) {
  for (const char* arch : {"sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a"}) {
    const auto ptx = PtxOfModule(Parse(kRemainders), arch, {});
    ASSERT_TRUE(ptx.ok()) << ptx.status();
    EXPECT_THAT(*ptx, HasSubstr(absl::StrCat(".target ", arch, "\n")));
    EXPECT_THAT(*ptx, HasSubstr(".entry kernel_0_r("));
  }
}

TEST(CudaBackendTest, ArchitecturesOfDevices) {
  EXPECT_EQ(GpuArchOfDevice(90)->name, "sm_90a");
  EXPECT_EQ(GpuArchOfDevice(103)->name, "sm_100");
  EXPECT_EQ(GpuArchOfDevice(72)->name, "sm_70");
  EXPECT_THAT(std::string(GpuArchOfDevice(61).status().message()), HasSubstr("sm_61"));
  EXPECT_THAT(std::string(GpuArchNamed("sm_91").status().message()), HasSubstr("sm_90a"));
}

TEST(CudaBackendTest, WhatDoesNotFitIsRefusedBeforeItIsAllocated) {
  const auto module = Parse(R"(HloModule m
ENTRY e {
  x = f32[] parameter(0)
  ROOT r = f32[1048576,1048576,16] broadcast(x), dimensions={}
})");
  const Literal one = Literal::R0(1.0f);
  const absl::Status status = RunOnSimulator(*module, {{&one}}, {}).status();
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("the program needs 67108864.0 MiB"));
}

// 600 addresses are more than a kernel's parameters may take.
TEST(CudaBackendTest, ManyArraysAreComputedOnTheHost) {
  const std::string text = absl::StrCat(
      "HloModule m\nENTRY e {\n p = f32[2] parameter(0)\n", " ROOT r = f32[1200] concatenate(",
      absl::StrJoin(std::vector<std::string>(600, "p"), ", "), "), dimensions={0}\n}\n");
  const std::vector<float> values = {1, 2};
  const Literal argument = Literal::R1<float>(values);
  CompileOptions options;
  options.which_passes = CompileOptions::Passes::kNone;
  const auto results = RunOnSimulator(*Parse(text), {{&argument}}, options);
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(results->front().as<float>()[1198], 1);
  EXPECT_EQ(results->front().as<float>()[1199], 2);
  auto executable = MakePtxSimBackend()->Compile(Parse(text), options).value();
  EXPECT_EQ(executable->stats().fallbacks.size(), 1);
}

TEST(CudaBackendTest, ProfileNamesInstructions) {
  const auto module = Parse(R"(HloModule m
lt { a = f32[] parameter(0) b = f32[] parameter(1) ROOT l = pred[] compare(a, b), direction=LT }
ENTRY e {
  x = f32[100] parameter(0)
  y = f32[100] sine(x)
  ROOT s = f32[100] sort(y), dimensions={0}, to_apply=lt
})");
  CompileOptions options;
  options.profile = true;
  auto executable = MakePtxSimBackend()->Compile(module->Clone(), options).value();
  const std::vector<Literal> arguments = RandomArguments(*module, 7);
  auto run = executable->Prepare({{&arguments[0]}}).value();
  ASSERT_TRUE(run->Run().ok() && run->Run().ok());
  const std::vector<InstructionTime> times = run->Profile();
  ASSERT_EQ(times.size(), 2);
  EXPECT_EQ(times[0].instruction->opcode(), Opcode::kSine);
  EXPECT_EQ(times[1].instruction->opcode(), Opcode::kSort);
  for (const InstructionTime& time : times) {
    EXPECT_EQ(time.calls, 2);
    EXPECT_GT(time.seconds, 0);
  }
}

// A loop that counts to a constant is launched without asking its condition, whatever the text says
// of its trips; one that ends by its data is asked before each.
TEST(CudaBackendTest, CountedLoopsAreNotAsked) {
  const char* const text = R"(HloModule m
counts { s = (s32[], f32[4]) parameter(0) i = s32[] get-tuple-element(s), index=0 n = s32[] constant(5) ROOT c = pred[] compare(i, n), direction=LT }
grows { s = (s32[], f32[4]) parameter(0) x = f32[4] get-tuple-element(s), index=1 e = f32[1] slice(x), slice={[0:1]} y = f32[] reshape(e) n = f32[] constant(%s) ROOT c = pred[] compare(y, n), direction=LT }
body { s = (s32[], f32[4]) parameter(0) i = s32[] get-tuple-element(s), index=0 one = s32[] constant(1) j = s32[] add(i, one)
  x = f32[4] get-tuple-element(s), index=1 y = f32[4] add(x, x) ROOT r = (s32[], f32[4]) tuple(j, y) }
ENTRY e {
  x = f32[4] parameter(0)
  zero = s32[] constant(0)
  start = (s32[], f32[4]) tuple(zero, x)
  loop = (s32[], f32[4]) while(start), condition=CONDITION, body=body, backend_config={"known_trip_count":{"n":"7"}}
  ROOT r = f32[4] get-tuple-element(loop), index=1
})";
  for (const auto passes : {CompileOptions::Passes::kPipeline, CompileOptions::Passes::kNone})
    for (const bool counted : {true, false}) {
      const auto module = Parse(
          absl::StrReplaceAll(text, {{"%s", "32"}, {"CONDITION", counted ? "counts" : "grows"}}));
      const std::vector<float> values = {1, 2, 3, 4};
      const Literal argument = Literal::R1<float>(values);
      CompileOptions options;
      options.profile = true;
      options.which_passes = passes;
      auto executable = MakePtxSimBackend()->Compile(module->Clone(), options).value();
      auto run = executable->Prepare({{&argument}}).value();
      ASSERT_TRUE(run->Run().ok());
      const auto results = run->TakeResults();
      ASSERT_TRUE(results.ok()) << results.status();
      EXPECT_EQ(results->front().as<float>()[3], 128);
      int64_t asked = 0, added = 0;
      for (const InstructionTime& time : run->Profile()) {
        const bool is_condition = time.instruction->shape().type == ElementType::kPred;
        (is_condition ? asked : added) += time.calls;
      }
      EXPECT_EQ(asked > 0, !counted);
      EXPECT_GE(added, 5);
    }
}

TEST(CudaBackendTest, NoDriverIsARefusal) {
  const auto executable = MakeCudaBackend()->Compile(Parse(kRemainders), {});
  if (executable.ok()) GTEST_SKIP() << "this machine has a GPU";
  EXPECT_THAT(std::string(executable.status().message()), HasSubstr("CUDA driver"));
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
