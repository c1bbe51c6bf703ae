// DOT that Graphviz reads, whatever names and texts a module holds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
