// DOT that Graphviz reads, whatever names and texts a module holds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>

#include "absl/strings/str_cat.h"
#include "parser/parser.h"
#include "tools/hlo-viz/formats/dot.h"
#include "tools/hlo-viz/formats/graphviz.h"

namespace hlokit {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string Dot(const char* text) {
  const auto module = *ParseModule(text);
  const ModuleIndex index(*module);
  return DotText(Draw(index, WholeModule(index), {}, {}));
}

constexpr char kHostile[] = R"(ENTRY e {
  p = f32[] parameter(0), metadata={op_name="<b>&\"\\N\\\" quotes" source_file="a\nb"}
  ROOT c = f32[] custom-call(p), custom_call_target="<script>&amp;\"\\"
})";

TEST(Formats, TextsOfModulesAreEscaped) {
  const auto svg = Render(Dot(kHostile), "svg");
  ASSERT_TRUE(svg.ok()) << svg.status();
  EXPECT_THAT(*svg, HasSubstr("&lt;script&gt;"));
  EXPECT_EQ(svg->find("<script>"), std::string::npos);
}

std::string Chain(int length, int far) {
  std::string text = "ENTRY e {\n  v0 = f32[] parameter(0)\n  v1 = f32[] negate(v0)\n";
  for (int i = 2; i < length; ++i)
    absl::StrAppend(&text, "  v", i, " = f32[] add(v", i - 1, ", v", std::max(i - far, 0), ")\n");
  return text + "}\n";
}

TEST(Formats, LargeGraphsAreLaidOutInSeconds) {
  const std::string dot = Dot(Chain(1500, 6).c_str());
  EXPECT_THAT(dot, HasSubstr("splines=line"));
  const std::clock_t start = std::clock();
  EXPECT_THAT(*Render(dot, "svg"), HasSubstr("v1499"));
  EXPECT_LT(std::clock() - start, 20 * CLOCKS_PER_SEC);
}

TEST(Formats, LongEdgesCount) {
  const auto placed = [](const std::string& text) {
    const auto module = *ParseModule(text);
    const ModuleIndex index(*module);
    return PlacedNodes(Draw(index, WholeModule(index), {}, {}));
  };
  EXPECT_EQ(placed(Chain(4, 1)), 4);
  EXPECT_EQ(placed(Chain(4, 3)), 4 + 1 + 2);  // v2 and v3 read v0
}

TEST(Formats, PicturesAreOfTheirKind) {
  const std::string dot = Dot("ENTRY e { ROOT p = f32[] parameter(0) }");
  EXPECT_THAT(*Render(dot, "png"), StartsWith("\x89PNG"));
  EXPECT_THAT(*Render(dot, "pdf"), StartsWith("%PDF"));
  EXPECT_THAT(*Render(dot, "canon"), StartsWith("digraph G"));
  EXPECT_FALSE(Render(dot, "nosuch").ok());
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
