// Lists of passes, and what the manager does around each pass.
#include "passes/manager.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "parser/parser.h"
#include "passes/framework/pass_list.h"
#include "passes/pipelines.h"
#include "printer/printer.h"
#include "support/status.h"

namespace hlokit {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kDeadAbs[] =
    "HloModule m\nENTRY e { p = f32[4]{0} parameter(0)\n d = f32[4]{0} abs(p)\n"
    " ROOT r = f32[4]{0} negate(p) }\n";
// algsimp has three rewrites to make: p - 0, p * 1, and the double negation.
constexpr char kThreeRewrites[] =
    "HloModule m\nENTRY e { p = f32[] parameter(0)\n z = f32[] constant(0)\n"
    " one = f32[] constant(1)\n a = f32[] subtract(p, z)\n b = f32[] multiply(a, one)\n"
    " c = f32[] negate(b)\n ROOT r = f32[] negate(c) }\n";

std::unique_ptr<Module> Read(const std::string& text) {
  Diagnostics diagnostics;
  auto source = std::make_shared<const SourceFile>("test.hlo", text);
  auto module = ParseModule(source, {}, diagnostics);
  EXPECT_TRUE(module.ok()) << diagnostics.Render(*source);
  return module.ok() ? *std::move(module) : nullptr;
}

TEST(Manager, ReadsLists) {
  EXPECT_TRUE(CheckPassSpec("dce, cse,fix<algsimp,fix<dce>>,").ok());
  EXPECT_TRUE(CheckPassSpec("").ok());
  EXPECT_THAT(CheckPassSpec("algsimpp").message(), HasSubstr("did you mean algsimp?"));
  for (const char* bad : {"fix<dce", "dce>", "mend<dce>", "dce<"})
    EXPECT_FALSE(CheckPassSpec(bad).ok()) << bad;
  for (absl::string_view name : ListPipelines())
    EXPECT_TRUE(CheckPassSpec(*PipelineSpec(name)).ok());
  EXPECT_FALSE(PipelineSpec("cppu").ok());
}

TEST(Manager, DropsSchedulesOfChangedModulesOnly) {
  const std::string text =
      "HloModule m, is_scheduled=true\nENTRY e { p = f32[4]{0} parameter(0)\n d = f32[4]{0} "
      "abs(p)\n"
      " ROOT r = f32[4]{0} negate(p) }\n";
  auto module = Read(text);
  CHECK_OK(RunPasses(*module, "cse"));
  EXPECT_TRUE(module->header().is_scheduled);
  CHECK_OK(RunPasses(*module, "dce"));
  EXPECT_FALSE(module->header().is_scheduled);
  EXPECT_FALSE(module->entry()->has_schedule());
}

TEST(Manager, SkipsDisabledPassesAndCallsBack) {
  auto module = Read(kDeadAbs);
  std::vector<std::string> seen;
  PassOptions options;
  options.disabled = {"dce"};
  options.after = [&](const PassRun& run, const Module&) {
    seen.emplace_back(run.name.data(), run.name.size());
    return absl::OkStatus();
  };
  CHECK_OK(RunPasses(*module, "cse,dce", options));
  EXPECT_THAT(seen, testing::ElementsAre("cse"));
}

TEST(PassList, PrintsWhatItReads) {
  for (const char* text : {"", "dce", "fix<algsimp{disable=add-zero;mul-one},fix<dce>>,cse"}) {
    const auto list = ParsePassList(text);
    CHECK_OK(list.status());
    EXPECT_EQ(PassListText(*list), text);
  }
  const auto list = ParsePassList(" fix< a{x_y, z=1}, b >, c ");
  CHECK_OK(list.status());
  EXPECT_EQ(PassListText(*list, true), "fix<\n  a{x-y z=1},\n  b\n>,\nc\n");
}

TEST(PassList, RefusesWhatDoesNotMatch) {
  for (const char* bad : {"a{x", "a}x", "{x}", "a{x x}", "a{=1}", "a{x}b", "fix<a>>",
                          "fix<fix<fix<fix<fix<fix<fix<fix<fix<fix<a>>>>>>>>>>"})
    EXPECT_EQ(ParsePassList(bad).status().code(), absl::StatusCode::kInvalidArgument) << bad;
}

TEST(Manager, ChecksOptions) {
  EXPECT_TRUE(CheckPassSpec("algsimp{disable=add-zero}").ok());
  EXPECT_THAT(CheckPassSpec("algsimp{disable=add-zerro}").message(), HasSubstr("add-zero?"));
  EXPECT_THAT(CheckPassSpec("algsimp{disabel=x}").message(), HasSubstr("did you mean disable?"));
  EXPECT_THAT(CheckPassSpec("dce{x}").message(), HasSubstr("dce takes no options"));
}

TEST(Manager, CountsAndLimitsSteps) {
  PassReport all;
  auto module = Read(kThreeRewrites);
  CHECK_OK(RunPasses(*module, "algsimp,dce", {}, &all));
  ASSERT_EQ(all.runs.size(), 2);
  EXPECT_EQ(all.runs[0].rewrites, 3);
  EXPECT_EQ(all.steps, 5);
  EXPECT_EQ(module->entry()->instruction_count(), 1);
  for (int64_t limit = 0; limit <= all.steps; ++limit) {
    PassOptions options;
    options.step_limit = limit;
    PassReport report;
    auto limited = Read(kThreeRewrites);
    CHECK_OK(RunPasses(*limited, "algsimp,dce", options, &report));
    EXPECT_EQ(report.steps, limit);
    EXPECT_EQ(report.runs.size(), limit == 0 ? 0 : limit <= 4 ? 1 : 2);
  }
}

TEST(Manager, LimitsFuelOfOnePass) {
  PassOptions options;
  options.fuel["algsimp"] = 1;
  PassReport report;
  auto module = Read(kThreeRewrites);
  CHECK_OK(RunPasses(*module, "algsimp,algsimp", options, &report));
  EXPECT_EQ(report.runs[0].rewrites, 1);
  EXPECT_EQ(report.runs[1].rewrites, 0);
}

TEST(Manager, LeavesOutDisabledRules) {
  PassReport report;
  auto module = Read(kThreeRewrites);
  CHECK_OK(RunPasses(*module, "algsimp{disable=mul-one}", {}, &report));
  for (const auto& [rule, times] : report.rules) EXPECT_NE(rule.second, "mul-one");
  EXPECT_THAT(Print(*module), HasSubstr("multiply"));
}

TEST(Manager, NamesPassesThatUndoEachOther) {
  const std::string text =
      "HloModule m\nENTRY e { p = f32[] parameter(0)\n q = f32[] parameter(1)\n"
      " ROOT r = f32[] add(p, q) }\n";
  auto module = Read(text);
  PassReport report;
  CHECK_OK(RunPasses(*module, "fix<test-only-swap-operands,dce>", {}, &report));
  ASSERT_EQ(report.cycles.size(), 1);
  EXPECT_THAT(report.cycles[0], HasSubstr("test-only-swap-operands"));
  EXPECT_LT(report.runs.size(), 12);
}

TEST(Manager, TellsOfRewrites) {
  std::vector<std::string> seen;
  PassOptions options;
  options.rewrite = [&](absl::string_view, absl::string_view rule, const Instruction& subject,
                        const Instruction&) {
    seen.push_back(std::string(rule) + " " + std::string(subject.name()));
  };
  auto module = Read(kThreeRewrites);
  CHECK_OK(RunPasses(*module, "algsimp", options));
  EXPECT_THAT(seen, testing::UnorderedElementsAre(testing::EndsWith(" a"), testing::EndsWith(" b"),
                                                  testing::EndsWith(" r")));
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
