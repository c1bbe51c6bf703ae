// Texts under edits, names in them, and answers about them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tools/hlo-lsp/service/commands.h"
#include "tools/hlo-lsp/service/features.h"

namespace hlokit {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kModule[] =
    R"(HloModule m, entry_computation_layout={(f32[4]{0})->(f32[4]{0}, f32[])}

FileNames
1 "a.py"

FunctionNames
1 "f"

FileLocations
1 {file_name_id=1 function_name_id=1 line=3 end_line=3 column=1 end_column=2}

StackFrames
1 {file_location_id=1 parent_frame_id=1}

%add (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %sum = f32[] add(%x, %y)
}

ENTRY %main (p: f32[4]) -> (f32[4], f32[]) {
  %p = f32[4]{0} parameter(0), metadata={op_name="x {" source_file="p.py" source_line=3}
  %zero = f32[] constant(0)
  %x = f32[4]{0} multiply(%p, %p) // %x {
  %total = f32[] reduce(%x, %zero), dimensions={0}, to_apply=%add
  ROOT %t = (f32[4]{0}, f32[]) tuple(%x, %total)
}
)";

TextPosition Find(const Document& document, absl::string_view text, int64_t skip = 0) {
  return document.buffer().PositionOf(
      static_cast<uint32_t>(document.buffer().text().find(text) + static_cast<size_t>(skip)));
}

std::unique_ptr<Document> Opened(const std::string& text) {
  auto document = std::make_unique<Document>("file:///m.hlo", 1, text);
  document->set_analysis(Analyze("m.hlo", document->buffer().Snapshot(), document->version()));
  return document;
}

// The texts at the ranges of places.
std::vector<std::string> Texts(const Document& document, const Json& places) {
  std::vector<std::string> texts;
  for (const Json& place : places) {
    const uint32_t begin = document.buffer().OffsetOf(PositionOf(place["range"]["start"]));
    const uint32_t end = document.buffer().OffsetOf(PositionOf(place["range"]["end"]));
    texts.emplace_back(document.buffer().text().substr(begin, end - begin));
  }
  return texts;
}

TEST(TextBuffer, CountsUtf16Units) {
  const TextBuffer buffer("aé𝄞b\nx");  // 1, 1, 2, 1 units; 1, 2, 4, 1 bytes
  EXPECT_EQ(buffer.OffsetOf({0, 2}), 3u);
  EXPECT_EQ(buffer.OffsetOf({0, 4}), 7u);
  EXPECT_EQ(buffer.PositionOf(7).character, 4);
  EXPECT_EQ(buffer.PositionOf(9).line, 1);
  EXPECT_EQ(buffer.OffsetOf({0, 99}), 8u);   // a line's end
  EXPECT_EQ(buffer.OffsetOf({99, 0}), 10u);  // the text's end
}

TEST(TextBuffer, EditsAtRandomGiveTheLinesOfTheText) {
  std::mt19937 random(7);
  std::string text = "one\ntwo\nthree\n";
  TextBuffer buffer(text);
  for (int round = 0; round < 2000; ++round) {
    const uint32_t begin = random() % (text.size() + 1);
    const uint32_t end = begin + random() % (text.size() + 1 - begin) % 9;
    std::string inserted;
    for (uint32_t k = random() % 6; k > 0; --k) inserted += random() % 3 == 0 ? '\n' : 'a';
    text.replace(begin, end - begin, inserted);
    buffer.Replace(begin, end, inserted);
    const TextBuffer fresh(text);
    ASSERT_EQ(buffer.text(), text);
    ASSERT_EQ(buffer.line_count(), fresh.line_count());
    for (size_t line = 0; line < fresh.line_count(); ++line)
      ASSERT_EQ(buffer.LineStart(static_cast<int64_t>(line)),
                fresh.LineStart(static_cast<int64_t>(line)));
  }
}

TEST(Names, FindsComputations) {
  const auto spans = FindComputations(kModule);
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_EQ(spans[0].name, "add");
  EXPECT_EQ(spans[1].name, "main");
  EXPECT_TRUE(spans[1].is_entry);
  EXPECT_EQ(kModule[spans[1].end - 1], '}');
  // Without signatures, percent signs and a module line; a head of two lines.
  const auto plain = FindComputations(
      "f {\n  ROOT a = f32[] parameter(0)\n}\nENTRY g\n{\n b = f32[2]{0} iota()\n}\n%h (p: "
      "f32[2])\n  -> f32[2]{0} {\n}");
  ASSERT_EQ(plain.size(), 3u);
  EXPECT_EQ(plain[1].name, "g");
  EXPECT_EQ(plain[2].name, "h");
  EXPECT_TRUE(FindComputations("").empty());
  EXPECT_TRUE(FindComputations("\"{ /* {").empty());
}

