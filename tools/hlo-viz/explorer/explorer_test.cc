// What the page is told: buffers, and what a pass has removed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parser/parser.h"
#include "tools/hlo-viz/explorer/json_internal.h"
#include "tools/hlo-viz/explorer/kernel_code.h"
#include "tools/hlo-viz/explorer/memory_data.h"
#include "tools/hlo-viz/explorer/page.h"
#include "tools/hlo-viz/explorer/page_data.h"
#include "tools/hlo-viz/explorer/xla_memory.h"

namespace hlokit {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kAssignment[] = R"(BufferAssignment:
allocation 0: size 64, parameter 0, shape |f32[8]| at ShapeIndex {}:
 value: <1 x @0> (size=32,offset=0): f32[8]{0}
allocation 1: 0x55d0, size 128, color 1, preallocated-temp:
 value: <2 while{1,0} @0> (size=32,offset=64): f32[8]{0}
 value: broken
allocation 2: size 4, thread-local:
 value: <3 sum @0> (size=4,offset=0): f32[]

Total bytes used: 196
)";

// A page holds the texts inside <script>; bytes that are no UTF-8 would make the whole of it
// unreadable.
TEST(ExplorerJson, TextsStayWithinTheScript) {
  std::string out;
  AppendJsonText(out, "a\"b\\</script>\n\xff");
  EXPECT_EQ(out, "\"a\\\"b\\\\\\u003c/script>\\u000a\\ufffd\"");
}

TEST(XlaMemory, ReadsAssignments) {
  const XlaAssignment read = ReadXlaAssignment(kAssignment);
  ASSERT_EQ(read.allocations.size(), 3u);
  EXPECT_EQ(read.allocations[1].size, 128);
  EXPECT_EQ(read.allocations[1].purpose, "color 1, preallocated-temp");
  EXPECT_TRUE(read.allocations[2].thread_local_memory);
  ASSERT_EQ(read.buffers.size(), 3u);
  EXPECT_EQ(read.buffers[1].instruction, "while");
  EXPECT_EQ(read.buffers[1].index, "1,0");
  EXPECT_EQ(read.buffers[1].offset, 64);
  EXPECT_EQ(read.buffers[1].allocation, 1);
  EXPECT_TRUE(ReadXlaAssignment("no such thing").buffers.empty());
}

TEST(XlaMemory, ReadsLiveRanges) {
  const XlaLiveRanges read = ReadXlaLiveRanges(
      "HloLiveRange (max 3):\n  InstructionSequence:\n    0:x\n    1:y\n  BufferLiveRange:\n"
      "    x{}:0-3\n    y{1,0}:1-2\n    bad{}:3-1\n  Live ranges at 1 (peak):\n    x{}: 4 bytes\n");
  EXPECT_THAT(read.sequence, ElementsAre("x", "y"));
  EXPECT_EQ(read.ranges.size(), 2u);
  EXPECT_EQ(read.ranges.at("y{1,0}"), (std::pair<int64_t, int64_t>(1, 2)));
  EXPECT_EQ(read.end, 3);
}

constexpr char kScheduled[] = R"(HloModule m, is_scheduled=true
ENTRY e {
  x = f32[8] parameter(0)
  y = f32[8] negate(x)
  z = f32[8] cosine(y), metadata={op_name="jit(f)/gone" source_file="m.py" source_line=3}
  ROOT r = f32[8] add(z, y)
})";

TEST(MemoryData, XlasOwnGoesFirst) {
  const auto module = *ParseModule(kScheduled);
  const ModuleIndex index(*module);
  const std::string ours = MemoryData(index, {});
  EXPECT_THAT(ours, HasSubstr(R"("source":"hlokit")"));
  EXPECT_THAT(ours, HasSubstr(R"("arena")"));
  EXPECT_THAT(ours, HasSubstr(R"([1,"y{}",32,)"));
  const std::string theirs = MemoryData(index, {kAssignment, "", "spaces <script>"});
  EXPECT_THAT(theirs, HasSubstr(R"("source":"xla")"));
  EXPECT_THAT(theirs, HasSubstr(R"([0,"x{}",32,)"));
  EXPECT_THAT(theirs, HasSubstr(R"([-1,"while{1,0}",32,0,)"));
  EXPECT_THAT(theirs, Not(HasSubstr("sum{}")));
  EXPECT_THAT(theirs, Not(HasSubstr("<script>")));
}

constexpr char kFusions[] = R"(
fused { p = f32[8] parameter(0) ROOT add.7 = f32[8] add(p, p) }
ENTRY e {
  x = f32[8] parameter(0)
  add_fusion.2 = f32[8] fusion(x), kind=kLoop, calls=fused
  ROOT call = f32[8] fusion(add_fusion.2), kind=kLoop, calls=fused
})";

