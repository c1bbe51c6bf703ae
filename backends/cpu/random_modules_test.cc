// Random modules give on the CPU, after its pipeline and as they stand, what the interpreter gives.
//
// HLOKIT_SANITIZE=emitted or optimized: the code checks itself, and finds nothing.
// HLOKIT_RANDOM_MODULES=20000 HLOKIT_RANDOM_SEED=0 tell RandomModulesSlowTest how many, from where;
// HLOKIT_RANDOM_STAGE=fused of which stage (hlo-gen --list-stages), all in turn where it is not
// set.
// HLOKIT_RANDOM_DYNAMIC=1 adds sizes that only the run knows; HLOKIT_RANDOM_RECIPE=EndsMoved has
// steps of one kind alone (hlo-gen --list-recipes).
// HLOKIT_RANDOM_WAYS=1 compiles each module once instead of twice, with or without passes in turn:
// nearly all of a module's time is LLVM's, so twice as many modules are tried in the same time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <deque>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "backends/cpu/cpu_backend.h"
#include "generator/generator.h"
#include "interpreter/interpreter.h"
#include "printer/whole_text.h"
#include "types/compare.h"

namespace hlokit {
namespace {

int64_t FromEnvironment(const char* name, int64_t otherwise) {
  const char* const text = std::getenv(name);
  return text != nullptr ? std::atoll(text) : otherwise;
}

// Where a module that failed can be looked at.
std::string Save(const Module& module, uint64_t seed) {
  std::string path = testing::TempDir() + "random_" + std::to_string(seed) + ".hlo";
  std::ofstream(path) << WholeText(module);
  return path;
}

// Empty where the two agree within each array's tolerance.
std::string Differences(const RandomModule& random, const Literal& expected,
                        const Literal& actual) {
  std::string text;
  for (size_t i = 0; i < random.tolerances.size(); ++i) {
    const bool tuple = expected.shape().IsTuple();
    CompareOptions options;
    options.abs_error = random.tolerances[i];
    const CompareResult result = Compare(tuple ? expected.elements()[i] : expected,
                                         tuple ? actual.elements()[i] : actual, options);
    if (!result.equal)
      text += "array " + std::to_string(i) + ", within " + std::to_string(options.abs_error) +
              ": " + result.Report();
  }
  return text;
}

// What one execution gives: each device's result, and what the host got.
struct Outcome {
  std::vector<Literal> results;
  std::vector<Literal> taken;
};

// Of each device, one an entry parameter.
using Arguments = std::vector<std::vector<Literal>>;

Arguments ArgumentsOf(const Module& module, uint64_t seed) {
  const int64_t devices = module.header().replica_count * module.header().num_partitions;
  Arguments arguments;
  for (int64_t device = 0; device < devices; ++device)
    arguments.push_back(RandomArguments(module, seed + 1000003 * static_cast<uint64_t>(device)));
  return arguments;
}

std::vector<DeviceArguments> PointersTo(const Arguments& arguments) {
  std::vector<DeviceArguments> pointers(arguments.size());
  for (size_t device = 0; device < arguments.size(); ++device)
    for (const Literal& argument : arguments[device]) pointers[device].push_back(&argument);
  return pointers;
}

// The host's ends, for either platform.
HostQueues QueuesOf(RandomHost& host) {
  return {[&host](int64_t, const Shape& shape) { return host.Feed(shape); },
          [&host](int64_t, const Literal& item) {
            host.Take(item);
            return absl::OkStatus();
          }};
}

absl::StatusOr<Outcome> RunOnInterpreter(const RandomModule& random, uint64_t seed,
                                         const Arguments& arguments) {
  RandomHost host(seed);
  const HostQueues queues = QueuesOf(host);
  InterpreterOptions options;
  options.infeed = queues.infeed;
  options.outfeed = queues.outfeed;
  auto results = InterpretDevices(*random.module, PointersTo(arguments), options);
  if (!results.ok()) return results.status();
  return Outcome{*std::move(results), host.taken()};
}

// How the CPU runs a module.
struct Execution {
  CompileOptions::Passes passes = CompileOptions::Passes::kPipeline;
  int threads = 1;
  int opt_level = 1;
  bool misaligned = false;  // arguments lie at odd multiples of their elements' size
};

std::string Text(const Execution& how) {
  return absl::StrCat(
      how.passes == CompileOptions::Passes::kNone ? "as it stands" : "after the pipeline",
      ", opt-level ", how.opt_level, ", threads ", how.threads,
      how.misaligned ? ", misaligned arguments: " : ": ");
}

// Arguments in memory of the caller's, in the layouts that the module's entry states, aligned to
// the size of an element alone, as arrays in the middle of a file are.
class MisalignedArguments {
 public:
  MisalignedArguments(const Module& module, absl::Span<const Literal> arguments) {
    const auto& stated = module.header().entry_layout;
    for (size_t p = 0; p < arguments.size(); ++p) {
      shapes_.push_back(stated ? stated->parameters[p] : arguments[p].shape());
      memory_.emplace_back(arguments[p].byte_size() + 2 * kAlignment);
    }
    for (size_t p = 0; p < arguments.size(); ++p) {
      const auto address = reinterpret_cast<uintptr_t>(memory_[p].data());
      const uintptr_t shift = kAlignment - address % kAlignment + ByteWidth(shapes_[p].type);
      uint8_t* const at = memory_[p].data() + shift;
      ToLayout(arguments[p], shapes_[p], at);
      views_.emplace_back(&shapes_[p], at);
    }
  }
  const DeviceViews& views() const { return views_; }

