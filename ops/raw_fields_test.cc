// Splitting of braced attributes.
#include "ops/raw_fields.h"

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace hlokit {
namespace {

std::string TextOf(absl::string_view braced) {
  const auto fields = RawFields(braced);
  if (!fields) return "none";
  std::string text;
  for (const auto& [name, value] : *fields) absl::StrAppend(&text, name, ":", value, ";");
  return text;
}

TEST(RawFieldsTest, SplitsAtItsOwnCommas) {
  EXPECT_EQ(TextOf("{}"), "");
  EXPECT_EQ(TextOf("{a=1, b = {c=2,d=3},e=\"x,}\\\"y\"}"), "a:1;b:{c=2,d=3};e:\"x,}\\\"y\";");
  for (const char* broken : {"", "a=1", "{a}", "{a=1,b}", "{", "}"})
    EXPECT_EQ(TextOf(broken), "none") << broken;
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
