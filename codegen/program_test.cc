// Steps of small modules: their order, kinds, buffers, and the copies around control flow.
#include "codegen/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parser/parser.h"

namespace hlokit {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// A module with its buffers and its program, for a target that has a library for sorts alone.
struct Compiled {
  explicit Compiled(absl::string_view text) {
    Diagnostics diagnostics;
    auto parsed = ParseModule(std::make_shared<const SourceFile>("test.hlo", std::string(text)),
                              ParseOptions(), diagnostics);
    if (!parsed.ok()) ADD_FAILURE() << parsed.status();
    module = *std::move(parsed);
    auto assigned = BufferAssignment::Make(*module);
    if (!assigned.ok()) ADD_FAILURE() << assigned.status();
    buffers = *std::move(assigned);
    program = MakeProgram(*module, buffers, [](const Instruction& i) {
      return i.opcode() == Opcode::kSort ? StepKind::kLibrary : StepKind::kKernel;
    });
  }
  // "kind name" of each step.
  std::vector<std::string> Steps(int32_t sequence) const {
    std::vector<std::string> steps;
    for (const Step& step : program.sequences[sequence].steps)
      steps.push_back(absl::StrCat(Text(step.kind), " ", step.instruction->name()));
    return steps;
  }
  std::unique_ptr<Module> module;
  BufferAssignment buffers;
  Program program;
};

TEST(ProgramTest, TuplesAndBitcastsAreNoSteps) {
  const Compiled c(R"(HloModule m
less {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT r = pred[] compare(x, y), direction=LT
}
ENTRY e {
  p = f32[4]{0} parameter(0)
  n = f32[4]{0} negate(p)
  b = f32[2,2]{1,0} bitcast(n)
  empty = f32[0]{0} constant({})
  nothing = f32[0]{0} negate(empty)
  s = f32[4]{0} sort(n), dimensions={0}, to_apply=less
  device = u32[] partition-id()
  ROOT t = (f32[2,2]{1,0}, f32[4]{0}, u32[]) tuple(b, s, device)
})");
  EXPECT_THAT(c.program.sequences, SizeIs(1));
  EXPECT_THAT(c.Steps(0), ElementsAre("kernel n", "library s", "device-id device"));
  const Step& negate = c.program.entry().steps[0];
  EXPECT_THAT(negate.operands, ElementsAre(Slice{Slice::Kind::kParameter, 0, 0, 16}));
  EXPECT_THAT(negate.results, ElementsAre(Slice{Slice::Kind::kOutput, 0, 0, 16}));
  EXPECT_THAT(c.program.entry().copies, IsEmpty());
}

TEST(ProgramTest, ArgumentsAndConstantsAreCopiedToResults) {
  const Compiled c(R"(HloModule m
ENTRY e {
  p = f32[4]{0} parameter(0)
  c = s32[2]{0} constant({1, 2})
  ROOT t = (f32[4]{0}, s32[2]{0}) tuple(p, c)
})");
  EXPECT_THAT(c.program.entry().steps, IsEmpty());
  EXPECT_EQ(ProgramText(c.program),
            "entry %e\n"
            "  copy parameter0[0:16] -> output0[0:16]\n"
            "  copy constant0[0:8] -> output1[0:8]\n");
}

// The body swaps two arrays: the next state goes through staging memory.
TEST(ProgramTest, LoopCopiesItsInitialAndItsNextState) {
  const Compiled c(R"(HloModule m
body {
  s = (s32[], f32[4]{0}, f32[4]{0}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  a = f32[4]{0} get-tuple-element(s), index=1
  b = f32[4]{0} get-tuple-element(s), index=2
  one = s32[] constant(1)
  next = s32[] add(i, one)
  ROOT t = (s32[], f32[4]{0}, f32[4]{0}) tuple(next, b, a)
}
condition {
  s = (s32[], f32[4]{0}, f32[4]{0}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  limit = s32[] constant(9)
  ROOT r = pred[] compare(i, limit), direction=LT
}
ENTRY e {
  z = s32[] constant(0)
  x = f32[4]{0} parameter(0)
  y = f32[4]{0} parameter(1)
  init = (s32[], f32[4]{0}, f32[4]{0}) tuple(z, x, y)
  ROOT w = (s32[], f32[4]{0}, f32[4]{0}) while(init), condition=condition, body=body
})");
  ASSERT_THAT(c.Steps(0), ElementsAre("while w"));
  const Step& loop = c.program.entry().steps[0];
  ASSERT_THAT(loop.bodies, ElementsAre(1, 2));
  EXPECT_THAT(c.Steps(1), ElementsAre("kernel r"));
  EXPECT_THAT(c.Steps(2), ElementsAre("kernel next"));
  EXPECT_EQ(loop.selector, c.buffers.slice(c.module->entry()->root()->called(0)->root()));
  EXPECT_THAT(loop.copies, SizeIs(3));
  EXPECT_THAT(c.program.sequences[1].copies, IsEmpty());
  const std::vector<BufferCopy>& next = c.program.sequences[2].copies;
  ASSERT_THAT(next, SizeIs(2));
  EXPECT_EQ(next[0].from, next[1].to);
  EXPECT_EQ(next[0].to, next[1].from);
  EXPECT_EQ(next[0].staging.kind, Slice::Kind::kArena);
  EXPECT_THAT(ProgramText(c.program), HasSubstr("  while %w("));
}

TEST(ProgramTest, BranchesCopyTheirResults) {
  const Compiled c(R"(HloModule m
same {
  ROOT x = f32[4]{0} parameter(0)
}
negated {
  x = f32[4]{0} parameter(0)
  n = f32[4]{0} negate(x)
  ROOT r = f32[4]{0} call(n), to_apply=same
}
other {
  ROOT x = f32[4]{0} parameter(0)
}
ENTRY e {
  which = s32[] parameter(0)
  x = f32[4]{0} parameter(1)
  ROOT r = f32[4]{0} conditional(which, x, x), branch_computations={negated, other}
})");
  ASSERT_THAT(c.Steps(0), ElementsAre("conditional r.1"));
  const Step& choice = c.program.entry().steps[0];
  EXPECT_EQ(choice.selector, (Slice{Slice::Kind::kParameter, 0, 0, 4}));
  ASSERT_THAT(choice.bodies, ElementsAre(1, 2));
  EXPECT_THAT(c.Steps(1), ElementsAre("kernel n", "call r"));
  EXPECT_THAT(c.program.sequences[1].steps[1].bodies, ElementsAre(3));
  EXPECT_THAT(c.Steps(2), IsEmpty());
  ASSERT_THAT(c.program.sequences[2].copies, SizeIs(1));
  EXPECT_EQ(c.program.sequences[2].copies[0].from, (Slice{Slice::Kind::kParameter, 1, 0, 16}));
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
