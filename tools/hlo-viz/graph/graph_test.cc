// What is selected and drawn of small modules.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "parser/parser.h"
#include "passes/rewrite/extract.h"
#include "tools/hlo-viz/graph/describe.h"
#include "tools/hlo-viz/graph/drawing.h"
#include "tools/hlo-viz/graph/overview.h"
#include "tools/hlo-viz/graph/parts.h"
#include "tools/hlo-viz/graph/repeats.h"
#include "tools/hlo-viz/graph/scope_tree.h"
#include "tools/hlo-viz/graph/trip_counts.h"

namespace hlokit {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

constexpr char kModule[] = R"(HloModule m
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
fused { p = f32[8] parameter(0) n = f32[8] negate(p) ROOT e = f32[8] exponential(n) }
ENTRY main {
  x = f32[8] parameter(0)
  two = f32[] constant(2)
  twos = f32[8] broadcast(two), dimensions={}
  y = f32[8] multiply(x, twos), metadata={op_name="jit(f)/layer_0/mul"}
  f = f32[8] fusion(y), kind=kLoop, calls=fused, metadata={op_name="jit(f)/layer_0/exp"}
  z = f32[] reduce(f, two), dimensions={0}, to_apply=add, metadata={op_name="jit(f)/layer_1/sum"}
  t = (f32[8], f32[]) tuple(f, z)
  g = f32[8] get-tuple-element(t), index=0
  ROOT r = f32[8] add(g, y)
})";

class GraphTest : public ::testing::Test {
 protected:
  GraphTest() : module_(*ParseModule(kModule)), index_(*module_) {}
  const Instruction& At(absl::string_view name) { return **FindInstruction(*module_, name); }
  static std::vector<std::string> Names(const Selection& selection) {
    std::vector<std::string> names;
    for (const Instruction* i : selection.instructions) names.push_back(i->name());
    return names;
  }
  static std::vector<std::string> Keys(const Drawing& drawing) {
    std::vector<std::string> keys;
    for (const DrawnNode& node : drawing.nodes) keys.push_back(node.key);
    return keys;
  }
  static const DrawnNode& Node(const Drawing& drawing, absl::string_view key) {
    return *std::find_if(drawing.nodes.begin(), drawing.nodes.end(),
                         [&](const DrawnNode& node) { return node.key == key; });
  }

  std::unique_ptr<Module> module_;
  ModuleIndex index_;
};

TEST_F(GraphTest, NeighbourhoodStopsAtRadiusAndTuples) {
  NeighbourhoodOptions near;
  near.radius = 1;
  EXPECT_THAT(Names(Neighbourhood(index_, At("f"), near)),
              UnorderedElementsAre("y", "f", "z", "t"));
  near.users = false;
  EXPECT_THAT(Names(Neighbourhood(index_, At("f"), near)), UnorderedElementsAre("y", "f"));
  near.radius = 5;
  near.boundary = {&At("y")};
  EXPECT_THAT(Names(Neighbourhood(index_, At("f"), near)), UnorderedElementsAre("y", "f"));
}

TEST_F(GraphTest, PathsHoldWhatLiesBetween) {
  EXPECT_THAT(Names(*AllPaths(index_, At("y"), At("g"))),
              UnorderedElementsAre("y", "f", "z", "t", "g"));
  EXPECT_THAT(std::string(AllPaths(index_, At("g"), At("y")).status().message()),
              HasSubstr("no path"));
  EXPECT_THAT(std::string(AllPaths(index_, At("n"), At("y")).status().message()),
              HasSubstr("computation 'fused'"));
}

TEST_F(GraphTest, FusionsAreBoxesAndConstantsText) {
  const Drawing drawing = Draw(index_, WholeModule(index_), {}, {});
  EXPECT_THAT(Keys(drawing),
              UnorderedElementsAre("x", "twos", "y", "p", "n", "e", "z", "t", "g", "r"));
  EXPECT_THAT(Node(drawing, "twos").lines, Contains("operand 0 = 2"));
  EXPECT_THAT(Node(drawing, "z").lines, Contains("Subcomputation: add"));
  EXPECT_THAT(Node(drawing, "z").lines, Contains("dimensions={0}"));
  ASSERT_EQ(drawing.clusters.size(), 2u);
  EXPECT_EQ(drawing.clusters[1].title, "Fused expression for f");
  EXPECT_EQ(drawing.clusters[1].parent, 0);
}

