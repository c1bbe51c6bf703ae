// Parts of modules as modules of their own.
#include "passes/rewrite/extract.h"

#include <gtest/gtest.h>

#include "parser/parser.h"
#include "printer/printer.h"
#include "support/diagnostics.h"
#include "verifier/verifier.h"

namespace hlokit {
namespace {

constexpr char kModule[] = R"(HloModule m, is_scheduled=true

sum {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT add = f32[] add(x, y)
}

cond {
  s = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  three = s32[] constant(3)
  ROOT less = pred[] compare(i, three), direction=LT
}

body {
  s.1 = (s32[], f32[4]) parameter(0)
  i.1 = s32[] get-tuple-element(s.1), index=0
  one = s32[] constant(1)
  next = s32[] add(i.1, one)
  v = f32[4] get-tuple-element(s.1), index=1
  twice = f32[4] add(v, v)
  ROOT t = (s32[], f32[4]) tuple(next, twice)
}

ENTRY e {
  unused = f32[] parameter(0)
  p = f32[4] parameter(1)
  zero = s32[] constant(0)
  negated = f32[4] negate(p)
  init = (s32[], f32[4]) tuple(zero, negated)
  loop = (s32[], f32[4]) while(init), condition=cond, body=body
  result = f32[4] get-tuple-element(loop), index=1
  nothing = f32[] constant(0)
  ROOT r = f32[] reduce(result, nothing), dimensions={0}, to_apply=sum
})";

class ExtractTest : public testing::Test {
 protected:
  void SetUp() override {
    Diagnostics diagnostics;
    auto module = ParseModule(std::make_shared<const SourceFile>("m.hlo", kModule), ParseOptions(),
                              diagnostics);
    ASSERT_TRUE(module.ok()) << module.status();
    module_ = *std::move(module);
  }

  // The extracted module's text, after it has been verified; `inputs` are the names of its inputs.
  std::string TextOf(std::vector<std::string> outputs, int height, std::string& inputs) {
    std::vector<const Instruction*> instructions;
    for (const std::string& name : outputs) {
      auto found = FindInstruction(*module_, name);
      EXPECT_TRUE(found.ok()) << found.status();
      instructions.push_back(*found);
    }
    ExtractOptions options;
    options.height = height;
    auto extraction = Extract(instructions, options);
    EXPECT_TRUE(extraction.ok()) << extraction.status();
    inputs.clear();
    for (const Instruction* i : extraction->inputs) inputs += i->name() + " ";
    Diagnostics diagnostics;
    const std::string text = Print(*extraction->module);
    EXPECT_TRUE(Verify(*extraction->module, diagnostics).ok())
        << diagnostics.Render(SourceFile("m.hlo", kModule)) << text;
    return text;
  }

  static bool Has(const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  }

  std::unique_ptr<Module> module_;
  std::string inputs_;
};

TEST_F(ExtractTest, OneInstructionTakesItsOperandsButKeepsConstants) {
  const std::string text = TextOf({"r"}, 0, inputs_);
  EXPECT_EQ(inputs_, "result ");
  EXPECT_TRUE(Has(text, "%nothing = f32[] constant(0)")) << text;
  EXPECT_TRUE(Has(text, "to_apply=%sum")) << text;
  EXPECT_FALSE(Has(text, "while")) << text;
}

TEST_F(ExtractTest, ALoopComesWithWhatItCalls) {
  const std::string text = TextOf({"loop"}, 0, inputs_);
  EXPECT_EQ(inputs_, "init ");
  EXPECT_TRUE(Has(text, "condition=%cond, body=%body")) << text;
  EXPECT_FALSE(Has(text, "negate")) << text;
}

TEST_F(ExtractTest, HeightsAddOperands) {
  TextOf({"loop"}, 1, inputs_);
  EXPECT_EQ(inputs_, "negated ");
  const std::string text = TextOf({"loop"}, 2, inputs_);
  EXPECT_EQ(inputs_, "p ");
  EXPECT_TRUE(Has(text, "negate")) << text;
}

TEST_F(ExtractTest, AllAncestorsComeAlong) {
  const std::string text = TextOf({"r"}, -1, inputs_);
  EXPECT_EQ(inputs_, "p ");
  EXPECT_TRUE(Has(text, "is_scheduled=true")) << text;
  EXPECT_FALSE(Has(text, "unused")) << text;
}

TEST_F(ExtractTest, SeveralOutputsMakeATuple) {
  const std::string text = TextOf({"twice", "next"}, 0, inputs_);
  EXPECT_EQ(inputs_, "i.1 v ");
  EXPECT_TRUE(Has(text, "(f32[4]{0}, s32[]) tuple(%twice, %next)")) << text;
}

TEST_F(ExtractTest, AComputationKeepsAllParameters) {
  auto entry = ExtractComputation(*module_->entry());
  ASSERT_TRUE(entry.ok()) << entry.status();
  EXPECT_EQ((*entry)->entry()->parameter_count(), 2);
}

TEST_F(ExtractTest, UnknownNamesAndMixedComputationsAreRefused) {
  EXPECT_EQ(FindInstruction(*module_, "%negatd").status().message(),
            "no instruction negatd (did you mean negated?)");
  const Instruction* one = *FindInstruction(*module_, "one");
  EXPECT_FALSE(Extract({one, module_->entry()->root()}).ok());
  EXPECT_FALSE(Extract({}).ok());
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
