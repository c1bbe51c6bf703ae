// Whole modules: what is read, what is refused and where, names, layouts, schedules, recovery.
#include "parser/parser.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"

namespace hlokit {
namespace {

struct Parsed {
  std::shared_ptr<const SourceFile> file;
  Diagnostics diagnostics;
  std::unique_ptr<Module> module;
  std::string messages() const { return diagnostics.Render(*file); }
};

Parsed Parse(absl::string_view text, const ParseOptions& options = {}) {
  Parsed parsed;
  parsed.file = std::make_shared<const SourceFile>("t", std::string(text));
  auto module = ParseModule(parsed.file, options, parsed.diagnostics);
  EXPECT_EQ(module.ok(), parsed.diagnostics.ok());
  if (module.ok()) parsed.module = *std::move(module);
  return parsed;
}

// A body around instructions that may use p (f32[4]), i (s32[]), and the computations add, lt and
// id.
std::string Around(absl::string_view instructions) {
  return absl::StrCat(
      "HloModule m\n"
      "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b) }\n"
      "lt { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = pred[] compare(a, b), "
      "direction=LT }\n"
      "id { ROOT a = f32[4] parameter(0) }\n"
      "ENTRY e {\n p = f32[4] parameter(0)\n i = s32[] parameter(1)\n ",
      instructions, "\n}\n");
}

TEST(ParserTest, ReadsEachOfThese) {
  for (const char* instruction : {
           "r = add(p, p)",
           "ROOT %r = f32[4]{0} add(%p, %p)",
           "r = f32[4] add(f32[4] p, f32[4]{0} %p)",
           "r = f32[4] negate(f32[4] add(p, f32[4] negate(p)))",
           "r = f32[4] /*x*/ negate(/*index=5*/p) // y",
           "r = f32[4]\n   negate(\n p)\n ,\n metadata={op_name=\"a\" source_line=3}",
           "r = f32[] reduce(p, f32[] constant(0)), dimensions={0}, to_apply=add",
           "r = f32[] reduce(p, f32[] constant(0)), to_apply={ a = f32[] parameter(0)\n b = f32[] "
           "parameter(1)\n ROOT c "
           "= f32[] add(a, b) }, dimensions={0}",
           "r = f32[4] sort(p), dimensions={0}, is_stable=true, to_apply=lt",
           "r = f32[4] conditional(i, p, p), branch_computations={id, %id}",
           "r = f32[4] conditional(pred[] constant(true), p, p), true_computation=id, "
           "false_computation=id",
           "r = f32[4] custom-call(p), custom_call_target=\"a\\\"b\", backend_config={\"x\":\"}\"}",
           "r = f32[4] custom-call(p), custom_call_target='a', backend_config={uplo = 76 : ui8}, "
           "schedule=SCHEDULE_LATEST",
           "r = f32[4] all-reduce(p), replica_groups={{0,1},{2,3}}, to_apply=add, channel_id=1, "
           "mode=cross_replica",
           "r = f32[4] all-reduce(p), replica_groups=[2,2]<=[2,2]T(1,0), to_apply=add",
           "r = f32[4] all-reduce(p), replica_groups=mesh['x'=2,'y'=2] {'x'}, to_apply=add",
           "s = ((f32[4]), f32[4], s32[]) negate-start(p)\n r = f32[4] negate-done(s)",
           "r = f32[4] negate(p), sharding={devices=[2]<=[2]}, "
           "frontend_attributes={a=\"b\",c={d=1}}",
           "r = f32[4] negate(p), control-predecessors={p, %i}, "
           "statistics={visualizing_index=0,a=1}, origin={{\"v\"}}",
           "r = f32[4]{0:T(8,128)(2,1)E(4)S(1)} negate(p)",
           "r = token[] after-all()",
           "r = (f32[], ()) tuple(f32[] "
           "constant(1), () tuple())",
           "r = f32[2] slice(p), slice={[0:4:2]}",
           "r = f32[6] pad(p, f32[] constant(0)), "
           "padding=1_1",
           "t = (f32[4], s32[]) tuple(p, i)\n r = f32[4] negate(t#0)",
       }) {
    const Parsed parsed = Parse(Around(instruction));
    EXPECT_NE(parsed.module, nullptr) << instruction << "\n" << parsed.messages();
  }
}

TEST(ParserTest, ReadsEveryKindOfText) {
  for (const char* text : {
           "ENTRY e { ROOT c = f32[] constant(1) }",
           "e { c = f32[] constant(1) }",
           "HloModule m\n%e (p: f32[2]) -> f32[2] {\n  ROOT %p = f32[2]{0} parameter(0)\n}, "
           "execution_thread=\"t\"",
           "\xEF\xBB\xBFHloModule m\r\nENTRY e {\r\n  ROOT c = f32[] constant(1)\r\n}\r\n",
           "some words\nand more\nHloModule m\nENTRY e { ROOT c = f32[] constant(1) }",
           "I0521 12:04:45.88  15 a.cc:1] HloModule m\nI0521 12:04:45.88  15 a.cc:1] ENTRY e {\n"
           "I0521 12:04:45.88  15 a.cc:1]   ROOT c = f32[] constant(1)\nI0521 12:04:45.88  15 "
           "a.cc:1] }\n",
           "%a = f32[2] add(f32[2] %x, f32[2] %y)",
           "f32[2] add(f32[2], f32[2])",
           "HloModule m, is_scheduled=true, entry_computation_layout={()->f32[]}, replica_count=2, "
           "num_partitions=2,\n"
           "  input_output_alias={}, buffer_donor={}, "
           "allow_spmd_sharding_propagation_to_output={true},\n"
           "  frontend_attributes={a=\"b\"}, origin_recovery_table={\n {\"a\"} : "
           "{\"b\"}\n}\n\nFileNames\n1 \"a\"\n\n"
           "FunctionNames\n1 \"f\"\n\nFileLocations\n1 {file_name_id=1 function_name_id=1 line=1 "
           "end_line=1 column=1 "
           "end_column=2}\n\nStackFrames\n1 {file_location_id=1 parent_frame_id=1}\n\nENTRY e { "
           "ROOT c = f32[] "
           "constant(1) }",
       }) {
    const Parsed parsed = Parse(text);
    EXPECT_NE(parsed.module, nullptr) << text << "\n" << parsed.messages();
  }
}

struct Refusal {
  const char* text;
  const char* place;    // LINE:COLUMN
  const char* message;  // part of it
};

TEST(ParserTest, RefusesWithAPlaceAndAReason) {
  const std::string deep =
      absl::StrCat("ENTRY e { c = ", std::string(300, '('), "f32[]", std::string(300, ')'));
  for (const Refusal& r : std::initializer_list<Refusal>{
           {"", "1:1", "expected a computation, found the end"},
           {"HloModule m", "1:12", "expected a computation"},
           {"HloModule m, flavour=3\nENTRY e { c = f32[] constant(1) }", "1:14",
            "--allow-unknown-attributes"},
           {"ENTRY e { }", "1:11", "cannot be empty"},
           {"ENTRY e {\n c = f32[] constant(1)\n", "3:1", "the body opened here is not closed"},
           {"ENTRY e {\n c = f32[] constant(1)\n}\n}", "4:1", "this brace closes nothing"},
           {"ENTRY e { c = f32[] constant(1) }\nENTRY f { c = f32[] constant(1) }", "2:1",
            "a second ENTRY"},
           {"f { c = f32[] constant(1) }\nf { c = f32[] constant(1) }", "2:1", "is defined twice"},
           {"ENTRY e {\n c = f32[] konstant(1)\n}", "2:12", "did you mean constant?"},
           {"ENTRY e {\n c = f33[] constant(1)\n}", "2:6", "did you mean f32?"},
           {"ENTRY e {\n abc = f32[] constant(1)\n d = f32[] negate(abd)\n}", "3:19",
            "did you mean abc?"},
           {"ENTRY e {\n a = f32[] negate(b)\n b = f32[] constant(1)\n}", "3:2",
            "only here, after its use"},
           {"ENTRY e {\n a = f32[] negate(a)\n}", "2:19", "'a' is not defined"},
           {"ENTRY e {\n a = f32[] call(), to_apply=e\n}", "2:29", "calls itself"},
           {"ENTRY e {\n a = f32[] call(), to_apply=f\n}", "2:29", "is not defined before this"},
           {"ENTRY e {\n a = f32[] constant(1)\n a = f32[] constant(1)\n}", "2:2",
            "note: defined here before"},
           {"ENTRY e {\n ROOT a = f32[] constant(1)\n ROOT b = f32[] constant(1)\n}", "3:2",
            "a second ROOT"},
           {"ENTRY e {\n s2 = f32[] constant(1)\n}", "2:2", "reserved"},
           {"ENTRY e {\n __x = f32[] constant(1)\n}", "2:2", "reserved"},
           {"ENTRY e {\n inf = f32[] constant(1)\n}", "2:2", "reserved"},
           {"ENTRY e {\n a = f32[] parameter(0)\n b = f32[] parameter(0)\n}", "3:2",
            "a second parameter 0"},
           {"ENTRY e {\n a = f32[] parameter(1)\n}", "2:2", "numbered from 0"},
           {"ENTRY e {\n a = f32[] parameter(99999999999)\n}", "2:22",
            "a parameter's number is 0 to"},
           {"ENTRY e {\n a = f32[] parameter(0)\n b = f32[] add(a)\n}", "3:12",
            "takes 2 operands (left, right), found 1"},
           {"ENTRY e {\n a = f32[] parameter(0)\n b = f32[] compare(a, a)\n}", "3:12",
            "needs the attribute direction"},
           {"ENTRY e {\n a = f32[] parameter(0)\n b = f32[] negate(a), flavour={1}\n}", "3:23",
            "has no attribute"},
           {"ENTRY e {\n a = f32[] parameter(0)\n b = pred[] compare(a, a), direction=XX\n}",
            "3:38", "one of EQ, NE"},
           {"ENTRY e {\n a = f32[] constant(1), metadata={}, metadata={}\n}", "2:38",
            "given twice"},
           {"ENTRY e {\n a = f32[] negate(f32[2] b)\n}", "2:26", "'b' is not defined"},
           {"ENTRY e {\n a = f32[3] parameter(0)\n b = f32[3] negate(f32[2] a)\n}", "3:27",
            "is of f32[3], not f32[2]"},
           {"ENTRY e {\n a = f32[-2] parameter(0)\n}", "2:10", "negative"},
           {"ENTRY e {\n a = f32[99999999999999999999] parameter(0)\n}", "2:10", "64 bits"},
           {"ENTRY e {\n a = f32[4294967296,4294967296] parameter(0)\n}", "2:21",
            "more bytes than 64 bits"},
           {"ENTRY e {\n a = f32[2,3]{1,1} parameter(0)\n}", "2:17", "once"},
           {"ENTRY e {\n a = f32[2]{7} parameter(0)\n}", "2:13", "once"},
           {"ENTRY e {\n a = f32[1000000000,4] constant({1})\n}", "2:33", "found fewer"},
           {"ENTRY e {\n a = f32[1000000000,4] constant(1)\n}", "2:33", "more than 512 MiB"},
           {"ENTRY e (p: f32[2]) -> f32[3] {\n p = f32[2] parameter(0)\n}", "1:24",
            "the root is f32[2]"},
           {"ENTRY e {\n /* a = f32[] constant(1)\n}", "2:2", "a comment that is never closed"},
           {"ENTRY e {\n a = f32[] custom-call(), custom_call_target=\"x\n}", "2:46",
            "no closing quote"},
           {"ENTRY e {\n a = f32[] custom-call(), custom_call_target=\"x\", backend_config={\n}",
            "3:2", "the end of the text"},
           {deep.c_str(), "1:213", "levels deep"},
       }) {
    const Parsed parsed = Parse(r.text);
    EXPECT_EQ(parsed.module, nullptr) << r.text;
    const std::string messages = parsed.messages();
    EXPECT_TRUE(absl::StrContains(messages, absl::StrCat("t:", r.place, ": "))) << r.text << "\n"
                                                                                << messages;
    EXPECT_TRUE(absl::StrContains(messages, r.message)) << r.text << "\n" << messages;
  }
}

TEST(ParserTest, NamesABrokenInstructionOnceAndGoesOn) {
  const Parsed parsed = Parse(
      "HloModule m\nf {\n a = f32[] konstant(1)\n b = f32[] add(a, a)\n c = f32[] negate(d)\n}\n"
      "ENTRY e {\n p = f32[] parameter(0)\n q = f32[] call(p), to_apply=f\n r = f32[] add(p)\n}\n");
  EXPECT_EQ(parsed.diagnostics.error_count(), 3) << parsed.messages();
}

TEST(ParserTest, KeepsUnknownAttributesWhereAsked) {
  ParseOptions options;
  options.allow_unknown_attributes = true;
  const Parsed parsed = Parse(
      Around("r = f32[4] negate(p), novel={a, {\"}\"}}, metadata={op_name=\"x\" fresh=3}, b=1"),
      options);
  ASSERT_NE(parsed.module, nullptr) << parsed.messages();
  EXPECT_EQ(parsed.diagnostics.warning_count(), 3);
  const Instruction& root = *parsed.module->entry()->root();
  const InstructionExtras& extras = root.extras();
  ASSERT_EQ(extras.unknown.size(), 2u);
  EXPECT_EQ(extras.unknown[0].first, "novel");
  EXPECT_EQ(extras.unknown[0].second, "{a, {\"}\"}}");
  EXPECT_EQ(root.metadata().others.view(), "fresh=3");
}

TEST(ParserTest, NumbersCollidingNamesAsXlaDoes) {
  const Parsed parsed = Parse(
      "HloModule m\nf { p = f32[] parameter(0)\n add = f32[] add(p, p)\n add.0 = f32[] add(p, "
      "add)\n ROOT r = f32[] "
      "add(add.0, p) }\nENTRY e { p = f32[] parameter(0)\n p.2 = f32[] parameter(1)\n q = f32[] "
      "call(p), to_apply={ ROOT "
      "p = f32[] parameter(0) }\n ROOT add.5 = f32[] add(p.2, add(q, q)) }");
  ASSERT_NE(parsed.module, nullptr) << parsed.messages();
  std::string names;
  for (const Computation* c : parsed.module->Computations()) {
    absl::StrAppend(&names, c->name(), ":");
    for (const Instruction* i : c->Instructions()) absl::StrAppend(&names, " ", i->name());
    names += "; ";
  }
  EXPECT_EQ(names, "f: p add add.1 r; _: p.1; e: p.2 p.3 q add.anon add.5; ");
}

TEST(ParserTest, FillsWhatTheTextLeavesOut) {
  const Parsed parsed = Parse(
      "ENTRY e { p = f32[2,3]{0,1} parameter(0)\n q = (f32[2,3], s32[]) parameter(1)\n s = add(p, "
      "p)\n g = "
      "get-tuple-element(q), index=0\n ROOT t = tuple(s, g) }");
  ASSERT_NE(parsed.module, nullptr) << parsed.messages();
  const Module& m = *parsed.module;
  EXPECT_EQ(m.name(), "module_e");
  EXPECT_EQ(Text(m.entry()->root()->shape(), true), "(f32[2,3]{0,1}, f32[2,3]{1,0})");
  ASSERT_TRUE(m.header().entry_layout.has_value());
  EXPECT_EQ(Text(m.header().entry_layout->parameters[1], true), "(f32[2,3]{1,0}, s32[])");
  EXPECT_FALSE(m.entry()->has_schedule());
}

TEST(ParserTest, TakesTheTextsOrderAsSchedule) {
  const Parsed parsed = Parse(
      "HloModule m, is_scheduled=true\nf { ROOT a = f32[] parameter(0) }\nENTRY e { p = f32[] "
      "parameter(0)\n b = f32[] "
      "negate(p)\n a = f32[] abs(p)\n ROOT r = f32[] fusion(p), kind=kLoop, calls=f }");
  ASSERT_NE(parsed.module, nullptr) << parsed.messages();
  EXPECT_EQ(parsed.module->entry()->schedule().size(), 4u);
  EXPECT_EQ(parsed.module->entry()->schedule()[1]->name(), "b");
  EXPECT_FALSE(parsed.module->Computations()[0]->has_schedule());
}

TEST(ParserTest, WrapsSugaredAsyncOperations) {
  const Parsed parsed = Parse(
      Around("s = ((f32[4]), f32[2], s32[]) slice-start(p), slice={[0:2]}, "
             "async_execution_thread=\"t\", metadata={op_name=\"n\"}\n"
             " u = ((f32[4]), f32[2], s32[]) slice-update(s)\n ROOT d = f32[2] slice-done(u)"));
  ASSERT_NE(parsed.module, nullptr) << parsed.messages();
  const Instruction* start = parsed.module->entry()->root()->operand(0)->operand(0);
  ASSERT_EQ(start->opcode(), Opcode::kAsyncStart);
  ASSERT_EQ(start->called().size(), 1u);
  const Computation& body = *start->called(0);
  EXPECT_EQ(body.execution_thread(), "t");
  EXPECT_EQ(body.root()->opcode(), Opcode::kSlice);
  EXPECT_EQ(body.root()->attr<SliceAttrs>().slice[0].limit, 2);
  EXPECT_EQ(body.root()->metadata().op_name, "n");
  EXPECT_EQ(body.parameter_count(), 1);
}

TEST(ParserTest, SurvivesEveryPrefixAndEveryByte) {
  const std::string text = Around(
      "r = f32[4] custom-call(p), custom_call_target=\"t\", sharding={devices=[2]<=[2]}, "
      "backend_config={\"a\":[1]}\n"
      " c = c64[2] constant({(1, -2.5), (nan, inf)})\n s = ((f32[4]), f32[4], s32[]) "
      "negate-start(p)\n ROOT d = "
      "f32[4] negate-done(s), metadata={op_name=\"x\"}");
  for (size_t n = 0; n < text.size(); ++n) {
    Parse(text.substr(0, n));
    for (char c : {'\0', '\xff', '{', ')', '9', '"', '%'}) {
      std::string changed = text;
      changed[n] = c;
      Parse(changed);
    }
  }
}

TEST(ParserTest, ReadsTheTestData) {
  const auto folder = std::filesystem::path(__FILE__).parent_path().parent_path() / "testdata";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no testdata beside the sources";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".hlo") continue;
    std::ifstream in(entry.path());
    std::stringstream text;
    text << in.rdbuf();
    if (absl::StrContains(text.str(), "error:") || absl::StrContains(text.str(), "RUN: not "))
      continue;  // expects to be refused
    ParseOptions options;
    options.allow_unknown_attributes = true;
    // A file may hold several modules, one after another.
    for (absl::string_view part : absl::StrSplit(text.str(), "// -----\n")) {
      const Parsed parsed = Parse(std::string(part), options);
      EXPECT_NE(parsed.module, nullptr) << entry.path() << "\n" << parsed.messages();
    }
  }
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