TEST(Names, EditsMoveComputations) {
  auto document = Opened(kModule);
  document->computations();
  const TextPosition at = Find(*document, "%zero = ");
  document->Edit(TextRange{at, at}, "abc");
  EXPECT_EQ(document->computations(), FindComputations(document->buffer().text()));
  document->Edit(TextRange{at, {at.line, at.character + 3}}, "");
  document->Edit(TextRange{{0, 0}, {0, 0}}, "g { }\n");
  EXPECT_EQ(document->computations(), FindComputations(document->buffer().text()));
}

TEST(Features, DefinitionsAndReferencesKeepToTheirComputation) {
  auto document = Opened(kModule);
  const TextPosition use = Find(*document, "reduce(%x", 8);
  EXPECT_THAT(Definition(*document, use)["range"]["start"]["line"], 23);
  const Json places = References(*document, use, true);
  EXPECT_EQ(places.size(), 3u);  // not those of %add, nor the comment's
  EXPECT_THAT(Texts(*document, places), ElementsAre("x", "x", "x"));
  EXPECT_EQ(References(*document, use, false).size(), 2u);
  const Json calls = References(*document, Find(*document, "to_apply=%add", 10), true);
  EXPECT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0]["range"]["start"]["line"], 14);
  EXPECT_TRUE(Definition(*document, Find(*document, "p.py")).is_null());  // in a string
}

TEST(Features, RenamesEveryPlace) {
  auto document = Opened(kModule);
  const auto renamed = Rename(*document, Find(*document, "%x = f32[4]", 1), "%square");
  ASSERT_TRUE(renamed.ok());
  EXPECT_EQ((*renamed)["changes"]["file:///m.hlo"].size(), 3u);
  EXPECT_FALSE(Rename(*document, Find(*document, "%x = f32[4]", 1), "zero").ok());
  EXPECT_FALSE(Rename(*document, Find(*document, "%x = f32[4]", 1), "a b").ok());
  EXPECT_FALSE(Rename(*document, Find(*document, "%x = f32[4]", 1), "").ok());
  EXPECT_FALSE(Rename(*document, {1, 0}, "y").ok());
}

TEST(Features, HoverTellsOfInstructionsAndComputations) {
  auto document = Opened(kModule);
  const std::string x = Hover(*document, Find(*document, "%x = f32[4]", 1))["contents"]["value"];
  EXPECT_THAT(x, HasSubstr("- shape: `f32[4]{0}`"));
  EXPECT_THAT(x, HasSubstr("- size: 16 B"));
  EXPECT_THAT(x, HasSubstr("- work: 4 flop, moves 48 B"));
  EXPECT_THAT(x, HasSubstr("last used by %t"));
  const std::string p = Hover(*document, Find(*document, "%p = ", 1))["contents"]["value"];
  EXPECT_THAT(p, HasSubstr("- source: p.py:3"));
  const std::string add = Hover(*document, Find(*document, "%add (", 1))["contents"]["value"];
  EXPECT_THAT(add, HasSubstr("3 instructions"));
  EXPECT_THAT(add, HasSubstr("called by %total in main"));
  // An opcode is its instruction.
  const std::string opcode = Hover(*document, Find(*document, "multiply", 2))["contents"]["value"];
  EXPECT_EQ(opcode, x);
  EXPECT_TRUE(Hover(*document, {1, 0}).is_null());
}

// The parser makes names unique in the module; the text's own are those that are asked for.
TEST(Features, NamesThatTheParserChangesAreFound) {
  auto document = Opened(kModule);
  EXPECT_EQ(document->InstructionNamed("add", "x")->shape().rank(), 0);
  const Instruction* const x = document->InstructionNamed("main", "x");
  ASSERT_NE(x, nullptr);
  EXPECT_EQ(x->opcode(), Opcode::kMultiply);
  EXPECT_NE(x->name(), "x");
  EXPECT_EQ(document->InstructionNamed("main", "y"), nullptr);
}

