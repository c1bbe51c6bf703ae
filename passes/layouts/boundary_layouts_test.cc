// Which modules get copies at their boundaries, and that schedules stay whole.
#include "passes/layouts/boundary_layouts.h"

#include "gtest/gtest.h"
#include "parser/parser.h"
#include "verifier/verifier.h"

namespace hlokit {
namespace {

std::unique_ptr<Module> Parse(const std::string& text) {
  Diagnostics diagnostics;
  auto module =
      ParseModule(std::make_shared<const SourceFile>("m", text), ParseOptions(), diagnostics);
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? *std::move(module) : nullptr;
}

// A scheduled module of two calls of one function, in which `operand` and `parameter` are layouts.
std::string TwoCalls(const std::string& operand, const std::string& parameter) {
  const std::string type = "f32[2,3]";
  return "HloModule m, is_scheduled=true\nf {\n  p = " + type + parameter +
         " parameter(0)\n  ROOT r = " + type + parameter +
         " negate(p)\n}\nENTRY e {\n  x = " + type + operand + " parameter(0)\n  a = " + type +
         operand + " call(x), to_apply=f\n  ROOT b = " + type + operand +
         " call(a), to_apply=f\n}\n";
}

int64_t Copies(const Module& module) {
  int64_t copies = 0;
  for (const Computation* c : module.Computations())
    for (const Instruction* i : c->Instructions()) copies += i->opcode() == Opcode::kCopy ? 1 : 0;
  return copies;
}

TEST(BoundaryLayouts, LeavesEqualOrdersAlone) {
  const auto module = Parse(TwoCalls("{1,0}", "{1,0}"));
  const auto changed = ConvertLayoutsAtBoundaries(*module);
  ASSERT_TRUE(changed.ok()) << changed.status();
  EXPECT_FALSE(*changed);
  EXPECT_EQ(Copies(*module), 0);
}

TEST(BoundaryLayouts, ConvertsArgumentsAndResultsAndKeepsSchedules) {
  const auto module = Parse(TwoCalls("{1,0}", "{0,1}"));
  const auto changed = ConvertLayoutsAtBoundaries(*module);
  ASSERT_TRUE(changed.ok()) << changed.status();
  EXPECT_TRUE(*changed);
  EXPECT_EQ(Copies(*module), 4);
  Diagnostics diagnostics;
  EXPECT_TRUE(Verify(*module, diagnostics).ok());  // operands before users, nothing left out
  for (const Computation* c : module->Computations())
    EXPECT_EQ(static_cast<int64_t>(c->schedule().size()), c->instruction_count()) << c->name();
  const auto again = ConvertLayoutsAtBoundaries(*module);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_FALSE(*again);
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