 private:
  static constexpr uintptr_t kAlignment = 64;
  std::deque<Shape> shapes_;  // whose addresses stay
  std::vector<std::vector<uint8_t>> memory_;
  DeviceViews views_;
};

absl::StatusOr<std::vector<Literal>> Run(Executable& executable, const Module& module,
                                         const Arguments& arguments, bool misaligned) {
  std::deque<MisalignedArguments> elsewhere;  // live as long as the run
  std::vector<DeviceViews> views;
  for (const DeviceArguments& device : PointersTo(arguments))
    views.emplace_back(device.begin(), device.end());
  for (size_t device = 0; misaligned && device < arguments.size(); ++device)
    views[device] = elsewhere.emplace_back(module, arguments[device]).views();
  auto prepared = executable.PrepareViews(views);
  if (!prepared.ok()) return prepared.status();
  const absl::Status status = (*prepared)->Run();
  for (const absl::Status& finding : (*prepared)->Findings()) return finding;
  if (!status.ok()) return status;
  return (*prepared)->TakeResults();
}

// HLOKIT_SANITIZE=emitted or optimized: the code checks itself.
CompileOptions::Sanitize WhatToSanitize() {
  using Stage = CompileOptions::Sanitize;
  const char* const stage = std::getenv("HLOKIT_SANITIZE");
  if (stage == nullptr) return Stage::kNone;
  return absl::string_view(stage) == "optimized" ? Stage::kOptimized : Stage::kEmitted;
}

// What is wrong with the CPU's execution; empty where nothing is.
std::string RunOnCpu(const RandomModule& random, uint64_t seed, const Arguments& arguments,
                     const Outcome& expected, const Execution& how) {
  RandomHost host(seed);
  CompileOptions options;
  options.host = QueuesOf(host);
  options.which_passes = how.passes;
  options.threads = how.threads;
  options.opt_level = how.opt_level;
  options.sanitize = WhatToSanitize();
  auto executable = MakeCpuBackend()->Compile(random.module->Clone(), options);
  if (!executable.ok()) return "does not compile: " + executable.status().ToString();
  const auto actual = Run(**executable, *random.module, arguments, how.misaligned);
  if (!actual.ok()) return "does not run: " + actual.status().ToString();
  if (host.taken().size() != expected.taken.size()) return "the host got more, or less";
  for (size_t i = 0; i < expected.taken.size(); ++i)
    if (const CompareResult result = Compare(expected.taken[i], host.taken()[i], CompareOptions());
        !result.equal)
      return "item " + std::to_string(i) + " of the host: " + result.Report();
  std::string text;
  for (size_t device = 0; device < actual->size(); ++device)
    text += Differences(random, expected.results[device], (*actual)[device]);
  return text;
}

// Of two ways one, which depends on the seed, where HLOKIT_RANDOM_WAYS=1. Consecutive seeds of one
// level get the same way, so that each level meets both.
absl::Span<const Execution> WaysToTry(absl::Span<const Execution> ways, uint64_t seed) {
  if (ways.size() < 2 || FromEnvironment("HLOKIT_RANDOM_WAYS", 2) != 1) return ways;
  return ways.subspan(seed / 4 % 2, 1);
}

// Runs on the interpreter, then in each of these ways.
void Check(const GeneratorOptions& options, absl::Span<const Execution> ways) {
  const RandomModule random = GenerateModule(options);
  const Arguments arguments = ArgumentsOf(*random.module, options.seed);
  const auto expected = RunOnInterpreter(random, options.seed, arguments);
  ASSERT_TRUE(expected.ok()) << expected.status() << "\n" << Save(*random.module, options.seed);
  for (const Execution& how : WaysToTry(ways, options.seed))
    EXPECT_EQ(RunOnCpu(random, options.seed, arguments, *expected, how), "")
        << Text(how) << Save(*random.module, options.seed);
}

GeneratorOptions OptionsFor(uint64_t seed) {
  GeneratorOptions options;
  options.seed = seed;
  options.instructions = 12 + static_cast<int>(seed % 3) * 8;
  options.dynamic_shapes = FromEnvironment("HLOKIT_RANDOM_DYNAMIC", 0) != 0;
  if (const char* recipe = std::getenv("HLOKIT_RANDOM_RECIPE")) options.recipe = recipe;
  return options;
}

void Check(uint64_t seed) {
  using Passes = CompileOptions::Passes;
  const int threads = seed % 4 == 3 ? 2 : 1;
  const int level = seed % 3 == 0 ? 2 : 1;  // 1 compiles fast, 2 is what people run
  std::vector<Execution> ways = {{Passes::kPipeline, threads, level}};
  if (seed % 2 != 0) ways.push_back({Passes::kNone, threads, level});
  Check(OptionsFor(seed), ways);
}

// As it stands and after the pipeline, at two of the levels in turn.
void CheckStage(const std::string& stage, uint64_t seed) {
  using Passes = CompileOptions::Passes;
  GeneratorOptions options = OptionsFor(seed);
  options.stage = stage;
  if (seed % 4 == 0) options.max_elements = 2500;
  const int level = static_cast<int>(seed % 4), threads = seed % 5 == 4 ? 2 : 1;
  const bool misaligned = seed % 3 == 1;
  Check(options, {{Passes::kNone, threads, level, misaligned},
                  {Passes::kPipeline, threads, (level + 2) % 4, !misaligned}});
}

TEST(RandomModulesTest, CpuAgreesWithInterpreter) {
  for (uint64_t seed = 0; seed < 40; ++seed) Check(seed);
}

TEST(RandomModulesTest, CpuMasksDynamicSizesOrRefusesThemByName) {
  int masked = 0, refused = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    GeneratorOptions options;
    options.seed = seed;
    options.dynamic_shapes = true;
    const RandomModule random = GenerateModule(options);
    bool dynamic = false;
    for (const Computation* c : random.module->Computations())
      for (const Instruction* i : c->Instructions()) dynamic |= i->shape().HasDynamicDims();
    if (!dynamic) continue;
    const auto executable = MakeCpuBackend()->Compile(random.module->Clone(), CompileOptions());
    if (executable.ok()) {
      ++masked;
      const Arguments arguments = ArgumentsOf(*random.module, seed);
      const auto expected = RunOnInterpreter(random, seed, arguments);
      ASSERT_TRUE(expected.ok()) << expected.status();
      EXPECT_EQ(RunOnCpu(random, seed, arguments, *expected, {}), "") << Save(*random.module, seed);
      continue;
    }
    ++refused;
    EXPECT_TRUE(absl::IsUnimplemented(executable.status())) << executable.status();
    EXPECT_THAT(std::string(executable.status().message()),
                testing::HasSubstr("--platform=interpreter"));
  }
  EXPECT_GT(masked, 1);
  RecordProperty("refused", refused);
}

class StagesTest : public testing::TestWithParam<std::string> {};

TEST_P(StagesTest, CpuAgreesWithInterpreter) {
  for (uint64_t seed = 0; seed < 8; ++seed) CheckStage(GetParam(), seed);
}

std::vector<std::string> Stages() {
  std::vector<std::string> names;
  for (StageName& stage : StageNames()) names.push_back(std::move(stage.name));
  return names;
}

INSTANTIATE_TEST_SUITE_P(Random, StagesTest, testing::ValuesIn(Stages()),
                         [](const auto& info) { return info.param; });

TEST(RandomModulesSlowTest, CpuAgreesWithInterpreter) {
  const int64_t first = FromEnvironment("HLOKIT_RANDOM_SEED", 1000);
  const int64_t count = FromEnvironment("HLOKIT_RANDOM_MODULES", 1000);
  const char* const chosen = std::getenv("HLOKIT_RANDOM_STAGE");
  const std::vector<std::string> stages =
      chosen != nullptr ? std::vector<std::string>{chosen} : Stages();
  const std::string current = testing::TempDir() + "random_current_seed_" + std::to_string(first);
  for (int64_t seed = first; seed < first + count; ++seed) {
    const std::string& stage = stages[static_cast<size_t>(seed) % stages.size()];
    std::ofstream(current) << stage << " " << seed << "\n";  // names the module that crashes
    if (stage == "raw")
      Check(static_cast<uint64_t>(seed));
    else
      CheckStage(stage, static_cast<uint64_t>(seed));
  }
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
