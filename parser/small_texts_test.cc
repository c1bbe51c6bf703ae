// Values that stand alone: each text is read, printed and read again.
#include "gtest/gtest.h"
#include "parser/parser.h"
#include "printer/printer.h"
#include "support/status.h"
#include "types/literal_text.h"

namespace hlokit {
namespace {

struct Kind {
  const char* name;
  // The text of what was read, or the error.
  std::string (*round_trip)(absl::string_view text);
  std::vector<const char*> good;  // come back as they are
  std::vector<const char*> bad;
};

template <auto Parse>
std::string RoundTrip(absl::string_view text) {
  const auto value = Parse(text);
  if (!value.ok()) return absl::StrCat("error: ", value.status().message());
  return Text(*value);
}

template <auto Parse>
std::string RoundTripText(absl::string_view text) {
  const auto value = Parse(text);
  return value.ok() ? *value : absl::StrCat("error: ", value.status().message());
}

std::string RoundTripLiteral(absl::string_view text) {
  const auto value = ParseLiteral(text);
  if (!value.ok()) return absl::StrCat("error: ", value.status().message());
  return Text(*value, {.with_shape = true});
}

std::string RoundTripMetadata(absl::string_view text) {
  const auto value = ParseMetadata(text);
  return value.ok() ? Text(*value) : absl::StrCat("error: ", value.status().message());
}

const Kind kKinds[] = {
    {"layout",
     RoundTrip<ParseLayout>,
     {"{}", "{0}", "{1,0:T(8,128)(2,1)S(1)}", "{2,0,1:E(4)}", "{:S(2)}"},
     {"", "{0,2}", "{0,0}", "{0:Q(1)}", "{0", "{0} x", "f32[2]{0}"}},
    {"entry layout",
     RoundTrip<ParseEntryLayout>,
     {"()->f32[]", "(f32[2]{0}, (s32[], token[]))->(f32[2]{0})"},
     {"", "f32[]", "(f32[2])", "{()->f32[]", "()->"}},
    {"sharding",
     RoundTrip<ParseSharding>,
     {"{replicated}", "{devices=[2,1]<=[2]}", "{{manual}, {maximal device=1}}"},
     {"", "replicated", "{devices=[2,1]<=[3]}", "{replicated"}},
    {"replica groups",
     RoundTrip<ParseReplicaGroups>,
     {"{{0,1},{2,3}}", "[2,4]<=[4,2]T(1,0)", "{}"},
     {"", "{0,1", "[2,4]<=[4,3]", "{{0,1}} x"}},
    {"domain",
     RoundTrip<ParseDomain>,
     {"{kind=\"sharding\", entry={replicated}, exit={maximal device=1}}"},
     {"", "{}", "{kind=\"other\", entry={replicated}, exit={replicated}}", "{entry={replicated}}"}},
    {"accuracy",
     RoundTrip<ParseResultAccuracy>,
     {"{mode=highest}", "{mode=default}", "{tolerance={atol=0,rtol=0.001,ulps=2}}"},
     {"", "{mode=best}", "{tolerance={atol=x}}", "mode=highest"}},
    {"pairs", RoundTrip<ParseSourceTargetPairs>, {"{{0,1},{1,0}}", "{}"}, {"", "{0,1}", "{{0}}"}},
    {"window",
     RoundTrip<ParseWindow>,
     {"{size=3x3 stride=2x2 pad=0_1x-1_0 lhs_dilate=2x1 rhs_dilate=1x3 rhs_reversal=1x0}",
      "{size=1}"},
     {"{size=3", "{length=3}", "size=3}", "size=3x3 stride=2", "{size=3} x"}},
    {"convolution",
     RoundTrip<ParseConvolutionDimensionNumbers>,
     {"b01f_01io->b01f", "bf_io->bf"},
     {"", "b01f_01io", "b01f_01io->b0f", "bb_io->bf"}},
    {"padding", RoundTrip<ParsePaddingConfig>, {"0_1x-2_2", "0_1_2"}, {"", "0", "0_1x", "a_b"}},
    {"slice", RoundTrip<ParseSlice>, {"{[0:2], [1:9]}", "{[1:9:2]}"}, {"", "[0:2]", "{[0]}"}},
    {"index", RoundTrip<ParseShapeIndex>, {"{}", "{0,1}"}, {"", "0", "{0", "{a}"}},
    {"aliases",
     RoundTrip<ParseOutputAliases>,
     {"{}", "{{0}: (1, {}), {1,2}: (0, {3})}"},
     {"", "{{0}: 1}", "{0: (1, {})}"}},
    {"input-output aliases",
     RoundTrip<ParseInputOutputAliases>,
     {"{}", "{{}: (0, {}, must-alias), {1,2}: (3, {0}, may-alias)}"},
     {"", "{{0}: 1}", "{{0}: (1, {}, alias)}", "{{0}: (1, {})"}},
    {"buffer donors",
     RoundTrip<ParseBufferDonors>,
     {"{}", "{(0, {}), (1, {0})}"},
     {"", "(0, {})", "{(0)}", "{(a, {})}"}},
    {"sparsity",
     RoundTrip<ParseSparsityConfig>,
     {"{}", "{lhs={sparsity=2x4 dimension=1 stride=3} rhs={sparsity=1x2 dimension=0 stride=1}}"},
     {"", "{lhs}", "{lhs={sparsity=2}}", "{mhs={sparsity=2x4 dimension=1 stride=3}}"}},
    {"statistics",
     RoundTripText<ParseStatistics>,
     {"{visualizing_index=0,a=1,b=2.5}"},
     {"", "{visualizing_index}", "{a=b}", "{visualizing_index=0,a=1"}},
    {"origin",
     RoundTripText<ParseOrigin>,
     {"{{\"a\" {0}}}", "{({\"a\"}, ({\"b\"}, {}))}", "{[synthetic_call]}"},
     {"", "{\"a\"}", "{[call]}", "{{\"a\" {0}}"}},
    {"literal",
     RoundTripLiteral,
     {"f32[<=3]{0}(2) {1, 2}", "s32[<=4,2]{1,0}(1,2) { { 5, 6 } }", "f32[<=3]{0}(0) {}",
      "c64[2,<=3]{1,0}(2,2) { { (1, 2), (3, 4) }, { (5, 6), (7, 8) } }",
      "( f32[<=3]{0}(1) {1}, s32[] 7 )", "f32[3]{0} {1, 2, 3}", "pred[] true"},
     {"", "f32[<=3](4) {1, 2, 3, 4}", "f32[<=3](-1) {}", "f32[<=3](2) {1, 2, 3}",
      "f32[3](3) {1, 2, 3}", "f32[<=3,2](2) { { 1, 2 }, { 3, 4 } }",
      "f32[<=3,2](2,1) { { 1 }, { 3 } }", "f32[<=3] {1, 2}", "f32[?](2) {1, 2}", "f32[<=3](x) {}",
      "f32[<=4611686018427387904](1) {1}"}},
    {"booleans", RoundTrip<ParseBooleans>, {"{true,false}", "{}"}, {"", "{1x}", "{true"}},
    {"metadata",
     RoundTripMetadata,
     {"{op_type=\"a\" op_name=\"b\\\"c\" source_line=3}", "{}"},
     {"", "{op_name=a}", "{surprise=1}", "{op_name=\"a\""}},
    {"frontend attributes",
     RoundTrip<ParseFrontendAttributes>,
     {"{}", "{a=\"b\",c={d=1}}"},
     {"", "{a}", "{a=\"b\"", "a=\"b\""}},
};

TEST(SmallTextsTest, ComeBackAsTheyAre) {
  for (const Kind& kind : kKinds)
    for (const char* text : kind.good) EXPECT_EQ(kind.round_trip(text), text) << kind.name;
}

TEST(SmallTextsTest, RefusesWhatIsNotTheWholeOfIt) {
  for (const Kind& kind : kKinds)
    for (const char* text : kind.bad)
      EXPECT_EQ(kind.round_trip(text).substr(0, 7), "error: ") << kind.name << ": " << text;
}

TEST(SmallTextsTest, TakesTheFormsThatApisGive) {
  EXPECT_EQ(RoundTrip<ParseWindow>("size=3 pad=1_1"), "{size=3 pad=1_1}");
  EXPECT_EQ(RoundTrip<ParseEntryLayout>("{(f32[2,3])->f32[]}"), "(f32[2,3]{1,0})->f32[]");
  EXPECT_EQ(RoundTrip<ParseBooleans>("true"), "{true}");
}

TEST(SmallTextsTest, LiteralsOfAKnownShapeMayNameTheirSizes) {
  const Shape shape = *ParseShape("(f32[<=2,<=3], s32[])");
  const absl::StatusOr<Literal> value = ParseLiteral("((2,1) {{1}, {2}}, 5)", shape);
  ASSERT_TRUE(value.ok()) << value.status();
  const Literal& array = value->elements()[0];
  EXPECT_EQ(array.shape(), shape.elements[0]);
  EXPECT_EQ(array.dynamic_size(0), 2);
  EXPECT_EQ(array.dynamic_size(1), 1);
  EXPECT_EQ(array.GetDouble(3), 2);  // at {1, 0} of the bounds
}

// As in XLA, the constant of a module is of its bounds.
TEST(SmallTextsTest, ConstantsOfModulesNameNoSizes) {
  EXPECT_FALSE(ParseModule("ENTRY e { ROOT c = f32[<=3] constant((2) {1, 2}) }").ok());
}

TEST(SmallTextsTest, ErrorsPointAtTheText) {
  const absl::Status status = ParseShape("f32[2,x]").status();
  const SourceFile file("shape", std::string("f32[2,x]"));
  EXPECT_EQ(RenderStatus(status, file),
            "shape:1:7: error: expected an integer, found 'x'\n  f32[2,x]\n        ^\n");
}

TEST(ParseModuleTest, TakesAText) {
  const auto module = ParseModule("HloModule m\nENTRY e { ROOT p = f32[] parameter(0) }");
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ((*module)->name(), "m");
  const absl::Status status = ParseModule("HloModule m\nENTRY e { ROOT p = f32[] }").status();
  EXPECT_EQ(PlaceOf(status).offset, 37u) << status;
}

TEST(ParseComputationTest, AddsToAModuleAndCallsIt) {
  auto module = *ParseModule(
      "f { ROOT p = f32[] parameter(0) } ENTRY e { a = f32[] parameter(0) ROOT c = f32[] call(a), "
      "to_apply=f }");
  const auto added = ParseComputation(
      "g (p: f32[]) -> f32[] { p = f32[] parameter(0) ROOT n = f32[] call(p), to_apply=f }\n"
      "h { p = f32[] parameter(0) ROOT n = f32[] call(p), to_apply=g }",
      *module);
  ASSERT_TRUE(added.ok()) << added.status();
  EXPECT_EQ((*added)->name(), "h");
  EXPECT_EQ((*added)->root()->to_apply()->name(), "g");
  EXPECT_EQ(module->Computations().size(), 4u);
  EXPECT_EQ(module->entry()->name(), "e");
  EXPECT_FALSE((*added)->root()->place().valid());
}

TEST(ParseComputationTest, LeavesTheModuleAloneAfterAnError) {
  auto module = *ParseModule("ENTRY e { ROOT a = f32[] parameter(0) }");
  const std::string before = Print(*module);
  for (const char* text : {"", "e { ROOT a = f32[] parameter(0) }",
                           "g { ROOT a = f32[] parameter(0) } ENTRY h { ROOT a = f32[] call(b) }",
                           "g { a = f32[] parameter(0) ROOT c = f32[] call(a), to_apply=nothing }"})
    EXPECT_FALSE(ParseComputation(text, *module).ok()) << text;
  EXPECT_EQ(Print(*module), before);
  EXPECT_EQ(module->entry()->name(), "e");
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
