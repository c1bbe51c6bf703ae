// Every pass on small texts: what it leaves, and that it stays valid.
#include "passes/manager.h"

#include <ctime>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "interpreter/interpreter.h"
#include "parser/parser.h"
#include "passes/calls/checks.h"
#include "printer/printer.h"
#include "support/status.h"

namespace hlokit {
namespace {

using testing::HasSubstr;
using testing::Not;

std::unique_ptr<Module> Read(const std::string& text) {
  Diagnostics diagnostics;
  auto source = std::make_shared<const SourceFile>("test.hlo", text);
  auto module = ParseModule(source, {}, diagnostics);
  EXPECT_TRUE(module.ok()) << diagnostics.Render(*source);
  return module.ok() ? *std::move(module) : nullptr;
}

// The entry's body `lines` within a module that has a few functions.
std::string Text(const std::string& lines) {
  return "HloModule m\n"
         "add { left = f32[] parameter(0) right = f32[] parameter(1) ROOT sum = f32[] add(left, "
         "right) }\n"
         "twice { x = f32[4] parameter(0) ROOT y = f32[4] add(x, x) }\n"
         "same { x = f32[4] parameter(0) ROOT y = f32[4] copy(x) }\n"
         "ENTRY e {\n" +
         lines + "\n}\n";
}

struct Case {
  const char* name;
  const char* passes;
  const char* lines;
  const char* expected;  // in the text afterwards
  const char* gone;      // not in it; empty: no such check
};

// No text can say so: what an instruction needs stands before it.
TEST(HloCycleDetection, NamesWhatNeedsItself) {
  auto module =
      Read(Text("p = f32[4] parameter(0)\na = f32[4] sine(p)\nb = f32[4] cosine(a)\n"
                "ROOT c = f32[4] add(b, p)"));
  ASSERT_NE(module, nullptr);
  EXPECT_TRUE(RunPasses(*module, "hlo-cycle-detection").ok());
  const Computation& entry = *module->entry();
  entry.root()->operand(0)->operand(0)->AddControlPredecessor(entry.root()->operand(0));
  const absl::Status found = CreateHloCycleDetection()->Run(*module).status();
  EXPECT_THAT(std::string(found.message()), HasSubstr("needs itself: %"));
  entry.root()->operand(0)->DropControlEdges();
}

// Whichever of two operands lies first in memory.
TEST(ControlFlowFlattening, KeepsOperandsThatHangOnEachOther) {
  for (const bool first : {false, true}) {
    auto module =
        Read(Text("p = f32[4] parameter(0)\na = f32[4] sine(p)\nb = f32[4] cosine(p)\n"
                  "ROOT r = (f32[4], f32[4]) all-reduce(a, b), replica_groups={}, to_apply=add"));
    ASSERT_NE(module, nullptr);
    Instruction* sum = module->entry()->root();
    sum->operand(first ? 0 : 1)->SetOperand(0, sum->operand(first ? 1 : 0));
    EXPECT_TRUE(RunPasses(*module, "control-flow-flattening").ok());
    EXPECT_THAT(Print(*module), AllOf(HasSubstr("sine"), Not(HasSubstr("all-reduce(")),
                                      HasSubstr("custom_call_target=\"AllocateBuffer\"")));
  }
}

class PassCase : public testing::TestWithParam<Case> {};

TEST_P(PassCase, LeavesWhatItShould) {
  const Case& c = GetParam();
  auto module = Read(Text(c.lines));
  ASSERT_NE(module, nullptr);
  PassOptions options;
  options.verify_each = true;
  PassReport report;
  CHECK_OK(RunPasses(*module, c.passes, options, &report));
  PrintOptions print;
  const std::string text = Print(*module, print);
  EXPECT_THAT(text, HasSubstr(c.expected));
  if (c.gone[0] != 0) {
    EXPECT_THAT(text, Not(HasSubstr(c.gone)));
  }
  ASSERT_FALSE(report.runs.empty());
  EXPECT_TRUE(report.runs[0].changed);
}

constexpr char kP[] = "p = f32[4]{0} parameter(0)\n";
#define P "p = f32[4]{0} parameter(0)\n"
#define M "m = f32[2,3]{1,0} parameter(0)\n"

INSTANTIATE_TEST_SUITE_P(
    All, PassCase,
    testing::Values(
        Case{"Dce", "dce", P "d = f32[4]{0} negate(p)\nROOT r = f32[4]{0} abs(p)", "abs(",
             "negate("},
        Case{"Cse", "cse,dce",
             P "a = f32[4]{0} abs(p)\nb = f32[4]{0} abs(p)\nROOT r = f32[4]{0} add(a, b)",
             "add(%a, %a)", "abs.1"},
        Case{"CseCommutes", "cse,dce",
             P "n = f32[4]{0} negate(p)\na = f32[4]{0} add(p, n)\nb = f32[4]{0} add(n, p)\n"
               "ROOT r = f32[4]{0} subtract(a, b)",
             "subtract(%a, %a)", "%b"},
        Case{"Inline", "call-inliner,dce", P "ROOT r = f32[4]{0} call(p), to_apply=twice",
             "add(%p, %p)", "call("},
        Case{"Tuple", "tuple-simplifier,dce",
             P
             "t = (f32[4]{0}, f32[4]{0}) tuple(p, p)\ng = f32[4]{0} get-tuple-element(t), index=1\n"
             "ROOT r = f32[4]{0} abs(g)",
             "abs(%p)", "tuple("},
        Case{"Fold", "constant_folding,dce",
             P "a = f32[] constant(2)\nb = f32[] constant(3)\ns = f32[] multiply(a, b)\n"
               "w = f32[4]{0} broadcast(s), dimensions={}\nROOT r = f32[4]{0} add(p, w)",
             "constant(6)", "multiply("},
        Case{"MulOne", "algsimp,dce",
             P "o = f32[] constant(1)\nw = f32[4]{0} broadcast(o), dimensions={}\nx = f32[4]{0} "
               "multiply(w, p)\n"
               "ROOT r = f32[4]{0} abs(x)",
             "abs(%p)", "multiply("},
        Case{"DivEight", "algsimp,dce",
             P "o = f32[] constant(8)\nw = f32[4]{0} broadcast(o), dimensions={}\nROOT x = "
               "f32[4]{0} divide(p, w)",
             "constant(0.125)", "divide("},
        Case{"SoftmaxBroadcast", "algsimp{exact},dce",
             "p = f32[1,2,4]{2,1,0} parameter(0)\nr = f32[1,2,4,1]{3,2,1,0} reshape(p)\n"
             "s = f32[1,2,4]{2,1,0} reshape(r)\nROOT b = f32[1,2,4,5]{3,2,1,0} broadcast(s), "
             "dimensions={0,1,2}",
             "broadcast(%p), dimensions={0,1,2}", "reshape("},
        Case{"ReshapeOfBroadcast", "algsimp,dce",
             P "b = f32[1,4,6]{2,1,0} broadcast(p), dimensions={1}\nROOT r = f32[4,2,3]{2,1,0} "
               "reshape(b)",
             "broadcast(%p), dimensions={0}", "reshape("},
        Case{"TransposeTwice", "algsimp,dce",
             M "t = f32[3,2]{1,0} transpose(m), dimensions={1,0}\nu = f32[2,3]{1,0} transpose(t), "
               "dimensions={1,0}\n"
               "ROOT r = f32[2,3]{1,0} abs(u)",
             "abs(%m)", "transpose("},
        Case{"ConvertChain", "algsimp,dce",
             "p = bf16[4]{0} parameter(0)\nw = f32[4]{0} convert(p)\nb = bf16[4]{0} convert(w)\n"
             "ROOT r = bf16[4]{0} abs(b)",
             "abs(%p)", "convert("},
        Case{
            "BroadcastArithmetic", "algsimp,dce",
            P
            "x = f32[4,5]{1,0} broadcast(p), dimensions={0}\nROOT y = f32[4,5]{1,0} exponential(x)",
            "f32[4]{0} exponential(%p)", "f32[4,5]{1,0} exponential"},
        Case{"ReduceTransposed", "algsimp,dce",
             M "t = f32[3,2]{1,0} transpose(m), dimensions={1,0}\nz = f32[] constant(0)\n"
               "ROOT r = f32[3]{0} reduce(t, z), dimensions={1}, to_apply=add",
             "dimensions={0}, to_apply", "transpose("},
        Case{"DotTransposed", "transpose-folding,dce",
             M
             "n = f32[5,3]{1,0} parameter(1)\nt = f32[3,5]{1,0} transpose(n), dimensions={1,0}\n"
             "ROOT d = f32[2,5]{1,0} dot(m, t), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
             "dot(%m, %n), lhs_contracting_dims={1}, rhs_contracting_dims={1}", "transpose("},
        Case{"DotSwapped", "transpose-folding,dce",
             M "n = f32[3,5]{1,0} parameter(1)\n"
               "d = f32[2,5]{1,0} dot(m, n), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
               "ROOT t = f32[5,2]{1,0} transpose(d), dimensions={1,0}",
             "dot(%n, %m), lhs_contracting_dims={0}, rhs_contracting_dims={1}", "transpose("},
        Case{"DotWidened", "transpose-folding,dce",
             "a = bf16[2,3]{1,0} parameter(0)\nb = bf16[3,5]{1,0} parameter(1)\nx = f32[2,3]{1,0} "
             "convert(a)\n"
             "y = f32[3,5]{1,0} convert(b)\n"
             "ROOT d = f32[2,5]{1,0} dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
             "dot(%a, %b)", "convert("},
        Case{"Layout", "layout-assignment",
             "m = f32[2,3]{0,1} parameter(0)\nROOT r = f32[2,3]{0,1} abs(m)", "f32[2,3]{1,0} abs(",
             ""},
        Case{"Barrier", "cse_barrier_expander",
             P "b = f32[4]{0} opt-barrier(p)\nROOT r = f32[4]{0} abs(b)", "abs(%p)", "opt-barrier"},
        Case{"Conditional", "simplify-conditional,call-inliner,dce",
             P "c = pred[] constant(true)\n"
               "ROOT r = f32[4]{0} conditional(c, p, p), true_computation=twice, "
               "false_computation=same",
             "add(%p, %p)", "conditional("},
        Case{"Empty", "zero_sized_hlo_elimination,dce",
             "p = f32[0,4]{1,0} parameter(0)\na = f32[0,4]{1,0} abs(p)\nROOT t = (f32[0,4]{1,0}) "
             "tuple(a)",
             "constant(", "abs("},
        Case{"Fuse", "fusion,dce",
             P "a = f32[4]{0} exponential(p)\nb = f32[4]{0} negate(a)\nz = f32[] constant(0)\n"
               "ROOT r = f32[] reduce(b, z), dimensions={0}, to_apply=add",
             "kind=kLoop, calls=", ""}),
    [](const auto& info) { return std::string(info.param.name); });

// A producer that is dear, and read more often than it has elements, stays out of its reader.
TEST(Fusion, LeavesRepeatedWorkOut) {
  auto module =
      Read(Text(std::string(kP) +
                "a = f32[4]{0} exponential(p)\nb = f32[9,4]{1,0} broadcast(a), dimensions={1}\n"
                "q = f32[9,4]{1,0} parameter(1)\nROOT r = f32[9,4]{1,0} add(b, q)"));
  CHECK_OK(RunPasses(*module, "fusion,dce"));
  ASSERT_EQ(module->entry()->root()->opcode(), Opcode::kFusion);
  EXPECT_EQ(module->entry()->root()->operand(1)->opcode(), Opcode::kExponential);
}

// Nothing that reads the array joins the fusion that updates it in place.
TEST(Fusion, KeepsUpdatesInPlace) {
  auto module = Read(Text(
      "p = f32[9]{0} parameter(0)\ni = s32[] parameter(1)\ns = f32[2]{0} slice(p), slice={[4:6]}\n"
      "n = f32[2]{0} negate(s)\nu = f32[9]{0} dynamic-update-slice(p, n, i)\nROOT r = (f32[9]{0}) "
      "tuple(u)"));
  CHECK_OK(RunPasses(*module, "fusion,dce"));
  // The loop of the update itself may not read the array at other places: one before it does.
  const Instruction* update = module->entry()->root()->operand(0);
  ASSERT_EQ(update->opcode(), Opcode::kDynamicUpdateSlice);
  EXPECT_TRUE(update->operand(0)->IsParameter());
  const Instruction* made = update->operand(1);
  ASSERT_EQ(made->opcode(), Opcode::kFusion);
  EXPECT_EQ(made->operand(0), update->operand(0));
}

constexpr char kLoop[] = R"(HloModule m
cond { s = (s32[], f32[300]{0}, f32[300]{0}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(LIMIT)
  ROOT c = pred[] compare(i, n), direction=LT }
body { s = (s32[], f32[300]{0}, f32[300]{0}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  j = s32[] add(i, one)
  x = f32[300]{0} get-tuple-element(s), index=1
  w = f32[300]{0} get-tuple-element(s), index=2
  e = f32[300]{0} exponential(w)
  y = f32[300]{0} add(x, e)
  ROOT t = (s32[], f32[300]{0}, f32[300]{0}) tuple(j, y, w) }
ENTRY e { z = s32[] constant(0)
  a = f32[300]{0} parameter(0)
  t = (s32[], f32[300]{0}, f32[300]{0}) tuple(z, a, a)
  l = (s32[], f32[300]{0}, f32[300]{0}) while(t), condition=cond, body=body
  ROOT r = f32[300]{0} get-tuple-element(l), index=1 }
)";

std::string LoopText(absl::string_view limit) {
  std::string text = kLoop;
  text.replace(text.find("LIMIT"), 5, limit.data(), limit.size());
  return text;
}

// Linear in the operands of one instruction.
TEST(Cse, ManyIotasOfOneReader) {
  constexpr int kCount = 40000;
  std::string lines, operands;
  for (int k = 0; k < kCount; ++k) {
    absl::StrAppend(&lines, "i", k, " = s32[", k / 2 + 1, "] iota(), iota_dimension=0\n");
    absl::StrAppend(&operands, k == 0 ? "i" : ", i", k);
  }
  auto module = Read(Text(absl::StrCat(lines, "ROOT t = tuple(", operands, ")")));
  ASSERT_NE(module, nullptr);
  const std::clock_t start = std::clock();
  EXPECT_TRUE(RunPasses(*module, "cse").ok());
  EXPECT_LT(std::clock() - start, CLOCKS_PER_SEC);
  const Instruction* const root = module->entry()->root();
  EXPECT_EQ(root->operand(kCount - 1), root->operand(kCount - 2));
  EXPECT_NE(root->operand(kCount - 1), root->operand(kCount - 3));
}

TEST(WhileLoops, GoWhereTheyRunAtMostOnce) {
  for (const char* limit : {"0", "1"}) {
    auto module = Read(LoopText(limit));
    CHECK_OK(RunPasses(*module, "simplify-while-loops,tuple-simplifier,dce"));
    EXPECT_THAT(Print(*module), Not(HasSubstr("while(")));
  }
}

TEST(WhileLoops, InvariantWorkMovesOut) {
  auto module = Read(LoopText("5"));
  Literal argument(Shape::Array(ElementType::kF32, {300}));
  const auto before = Interpret(*module, {argument});
  PassOptions options;
  options.verify_each = true;
  CHECK_OK(RunPasses(*module, "while-loop-invariant-code-motion,tuple-simplifier,dce", options));
  bool outside = false;
  for (const Instruction* i : module->entry()->Instructions())
    outside |= i->opcode() == Opcode::kExponential;
  EXPECT_TRUE(outside);
  const auto after = Interpret(*module, {argument});
  ASSERT_TRUE(before.ok() && after.ok());
  EXPECT_TRUE((*before)[0] == (*after)[0]);
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