TEST_F(GraphTest, FoldedTupleElementsLabelEdges) {
  DrawOptions options;
  options.fold_tuple_elements = true;
  options.expand_fusions = false;
  const Drawing drawing = Draw(index_, WholeModule(index_), options, {});
  EXPECT_THAT(Keys(drawing), UnorderedElementsAre("x", "twos", "y", "f", "z", "t", "r"));
  std::vector<std::string> labels;
  for (const DrawnEdge& edge : drawing.edges) labels.push_back(edge.label);
  EXPECT_THAT(labels, Contains("[0] f32[8]"));
}

TEST_F(GraphTest, ScopesFollowOpNamesAndUsers) {
  std::string text = "ENTRY e { x = f32[] parameter(0)\n";
  for (int k = 0; k < 12; ++k)
    text += absl::StrCat("v", k, " = f32[] negate(", k > 0 ? absl::StrCat("v", k - 1) : "x",
                         "), metadata={op_name=\"jit(f)/layer_", k / 4, "/neg\"}\n");
  const auto module = *ParseModule(text + "ROOT r = f32[] negate(v11) }");
  const ModuleIndex index(*module);
  const ScopeTree tree(index);
  const Scope& root = tree.scopes()[tree.root_of(*module->entry())];
  std::vector<std::string> labels;
  for (int child : root.children) labels.push_back(tree.scopes()[child].label);
  EXPECT_THAT(labels, UnorderedElementsAre("jit(f)"));
  EXPECT_EQ(root.size, 14);
  const int layer = tree.scope_of(**FindInstruction(*module, "v5"));
  EXPECT_EQ(tree.scopes()[layer].label, "layer_1");
  EXPECT_EQ(tree.scope_of(**FindInstruction(*module, "x")),
            tree.scope_of(**FindInstruction(*module, "v0")));
}

TEST_F(GraphTest, LongScopesAreCutIntoParts) {
  std::string text = "ENTRY e { v0 = f32[] parameter(0)\n";
  for (int k = 1; k < 5000; ++k)
    text += absl::StrCat(k == 4999 ? "ROOT " : "", "v", k, " = f32[] negate(v", k - 1, ")\n");
  const auto module = *ParseModule(text + "}");
  const ModuleIndex index(*module);
  const ScopeTree tree(index);
  int64_t held = 0;
  for (const Scope& scope : tree.scopes()) {
    EXPECT_LE(scope.children.size() + scope.instructions.size(), kMaxChildren);
    held += static_cast<int64_t>(scope.instructions.size());
  }
  EXPECT_EQ(held, 5000);
  EXPECT_LE(DrawOverview(index, tree, *module->entry(), {}, 40).nodes.size(), 40u);
}

TEST_F(GraphTest, ScopesOfAnOverviewTakeTheOverlaysColours) {
  const auto by_flops = *MakeOverlay(index_, "flops", {});
  const Overlay::Mark sum = by_flops.OfScope({&At("y"), &At("f"), &At("z"), &At("r")});
  EXPECT_THAT(sum.line,
              HasSubstr("(100.0%)"));  // bodies of fusions and reducers do not count again
  const auto before = *ParseModule(kModule);
  before->entry()->root()->set_name("other");
  const auto by_diff = *MakeOverlay(index_, "diff", {nullptr, before.get()});
  EXPECT_EQ(by_diff.OfScope({&At("y"), &At("f")}).line, "");
  const auto by_scope = *MakeOverlay(index_, "op_name", {});
  EXPECT_EQ(by_scope.OfScope({&At("y"), &At("f"), &At("z")}).line, "jit(f)/layer_0 (2 of 3)");
  EXPECT_FALSE(Overlay{}.OfScope({&At("y")}).present);
}

TEST(TripCounts, AreFoundWhereTheLoopSaysNothing) {
  const auto module = *ParseModule(R"(
body { s = (s32[]) parameter(0) i = s32[] get-tuple-element(s), index=0 one = s32[] constant(1)
  j = s32[] add(i, one) ROOT t = (s32[]) tuple(j) }
cond { s = (s32[]) parameter(0) i = s32[] get-tuple-element(s), index=0 n = s32[] constant(7)
  ROOT c = pred[] compare(i, n), direction=LT }
ENTRY e { zero = s32[] constant(0) t = (s32[]) tuple(zero)
  ROOT w = (s32[]) while(t), condition=cond, body=body })");
  EXPECT_EQ(TripCounts(*module)[module->entry()->root()->id()], 7);
  EXPECT_TRUE(TripCounts(**ParseModule("ENTRY e { ROOT p = f32[] parameter(0) }")).empty());
}

