// Random modules are valid, read back as they were printed, and run.
#include "generator/generator.h"

#include <gtest/gtest.h>

#include <set>

#include "interpreter/interpreter.h"
#include "parser/parser.h"
#include "printer/printer.h"
#include "support/diagnostics.h"
#include "verifier/verifier.h"

namespace hlokit {
namespace {

std::string PrintWhole(const Module& module) {
  PrintOptions options;
  options.large_constants = true;
  return Print(module, options);
}

TEST(GeneratorTest, ModulesAreValidAndReadBack) {
  for (uint64_t seed = 0; seed < 150; ++seed) {
    GeneratorOptions options;
    options.seed = seed;
    const RandomModule random = GenerateModule(options);
    EXPECT_EQ(random.refusals, std::vector<std::string>()) << "seed " << seed;
    const std::string text = PrintWhole(*random.module);
    auto file = std::make_shared<const SourceFile>("random.hlo", text);
    Diagnostics diagnostics;
    EXPECT_TRUE(Verify(*random.module, diagnostics).ok()) << "seed " << seed << "\n"
                                                          << diagnostics.Render(*file) << text;
    auto again = ParseModule(file, ParseOptions(), diagnostics);
    ASSERT_TRUE(again.ok()) << "seed " << seed << "\n" << diagnostics.Render(*file);
    // Computations that nothing live calls find their places when they are read.
    const std::string second = PrintWhole(**again);
    EXPECT_EQ(second.size(), text.size()) << "seed " << seed;
    file = std::make_shared<const SourceFile>("random.hlo", second);
    again = ParseModule(file, ParseOptions(), diagnostics);
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(PrintWhole(**again), second) << "seed " << seed;
  }
}

TEST(GeneratorTest, EqualSeedsGiveEqualModules) {
  GeneratorOptions options;
  options.seed = 7;
  EXPECT_EQ(PrintWhole(*GenerateModule(options).module),
            PrintWhole(*GenerateModule(options).module));
  options.seed = 8;
  const std::string eight = PrintWhole(*GenerateModule(options).module);
  options.seed = 7;
  EXPECT_NE(PrintWhole(*GenerateModule(options).module), eight);
}

TEST(GeneratorTest, EveryRecipeIsUsedAndRuns) {
  for (const std::string& recipe : RecipeNames()) {
    GeneratorOptions options;
    options.recipe = recipe;
    int ran = 0;
    for (options.seed = 0; options.seed < 6; ++options.seed) {
      const RandomModule random = GenerateModule(options);
      auto result = Interpret(*random.module, RandomArguments(*random.module, 1));
      EXPECT_TRUE(result.ok()) << recipe << ": " << result.status();
      ran += random.module->entry()->instruction_count() > 4;
    }
    EXPECT_GT(ran, 2) << recipe;
  }
}

// What a module on one device can hold, but for the opcodes named here.
TEST(GeneratorTest, TenOutOfElevenOpcodesOccur) {
  std::set<Opcode> seen;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    GeneratorOptions options;
    options.seed = seed;
    const RandomModule random = GenerateModule(options);
    for (const Computation* c : random.module->Computations())
      for (const Instruction* i : c->Instructions()) seen.insert(i->opcode());
  }
  EXPECT_GE(seen.size(), 90u);
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