TEST(KernelCode, IsFoundByTheNamesThatLanguagesTake) {
  const auto module = *ParseModule(kFusions);
  const ModuleIndex index(*module);
  const std::vector<CodeFile> files = {
      {"a.ir-no-opt.ll",
       "; one\ndefine ptr @add_fusion.2(ptr %0) {\n}\ndefine internal void @x() {\n"},
      {"part.ir-with-opt.ll",
       "define ptr @\"add_fusion.2\"() {\n}\ndefine ptr @call_kernel() {\n}\n"},
      {"ptx", "// head\n.visible .entry add_fusion_2(\n.param .u64 p)\n{ret;}\n.entry add_7(\n"},
      {"s", "\t.globl call\ncall:  # @call\n\tret\n.L1:\n"},
      {"obj-file.a.o",
       "\na.o:  file format elf64-x86-64\n\nDisassembly of section .ltext:\n\n0000000000000000 "
       "<call>:\n   0: movq 8(%rdi), %rax\n   4: jle 0xd <call+0xd>\n"},
      {"a.bc", "call:"}};
  const std::vector<KernelCode> found = FindKernelCode(index, files);
  ASSERT_EQ(found.size(), 6u);
  EXPECT_EQ(found[0].title, "LLVM IR");
  EXPECT_EQ(found[0].text, files[0].text);  // a file of one kernel
  EXPECT_EQ(found[1].title, "LLVM IR, optimized");
  EXPECT_EQ(found[1].text, "define ptr @\"add_fusion.2\"() {\n}\n");
  EXPECT_EQ(found[2].instruction->name(), "call");
  EXPECT_EQ(found[3].instruction->name(), "add_fusion.2");
  EXPECT_EQ(found[3].text, ".visible .entry add_fusion_2(\n.param .u64 p)\n{ret;}\n");
  EXPECT_EQ(found[4].title, "assembler");
  EXPECT_EQ(found[5].title, "machine code");
  EXPECT_EQ(found[5].instruction->name(), "call");
}

TEST(MemoryData, NeedsAScheduleOrFiles) {
  const auto module = *ParseModule("ENTRY e { ROOT x = f32[8] parameter(0) }");
  const ModuleIndex index(*module);
  EXPECT_EQ(MemoryData(index, {}), "");
  EXPECT_THAT(MemoryData(index, {"", "", "Total bytes: 32"}), HasSubstr("Total bytes: 32"));
}

std::string Difference(absl::string_view before_text, absl::string_view after_text) {
  const auto before = *ParseModule(before_text), after = *ParseModule(after_text);
  const ModuleIndex index(*after);
  const ModuleMatch match(*before, *after);
  const std::string data =
      PageData(index, ScopeTree(index), {.before = before.get(), .match = &match, .code = {}});
  return data.substr(data.find("\"diff\":"));
}

TEST(Difference, WhatIsGoneStandsBeforeItsReader) {
  constexpr char kAfter[] = R"(ENTRY e {
    x = f32[8] parameter(0)
    y = f32[8] negate(x)
    ROOT r = f32[8] add(y, y)
  })";
  const std::string diff = Difference(kScheduled, kAfter);
  // Ghost 0 is made from y, number 1, and was read by the root, number 2.
  EXPECT_THAT(diff, HasSubstr(R"("cosine","f32[8]",0,2,[1],[2],"jit(f)/gone",["m.py:3"]])"));
  EXPECT_THAT(diff, HasSubstr(R"("state":[2,2])"));
  EXPECT_THAT(diff, HasSubstr(R"("was":[[2,"operands","%r = )"));
}

TEST(Difference, ChainsOfWhatIsGoneStandTogether) {
  constexpr char kBefore[] = R"(ENTRY e {
    x = f32[8] parameter(0)
    a = f32[8] cosine(x)
    b = f32[8] sine(a)
    ROOT r = f32[8] negate(b)
  })";
  const std::string diff =
      Difference(kBefore, "ENTRY e { x = f32[8] parameter(0) ROOT r = f32[8] negate(x) }");
  EXPECT_THAT(diff, HasSubstr(R"("cosine","f32[8]",0,1,[0],[-2],"",[]])"));
  EXPECT_THAT(diff, HasSubstr(R"("sine","f32[8]",0,1,[-1],[1],"",[]])"));
}

TEST(PageData, FramesNameTheirCallers) {
  const auto module = *ParseModule(R"(HloModule m

FileNames
1 "a.py"

FunctionNames
1 "<module>"
2 "f"
3 "g"

FileLocations
1 {file_name_id=1 function_name_id=1 line=9 end_line=9 column=2 end_column=27}
2 {file_name_id=1 function_name_id=2 line=5 end_line=5 column=11 end_column=20}
3 {file_name_id=1 function_name_id=3 line=2 end_line=2 column=11 end_column=19}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}
3 {file_location_id=3 parent_frame_id=3}
4 {file_location_id=7 parent_frame_id=3}

ENTRY e { ROOT x = f32[] parameter(0), metadata={stack_frame_id=3} })");
  const ModuleIndex index(*module);
  const std::string data = PageData(index, ScopeTree(index), {});
  EXPECT_THAT(data, HasSubstr(R"x("frames":[["a.py:9 (\u003cmodule>)",0],["a.py:5 (f)",1],)x"));
  EXPECT_THAT(data, HasSubstr(R"x(["a.py:2 (g)",2],["?",0]])x"));
}

TEST(Page, TextsStayTexts) {
  PageBuilder page;
  page.AddModule("</script>");
  page.AddVersion(*Pack("</script>", {}, "{}", ""));
  page.AddNote("</script>");
  const std::string html = page.Html("<b>");
  EXPECT_THAT(html, HasSubstr(R"("name":"\u003c/script>")"));
  EXPECT_THAT(html, HasSubstr("<title>&#60;b&#62;</title>"));
  EXPECT_THAT(WaitingPage("<b>", 7), HasSubstr("&#60;b&#62;"));
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
