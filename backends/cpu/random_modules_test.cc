// Random modules give on the CPU, after its pipeline and as they stand, what the interpreter gives.
//
// HLOKIT_RANDOM_MODULES=20000 HLOKIT_RANDOM_SEED=0 tell RandomModulesSlowTest how many, from where.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

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

// What one execution gives: its result, and what the host got.
struct Outcome {
  Literal result;
  std::vector<Literal> taken;
};

// The host's ends, for either platform.
HostQueues QueuesOf(RandomHost& host) {
  return {[&host](int64_t, const Shape& shape) { return host.Feed(shape); },
          [&host](int64_t, const Literal& item) {
            host.Take(item);
            return absl::OkStatus();
          }};
}

absl::StatusOr<Outcome> RunOnInterpreter(const RandomModule& random, uint64_t seed,
                                         absl::Span<const Literal> arguments) {
  RandomHost host(seed);
  const HostQueues queues = QueuesOf(host);
  InterpreterOptions options;
  options.infeed = queues.infeed;
  options.outfeed = queues.outfeed;
  auto results = Interpret(*random.module, arguments, options);
  if (!results.ok()) return results.status();
  return Outcome{std::move(results->front()), host.taken()};
}

// What is wrong with the CPU's execution; empty where nothing is.
std::string RunOnCpu(const RandomModule& random, uint64_t seed,
                     const std::vector<Literal>& arguments, const Outcome& expected,
                     CompileOptions::Passes passes, int threads) {
  RandomHost host(seed);
  CompileOptions options;
  options.host = QueuesOf(host);
  options.which_passes = passes;
  options.threads = threads;
  options.opt_level = seed % 3 == 0 ? 2 : 1;  // level 1 compiles fast, level 2 is what people run
  auto executable = MakeCpuBackend()->Compile(random.module->Clone(), options);
  if (!executable.ok()) return "does not compile: " + executable.status().ToString();
  auto actual = (*executable)->Run(arguments);
  if (!actual.ok()) return "does not run: " + actual.status().ToString();
  if (host.taken().size() != expected.taken.size()) return "the host got more, or less";
  for (size_t i = 0; i < expected.taken.size(); ++i)
    if (const CompareResult result = Compare(expected.taken[i], host.taken()[i], CompareOptions());
        !result.equal)
      return "item " + std::to_string(i) + " of the host: " + result.Report();
  return Differences(random, expected.result, *actual);
}

void Check(uint64_t seed) {
  GeneratorOptions options;
  options.seed = seed;
  options.instructions = 12 + static_cast<int>(seed % 3) * 8;
  const RandomModule random = GenerateModule(options);
  const std::vector<Literal> arguments = RandomArguments(*random.module, seed);
  const auto expected = RunOnInterpreter(random, seed, arguments);
  ASSERT_TRUE(expected.ok()) << expected.status() << "\n" << Save(*random.module, seed);
  using Passes = CompileOptions::Passes;
  for (const Passes passes : {Passes::kPipeline, Passes::kNone}) {
    if (passes == Passes::kNone && seed % 2 == 0) continue;
    const std::string wrong =
        RunOnCpu(random, seed, arguments, *expected, passes, seed % 4 == 3 ? 2 : 1);
    EXPECT_EQ(wrong, "") << (passes == Passes::kNone ? "as it stands: " : "after the pipeline: ")
                         << Save(*random.module, seed);
  }
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
      const std::vector<Literal> arguments = RandomArguments(*random.module, seed);
      const auto expected = RunOnInterpreter(random, seed, arguments);
      ASSERT_TRUE(expected.ok()) << expected.status();
      EXPECT_EQ(RunOnCpu(random, seed, arguments, *expected, CompileOptions::Passes::kPipeline, 1),
                "")
          << Save(*random.module, seed);
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

TEST(RandomModulesSlowTest, CpuAgreesWithInterpreter) {
  const int64_t first = FromEnvironment("HLOKIT_RANDOM_SEED", 1000);
  const int64_t count = FromEnvironment("HLOKIT_RANDOM_MODULES", 1000);
  const std::string current = testing::TempDir() + "random_current_seed_" + std::to_string(first);
  for (int64_t seed = first; seed < first + count; ++seed) {
    std::ofstream(current) << seed << "\n";  // names the module that crashes the test
    Check(static_cast<uint64_t>(seed));
  }
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
