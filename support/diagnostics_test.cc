// Tests of line lookup, the caret rendering, limits, and labels and places on statuses.
#include "support/diagnostics.h"

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "support/status.h"

namespace hlokit {
namespace {

constexpr char kClamp[] =
    "HloModule m\nENTRY e {\n  lo = f32[2] parameter(0)\n  ROOT r = f32[3] clamp(lo, x, hi)\n}\n";

SourcePlace PlaceIn(const SourceFile& file, absl::string_view word) {
  size_t at = file.text().find(word);
  CHECK(at != absl::string_view::npos) << word;
  return {static_cast<uint32_t>(at), static_cast<uint32_t>(word.size())};
}

TEST(SourceFile, LocatesOffsets) {
  SourceFile file("f", "ab\n\ncd");
  struct Case {
    uint32_t offset, line, column;
    absl::string_view text;
  };
  for (const Case& c : {Case{0, 1, 1, "ab"},
                        {2, 1, 3, "ab"},
                        {3, 2, 1, ""},
                        {4, 3, 1, "cd"},
                        {6, 3, 3, "cd"},
                        {99, 3, 3, "cd"}}) {
    EXPECT_EQ(file.Locate(c.offset).line, c.line) << c.offset;
    EXPECT_EQ(file.Locate(c.offset).column, c.column) << c.offset;
    EXPECT_EQ(file.LineAt(c.offset), c.text) << c.offset;
  }
  EXPECT_EQ(SourceFile("empty", "").LineAt(0), "");
  EXPECT_EQ(file.TextAt({4, 2}), "cd");
  EXPECT_EQ(file.TextAt({}), "");
}

TEST(Diagnostics, RendersLabelCaretAndNote) {
  SourceFile file("clamp.hlo", kClamp);
  Diagnostics out;
  out.Error(PlaceIn(file, "clamp"), "clamp-c1", "bounds differ: ", 2, " and ", 3)
      .Note(PlaceIn(file, "lo ="), "bound defined here");
  EXPECT_EQ(out.Render(file),
            "clamp.hlo:4:19: error: bounds differ: 2 and 3  [clamp-c1]\n"
            "    ROOT r = f32[3] clamp(lo, x, hi)\n"
            "                    ^~~~~\n"
            "clamp.hlo:3:3: note: bound defined here\n"
            "    lo = f32[2] parameter(0)\n"
            "    ^~~~\n");
  EXPECT_FALSE(out.ok());
}

TEST(Diagnostics, PlacelessAndWarning) {
  SourceFile file("m.hlo", "x");
  Diagnostics out;
  out.Warning({}, "", "unknown attribute");
  EXPECT_TRUE(out.ok());
  EXPECT_TRUE(out.ToStatus().ok());
  out.Error({}, "", "no entry computation");
  EXPECT_EQ(out.Render(file),
            "m.hlo: warning: unknown attribute\nm.hlo: error: no entry computation\n");
}

TEST(Diagnostics, CaretLines) {
  struct Case {
    const char* name;
    std::string text;
    SourcePlace place;
    std::string excerpt;
  };
  const Case cases[] = {
      {"past the end", "ab", {2, 0}, "  ab\n    ^\n"},
      {"empty file", "", {0, 5}, "  \n  ^\n"},
      {"tab", "\tab", {1, 2}, "  \tab\n  \t^~\n"},
      {"two-byte characters",
       "\xC3\xA9 \xC3\xA9\xC3\xA9 b",
       {3, 4},
       "  \xC3\xA9 \xC3\xA9\xC3\xA9 b\n    ^~\n"},
      {"several lines", "ab {\nc\n}", {3, 4}, "  ab {\n     ^\n"},
      {"carriage return", "ab\r\nc", {1, 1}, "  ab\n   ^\n"},
      {"control byte",
       std::string("a\x1b"
                   "b"),
       {2, 1},
       "  a?b\n    ^\n"},
  };
  for (const Case& c : cases) {
    SourceFile file("f", c.text);
    Diagnostics out;
    out.Error(c.place, "", "m");
    std::string text = out.Render(file);
    EXPECT_EQ(text.substr(text.find('\n') + 1), c.excerpt) << c.name;
  }
}

TEST(Diagnostics, LongLinesAreCutAroundTheCaret) {
  for (size_t at : {size_t{0}, size_t{70}, size_t{5000}, size_t{9995}}) {
    std::string line(10000, '.');
    line.replace(at, 3, "BAD");
    SourceFile file("f", line);
    Diagnostics out;
    out.Error({static_cast<uint32_t>(at), 3}, "", "m");
    std::vector<std::string> lines;
    std::string text = out.Render(file);
    size_t first = text.find('\n') + 1, second = text.find('\n', first) + 1;
    std::string shown = text.substr(first, second - first), caret = text.substr(second);
    EXPECT_LE(shown.size(), 170u) << at;
    EXPECT_EQ(shown.find("BAD"), caret.find("^~~")) << at;
    EXPECT_NE(shown.find("BAD"), std::string::npos) << at;
  }
}

TEST(Diagnostics, KeepsTwentyAndCountsTheRest) {
  Diagnostics out;
  for (int i = 0; i < 23; ++i) out.Error({}, "", "e", i).Note({}, "note");
  EXPECT_EQ(out.items().size(), 20u);
  EXPECT_EQ(out.error_count(), 23);
  EXPECT_TRUE(out.full());
  EXPECT_TRUE(absl::StrContains(out.Render(SourceFile("f", "")), "3 more errors not shown\n"));
}

TEST(Diagnostics, StatusesCarryLabelAndPlace) {
  absl::Status status = WithPlace(LabeledError("pad-c2", "interior ", -1), {7, 2});
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(WithPlace(status, {1, 1}), status) << "the innermost place stays";
  Diagnostics out;
  out.Error({3, 1}, status);
  out.Error({3, 1}, Internal("bare"));
  EXPECT_EQ(out.items()[0].label, "pad-c2");
  EXPECT_EQ(out.items()[0].place, (SourcePlace{7, 2}));
  EXPECT_EQ(out.items()[1].place, (SourcePlace{3, 1}));
  EXPECT_EQ(out.ToStatus(), status);
  EXPECT_EQ(LabelOf(Annotate(status, "x")), "pad-c2");
  EXPECT_FALSE(PlaceOf(absl::OkStatus()).valid());
  EXPECT_EQ(RenderStatus(status, SourceFile("f", "HloModule")),
            "f:1:8: error: interior -1  [pad-c2]\n  HloModule\n         ^~\n");
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