// `layers` times a pattern of `period` different tokens, with others before, after and in the first
// layer.
std::vector<uint64_t> Layered(int before, int layers, int period, int after) {
  std::vector<uint64_t> tokens;
  for (int k = 0; k < before; ++k) tokens.push_back(1000 + k);
  for (int k = 0; k < layers * period; ++k) tokens.push_back(1 + k % period);
  for (int k = 0; k < after; ++k) tokens.push_back(5000 + k);
  tokens[before + 3] = 77;
  return tokens;
}

TEST(Repeats, LayersAreFound) {
  const std::vector<uint64_t> tokens = Layered(40, 6, 25, 30);
  std::vector<int> crossing(tokens.size(), 9);
  for (int layer = 0; layer <= 6; ++layer) crossing[40 + 25 * layer - 1] = 2;
  const std::vector<Repeats> found = FindRepeats(tokens, crossing);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].begin, 40);
  EXPECT_EQ(found[0].period, 25);
  EXPECT_EQ(found[0].count, 6);
}

TEST(Repeats, NoneInChainsOfOneKindOrInNothing) {
  EXPECT_TRUE(FindRepeats(std::vector<uint64_t>(5000, 1), std::vector<int>(5000, 1)).empty());
  EXPECT_TRUE(FindRepeats({}, {}).empty());
}

TEST(Parts, RepeatsAreBlocksWithLetters) {
  PartsInput input = {Layered(40, 70, 25, 0), {}};
  input.crossing.assign(input.tokens.size(), 1);
  const std::vector<ScopePart> parts = CutIntoParts(input);
  std::vector<std::string> labels;
  int held = 0;
  for (const ScopePart& part : parts) {
    labels.push_back(part.label);
    for (const auto [begin, end] : part.items) held += end - begin;
  }
  EXPECT_EQ(held, static_cast<int>(input.tokens.size()));
  EXPECT_THAT(labels, Contains("the rest"));
  EXPECT_THAT(labels, Contains("block A, 70 times"));
  EXPECT_THAT(labels, Contains("block A, 7 to 12 of 70"));
  EXPECT_THAT(labels, Contains("block A, 9 of 70"));
}

TEST_F(GraphTest, ParametersComeWithTheLayerThatReadsThem) {
  std::string text = "ENTRY e { x0 = f32[8] parameter(0)\n";
  for (int layer = 0; layer < 20; ++layer)
    absl::StrAppend(&text, "w", layer, " = f32[8] parameter(", layer + 1, ")\n");
  constexpr absl::string_view kSteps[] = {"negate", "cosine", "tanh", "abs",
                                          "sine",   "floor",  "sign", "multiply"};
  int last = 0;
  for (int layer = 0; layer < 20; ++layer)
    for (absl::string_view step : kSteps) {
      absl::StrAppend(&text, layer == 19 && step == "multiply" ? "ROOT " : "", "x", last + 1,
                      " = f32[8] ", step, "(x", last,
                      step == "multiply" ? absl::StrCat(", w", layer) : "", ")\n");
      ++last;
    }
  const auto module = *ParseModule(text + "}");
  const ModuleIndex index(*module);
  const ScopeTree tree(index);
  const int scope = tree.scope_of(**FindInstruction(*module, "w7"));
  EXPECT_EQ(scope, tree.scope_of(**FindInstruction(*module, "x64")));
  EXPECT_EQ(tree.scopes()[scope].label, "block A, 8 of 20");
  EXPECT_EQ(tree.scopes()[tree.scopes()[scope].parent].label, "block A, 20 times");
}

TEST(Parts, AreCutWhereFewValuesCross) {
  std::vector<int> crossing(99, 5);
  crossing[33] = 1;
  crossing[60] = 1;
  EXPECT_THAT(CutWhereFewCross(crossing, 30), ElementsAre(34, 27, 39));
  EXPECT_THAT(CutWhereFewCross({}, 30), ElementsAre(1));
}

TEST(ScopeOf, SlashesInBracketsDoNotCount) {
  EXPECT_EQ(ScopeOf("jit(f)/transpose(jvp(a/b))/dot"), "jit(f)/transpose(jvp(a/b))");
  EXPECT_EQ(ScopeOf("add"), "");
}

TEST(Shown, CutsAndCleans) {
  EXPECT_EQ(Shown("abc\x01", 10), "abc?");
  EXPECT_EQ(Shown("abcdef", 3), "abc...");
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
