// The targets that compare, what their configurations allow, and the report of a check that fails.
#include "ops/vendor/checks.h"

#include "gtest/gtest.h"
#include "ops/evaluate/evaluate.h"
#include "parser/parser.h"

namespace hlokit {
namespace {

absl::StatusOr<Literal> Check(absl::string_view target, absl::string_view result,
                              absl::string_view config, float actual, float expected) {
  const std::string text = absl::StrCat(
      "HloModule m\nENTRY e { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = ", result,
      " custom-call(a, b), custom_call_target=\"", target, "\", backend_config=\"", config, "\" }");
  auto module = ParseModule(text);
  if (!module.ok()) return module.status();
  const Literal values[] = {Literal::R0(actual), Literal::R0(expected)};
  const Literal* const operands[] = {&values[0], &values[1]};
  return EvaluateCustomCall(EvalContext{*(*module)->entry()->root(), operands, {}, 0, 0, nullptr});
}

TEST(ChecksTest, AllowWhatTheirConfigurationSays) {
  EXPECT_TRUE(Check("check.expect_eq", "()", "", 1, 1).ok());
  EXPECT_FALSE(Check("check.expect_eq", "()", "", 1, 1.0000001f).ok());
  EXPECT_TRUE(Check("check.expect_close", "()", "", 1, 1.0000001f).ok());
  EXPECT_FALSE(
      Check("check.expect_close", "()", "{max_ulp_difference = 0 : i64}", 1, 1.0000001f).ok());
  EXPECT_TRUE(Check("check.expect_almost_eq", "()", "", 1, 1.0005f).ok());
  EXPECT_FALSE(
      Check("check.expect_almost_eq", "()", "{tolerance = 0.0001 : f64}", 1, 1.0005f).ok());
}

TEST(ChecksTest, EqGivesWhetherTheyAgree) {
  EXPECT_EQ(Check("check.eq", "pred[]", "", 1, 1)->GetInt(0), 1);
  EXPECT_EQ(Check("check.eq", "pred[]", "", 1, 2)->GetInt(0), 0);
}

TEST(ChecksTest, ReportWhatDiffers) {
  const absl::Status failed = Check("check.expect_eq", "()", "", 1, 2).status();
  EXPECT_EQ(failed.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(failed.message().find("expected 2, got 1"), absl::string_view::npos) << failed;
  EXPECT_FALSE(Check("check.expect_eq", "f32[]", "", 1, 1).ok());
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