TEST(Features, OutlineFoldsHintsAndTokens) {
  auto document = Opened(kModule);
  const Json symbols = Symbols(*document);
  ASSERT_EQ(symbols.size(), 2u);
  EXPECT_EQ(symbols[1]["children"].size(), 5u);
  EXPECT_EQ(symbols[1]["children"][3]["detail"], "reduce");
  EXPECT_EQ(symbols[1]["children"][4]["detail"], "tuple");
  EXPECT_EQ(Folds(*document).size(), 3u);  // with the tables
  const Json hints = InlayHints(*document, {{0, 0}, {99, 0}});
  ASSERT_EQ(hints.size(), 8u);
  EXPECT_EQ(hints[0]["label"], "f32[]");
  EXPECT_EQ(hints[2]["label"], "f32[4]");
  const Json tokens = SemanticTokens(*document, 0, 99)["data"];
  EXPECT_EQ(tokens.size() % 5, 0u);
  EXPECT_GT(tokens.size(), 200u);
}

TEST(Features, CompletesByWhatStandsBefore) {
  auto document = Opened(kModule);
  const auto complete = [&](absl::string_view line) {
    const TextPosition at = Find(*document, "%zero = ", -2);
    document->Edit(TextRange{at, at}, line);
    const TextPosition end = {at.line, at.character + static_cast<int64_t>(line.size())};
    std::vector<std::string> labels;
    const Json found = Completions(*document, end);
    for (const Json& item : found["items"]) labels.push_back(item["label"]);
    document->Edit(TextRange{at, end}, "");
    return labels;
  };
  EXPECT_THAT(complete("  %n = f32[4]{0} multip"), ElementsAre("multiply"));
  EXPECT_THAT(complete("  %n = f32[] add(%"), ElementsAre("p"));
  EXPECT_THAT(complete("  %n = f32[] reduce(%p, %p), dim"), ElementsAre("dimensions"));
  EXPECT_THAT(complete("  %n = f32[] reduce(%p, %p), to_apply=%"), ElementsAre("add"));
  EXPECT_THAT(complete("  RO"), ElementsAre("ROOT"));
}

TEST(Features, DiagnosticsHavePlacesAndRules) {
  auto document = Opened("ENTRY e {\n  a = f32[2] parameter(0)\n  ROOT b = f32[3] negate(a)\n}\n");
  const Json found = DiagnosticsJson(*document->analysis(), "u");
  ASSERT_EQ(found["diagnostics"].size(), 1u);
  EXPECT_EQ(found["diagnostics"][0]["range"]["start"]["line"], 2);
  EXPECT_TRUE(DiagnosticsJson(*Opened("")->analysis(), "u")["diagnostics"].empty());
  EXPECT_FALSE(DiagnosticsJson(*Opened("nonsense")->analysis(), "u")["diagnostics"].empty());
}

TEST(Commands, AreRefusedByName) {
  EXPECT_FALSE(RunEditorCommand("hlokit.none", {}, "").ok());
  auto document = Opened(kModule);
  EXPECT_GT(CodeActions(*document, {{23, 4}, {23, 4}}).size(), 5u);
}

// No text and no place makes an answer fail.
TEST(Features, AnyTextAndPlaceHasAnswers) {
  std::mt19937 random(3);
  const std::string whole = kModule;
  for (int round = 0; round < 300; ++round) {
    std::string text = whole;
    for (uint32_t k = random() % 8; k > 0; --k) {
      const size_t at = random() % text.size();
      if (random() % 2 == 0) {
        text.erase(at, random() % 40);
      } else {
        text.insert(at, std::string(1, "{}()\"%=,/*\n\xc3\xff"[random() % 13]));
      }
      if (text.empty()) text = "x";
    }
    auto document = Opened(text);
    const TextPosition at = document->buffer().PositionOf(random() % (text.size() + 1));
    Definition(*document, at);
    References(*document, at, true);
    Highlights(*document, at);
    Hover(*document, at);
    PrepareRename(*document, at);
    Rename(*document, at, "fresh").IgnoreError();
    Symbols(*document);
    Folds(*document);
    InlayHints(*document, {at, {at.line + 50, 0}});
    Completions(*document, at);
    CodeActions(*document, {at, at});
    SemanticTokens(*document, 0, 1000);
    DiagnosticsJson(*document->analysis(), "u");
  }
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
