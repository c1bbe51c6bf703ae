// The table of rules by label.
#include "ops/rules.h"

#include <set>

#include "gtest/gtest.h"

namespace hlokit {
namespace {

TEST(RuleLabelTest, LabelsLeadToRules) {
  ASSERT_NE(FindRule("add-c4"), nullptr);
  EXPECT_EQ(FindRule("add-c4")->owner, "BinaryArithmetic");
  EXPECT_EQ(FindRule("add-c99")->owner, "Each");
  EXPECT_EQ(FindRule("custom-call-c11")->owner, "custom-call");
  EXPECT_EQ(FindRule("group-c3")->owner, "group");
  for (const char* unknown : {"", "add", "add-c5", "add-cx", "c4", "nothing-c0", "Each-c7"})
    EXPECT_EQ(FindRule(unknown), nullptr) << unknown;
}

TEST(RuleLabelTest, RowsAreCompleteAndDistinct) {
  std::set<std::pair<absl::string_view, int>> seen;
  for (const OpRule& rule : Rules()) {
    EXPECT_TRUE(seen.insert({rule.owner, rule.number}).second) << rule.owner << rule.number;
    EXPECT_FALSE(rule.source.empty() || rule.text.empty()) << rule.owner << rule.number;
  }
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
