// Tests of the text helpers, the interner, the dense map and progress.
#include "support/text.h"

#include <limits>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "support/dense_map.h"
#include "support/interner.h"
#include "support/progress.h"

namespace hlokit {
namespace {

TEST(Text, EditDistance) {
  struct Case {
    const char *a, *b;
    int limit, want;
  };
  for (const Case& c : {Case{"", "", 3, 0},
                        {"abc", "abc", 0, 0},
                        {"abc", "abd", 3, 1},
                        {"abc", "acb", 3, 1},
                        {"abc", "", 3, 3},
                        {"abc", "", 2, 3},
                        {"kitten", "sitting", 9, 3},
                        {"aaaa", "bbbb", 1, 2}}) {
    EXPECT_EQ(EditDistance(c.a, c.b, c.limit), c.want) << c.a << " " << c.b;
    EXPECT_EQ(EditDistance(c.b, c.a, c.limit), c.want) << c.b << " " << c.a;
  }
}

TEST(Text, NearestMatch) {
  const std::vector<absl::string_view> names = {"add", "abs", "all-reduce", "all-gather",
                                                "multiply"};
  struct Case {
    const char *word, *want;
  };
  for (const Case& c : {Case{"addd", "add"},
                        {"all-redcue", "all-reduce"},
                        {"multply", "multiply"},
                        {"quantum", ""},
                        {"", ""}}) {
    EXPECT_EQ(NearestMatch(c.word, names), c.want) << c.word;
  }
  EXPECT_EQ(DidYouMean("addd", names), " (did you mean add?)");
  EXPECT_EQ(DidYouMean("quantum", names), "");
}

TEST(Text, NearestNameKnowsPrefixesAndNeedsNoOrder) {
  const std::vector<absl::string_view> names = {"dot.3", "dot.31", "abd", "abc"};
  EXPECT_EQ(NearestMatch("dot.3_missing", names), "dot.3");
  EXPECT_EQ(NearestMatch("abx", names), "abc");
  EXPECT_EQ(NearestMatch("abc_or_so", {"abd", "abc"}), "abc");
  const std::string a(100'000, 'n'), b = a + "q";
  EXPECT_EQ(NearestMatch(a, {b}), "") << "too long to be worth the search";
}

TEST(Text, ShortestText) {
  EXPECT_EQ(ShortestText(0.1f), "0.1");
  EXPECT_EQ(ShortestText(0.1), "0.1");
  EXPECT_EQ(ShortestText(std::numeric_limits<float>::denorm_min()), "1e-45");
  EXPECT_EQ(ShortestText(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(std::stod(ShortestText(1.0 / 3)), 1.0 / 3);
}

TEST(Text, QuoteRoundTrips) {
  EXPECT_EQ(Quote("a\"b\n"), "\"a\\\"b\\n\"");
  for (const std::string& text : {std::string(), std::string("a\\\0\xff'", 5)})
    EXPECT_EQ(*Unquote(Quote(text)), text);
  for (const char* bad : {"", "\"", "abc", "\"\\q\""}) EXPECT_FALSE(Unquote(bad).ok()) << bad;
}

TEST(StringInterner, IdsAreDenseAndTextsStay) {
  StringInterner interner;
  EXPECT_EQ(interner.Find("n0"), StringInterner::kNone);
  std::vector<absl::string_view> views;
  views.reserve(20000);
  for (int i = 0; i < 20000; ++i) views.push_back(interner.Intern(absl::StrCat("n", i)));
  std::string large(200000, 'x');
  EXPECT_EQ(interner.Intern(large), large);
  EXPECT_EQ(interner.Intern(""), "");
  for (uint32_t i = 0; i < 20000; ++i) {
    ASSERT_EQ(interner.Id(absl::StrCat("n", i)), i);
    ASSERT_EQ(interner.Text(i).data(), views[i].data());
    ASSERT_EQ(views[i], absl::StrCat("n", i));
  }
  EXPECT_EQ(interner.size(), 20002u);
}

TEST(DenseMap, GrowsAndDefaults) {
  DenseMap<int> map(-1);
  map[5] = 50;
  EXPECT_EQ(map.at(5), 50);
  EXPECT_EQ(map.at(2), -1);
  EXPECT_EQ(map.at(1000), -1);
  EXPECT_EQ(map.size(), 6u);
}

// Tables tell names apart by all bits but one.
TEST(HashText, KeepsNamesApart) {
  absl::flat_hash_set<uint64_t> seen;
  int64_t names = 0;
  const auto add = [&](const std::string& name) {
    ++names;
    EXPECT_TRUE(seen.insert(HashText(name) | 1).second) << name;
  };
  add("");
  for (char a = '!'; a <= '~'; ++a) {
    add(std::string(1, a));
    for (char b = '!'; b <= '~'; ++b) add({a, b});
  }
  for (size_t length = 3; length < 60; ++length)
    for (size_t at = 0; at < length; ++at) {
      std::string name(length, 'n');
      name[at] = 'm';
      add(name);
    }
  for (int i = 0; i < 20'000; ++i)
    for (const char* root : {"p", "add", "fusion", "multiply_add_fusion", "get-tuple-element"})
      add(absl::StrCat(root, ".", i));
  EXPECT_EQ(static_cast<int64_t>(seen.size()), names);
}

TEST(Progress, ReportsAHundredthAtATimeAndStops) {
  int calls = 0;
  double last = 0;
  ProgressCallback callback = [&](absl::string_view stage, double fraction) {
    EXPECT_EQ(stage, "work");
    EXPECT_GE(fraction, last);
    last = fraction;
    return ++calls < 1000;
  };
  Progress progress(callback, "work", 10000);
  for (int i = 0; i < 10000; ++i) EXPECT_TRUE(progress.Step().ok());
  EXPECT_EQ(last, 1.0);
  EXPECT_LE(calls, 102);

  ProgressCallback stop = [](absl::string_view, double) { return false; };
  EXPECT_EQ(Progress(stop, "work", 10).Step().code(), absl::StatusCode::kCancelled);
  EXPECT_TRUE(Progress(ProgressCallback(), "none", 0).Step().ok());
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
