// Random modules are valid, read back as they were printed, and run.
#include "generator/generator.h"

#include <gtest/gtest.h>

#include <set>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "interpreter/interpreter.h"
#include "ir/op_facts.h"
#include "parser/parser.h"
#include "printer/whole_text.h"
#include "support/diagnostics.h"
#include "verifier/verifier.h"

namespace hlokit {
namespace {

class StagesTest : public testing::TestWithParam<std::string> {};

std::vector<std::string> Stages() {
  std::vector<std::string> names;
  for (StageName& stage : StageNames()) names.push_back(std::move(stage.name));
  return names;
}

INSTANTIATE_TEST_SUITE_P(Random, StagesTest, testing::ValuesIn(Stages()),
                         [](const auto& info) { return info.param; });

TEST_P(StagesTest, ModulesAreValidAndReadBack) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    GeneratorOptions options;
    options.seed = seed;
    options.stage = GetParam();
    const RandomModule random = GenerateModule(options);
    EXPECT_EQ(random.refusals, std::vector<std::string>()) << "seed " << seed;
    const std::string text = WholeText(*random.module);
    auto file = std::make_shared<const SourceFile>("random.hlo", text);
    Diagnostics diagnostics;
    EXPECT_TRUE(Verify(*random.module, diagnostics).ok()) << "seed " << seed << "\n"
                                                          << diagnostics.Render(*file) << text;
    auto again = ParseModule(file, ParseOptions(), diagnostics);
    ASSERT_TRUE(again.ok()) << "seed " << seed << "\n" << diagnostics.Render(*file);
    // Computations that nothing live calls find their places, and names their numbers, when they
    // are read.
    std::string second = WholeText(**again);
    EXPECT_EQ(absl::c_count(second, '\n'), absl::c_count(text, '\n')) << "seed " << seed;
    std::string last = second;
    for (int reads = 0; reads < 2; ++reads) {
      file = std::make_shared<const SourceFile>("random.hlo", second);
      again = ParseModule(file, ParseOptions(), diagnostics);
      ASSERT_TRUE(again.ok());
      last = std::exchange(second, WholeText(**again));
    }
    EXPECT_TRUE(second == last) << "seed " << seed;
  }
}

TEST_P(StagesTest, EqualSeedsGiveEqualModules) {
  GeneratorOptions options;
  options.stage = GetParam();
  options.seed = 7;
  EXPECT_EQ(WholeText(*GenerateModule(options).module), WholeText(*GenerateModule(options).module));
  options.seed = 8;
  const std::string eight = WholeText(*GenerateModule(options).module);
  options.seed = 7;
  EXPECT_NE(WholeText(*GenerateModule(options).module), eight);
}

// Runs it with a host at the other end, and counts the twins that agree.
absl::Status RunAlone(const RandomModule& random, int* twins = nullptr) {
  RandomHost host(1);
  InterpreterOptions options;
  options.infeed = [&](int64_t, const Shape& shape) { return host.Feed(shape); };
  options.outfeed = [&](int64_t, const Literal& item) {
    host.Take(item);
    return absl::OkStatus();
  };
  options.observer = [&](int64_t, const Instruction& i, const Literal& value) {
    if (!absl::StartsWith(i.name(), kTwinsAgree)) return absl::OkStatus();
    for (int64_t e = 0; e < value.element_count(); ++e)
      if (value.GetInt(e) == 0) return absl::InternalError(i.name() + " is false");
    if (twins != nullptr) ++*twins;
    return absl::OkStatus();
  };
  return Interpret(*random.module, RandomArguments(*random.module, 1), options).status();
}

TEST(GeneratorTest, EveryRecipeIsUsedAndRuns) {
  for (const std::string& recipe : RecipeNames()) {
    GeneratorOptions options;
    options.recipe = recipe;
    options.dynamic_shapes = options.manual_regions = true;
    int ran = 0;
    for (options.seed = 0; options.seed < 6; ++options.seed) {
      const RandomModule random = GenerateModule(options);
      const absl::Status status = RunAlone(random);
      EXPECT_TRUE(status.ok()) << recipe << ": " << status;
      ran += random.module->entry()->instruction_count() > 4;
    }
    EXPECT_GT(ran, 2) << recipe;
  }
}

// Sizes that only the run knows leave the same elements as masks do.
TEST(GeneratorTest, DynamicTwinsAgree) {
  int twins = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    GeneratorOptions options;
    options.seed = seed;
    options.dynamic_shapes = true;
    const RandomModule random = GenerateModule(options);
    EXPECT_EQ(random.refusals, std::vector<std::string>()) << "seed " << seed;
    const absl::Status status = RunAlone(random, &twins);
    EXPECT_TRUE(status.ok()) << "seed " << seed << ": " << status;
  }
  EXPECT_GT(twins, 20);
}

// The elementary function whose result a value is, perhaps moved; null where it is none's.
const Instruction* FunctionBehind(const Instruction* i) {
  const CostClass cost = Facts(i->opcode()).cost;
  if (cost == CostClass::kFunction || cost == CostClass::kLongFunction) return i;
  if (!HasTrait(i->opcode(), kMovesData) && i->opcode() != Opcode::kSelect) return nullptr;
  for (const Instruction* operand : i->operands())
    if (IsFloat(operand->shape().type))
      if (const Instruction* const function = FunctionBehind(operand)) return function;
  return nullptr;
}

// What is read bit for bit has one right value.
TEST(GeneratorTest, NoBitsOfRoundedFunctions) {
  int read = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    GeneratorOptions options;
    options.seed = seed;
    options.instructions = 30;
    const RandomModule random = GenerateModule(options);
    for (const Instruction* i : random.module->entry()->Instructions()) {
      if (i->opcode() != Opcode::kBitcastConvert || !IsFloat(i->operand(0)->shape().type)) continue;
      ++read;
      const Instruction* const function = FunctionBehind(i->operand(0));
      EXPECT_EQ(function, nullptr)
          << "seed " << seed << ": " << i->name() << " reads " << function->name();
    }
  }
  EXPECT_GT(read, 500);
}

// All recipes meet arrays without elements.
TEST(GeneratorTest, EmptyArraysRun) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    GeneratorOptions options;
    options.seed = seed;
    options.empty_dims = 0.4;
    options.manual_regions = seed % 2 == 0;
    const RandomModule random = GenerateModule(options);
    EXPECT_EQ(random.refusals, std::vector<std::string>()) << "seed " << seed;
    const absl::Status status = RunAlone(random);
    EXPECT_TRUE(status.ok()) << "seed " << seed << ": " << status;
  }
}

TEST(GeneratorTest, EveryOpcodeOccurs) {
  std::set<Opcode> seen;
  for (uint64_t seed = 0; seed < 700; ++seed) {
    GeneratorOptions options;
    options.seed = seed;
    options.dynamic_shapes = seed % 4 == 0;
    const RandomModule random = GenerateModule(options);
    for (const Computation* c : random.module->Computations())
      for (const Instruction* i : c->Instructions()) seen.insert(i->opcode());
  }
  for (int opcode = 0; opcode < kOpcodeCount; ++opcode)
    EXPECT_TRUE(seen.contains(static_cast<Opcode>(opcode))) << Text(static_cast<Opcode>(opcode));
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
