// JSON read into placed values, and what is refused where.
#include "support/json_value.h"

#include <gtest/gtest.h>

namespace hlokit {
namespace {

TEST(JsonValueTest, ReadsValuesWithTheirPlaces) {
  const auto read =
      ParseJson(R"( {"a": [1, -2.5e3, true, null], "b": {"c": "x\n\u00e9\ud83d\ude00"}} )");
  ASSERT_TRUE(read.ok()) << read.status();
  const JsonValue* const a = read->Find("a");
  ASSERT_NE(a, nullptr);
  ASSERT_EQ(a->items.size(), 4u);
  EXPECT_EQ(a->items[1].number, -2500);
  EXPECT_EQ(a->items[1].place, (SourcePlace{11, 6}));
  EXPECT_TRUE(a->items[2].boolean);
  EXPECT_EQ(a->items[3].kind, JsonValue::Kind::kNull);
  EXPECT_EQ(read->Find("b")->Find("c")->text, "x\n\xC3\xA9\xF0\x9F\x98\x80");
  EXPECT_EQ(read->Find("c"), nullptr);
}

TEST(JsonValueTest, RefusesWhatIsNoJson) {
  const struct {
    std::string text;
    uint32_t at;
    const char* message;
  } kCases[] = {
      {"", 0, "expected a JSON value"},
      {"[1,]", 3, "expected a JSON value"},
      {"[1 2]", 3, "expected ',' or ']'"},
      {"{\"a\" 1}", 5, "expected ':'"},
      {"{a: 1}", 1, "name of a member"},
      {"{\"a\":1,\"a\":2}", 7, "comes twice"},
      {"[01]", 1, "not a number"},
      {"[1.]", 1, "not a number"},
      {"[1e999]", 1, "not a number"},
      {"\"ab", 0, "closing quote"},
      {"\"\\q\"", 2, "no escape"},
      {"\"\\ud800x\"", 3, "surrogate"},
      {"\"a\xC3\xA9\xF2\": {\"", 4, "no UTF-8"},
      {"\"\xED\xA0\x80\"", 1, "no UTF-8"},
      {"1 2", 2, "text after the end"},
      {std::string(80, '['), 65, "nests deeper"},
  };
  for (const auto& c : kCases) {
    const auto read = ParseJson(c.text, 100);
    ASSERT_FALSE(read.ok()) << c.text;
    EXPECT_NE(read.status().message().find(c.message), absl::string_view::npos) << read.status();
    EXPECT_EQ(PlaceOf(read.status()).offset, 100 + c.at) << c.text;
  }
}

TEST(JsonValueTest, QuotedTextReadsBack) {
  const std::string text("a\"b\\c\n\x01\xC3\xA9", 9);
  const auto read = ParseJson(JsonQuote(text));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->text, text);
  EXPECT_EQ(JsonQuote("\xff"), "\"\\ufffd\"");
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
