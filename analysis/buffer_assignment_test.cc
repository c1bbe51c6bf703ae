// What shares memory, what is copied, and that no two live arrays overlap.
#include "analysis/buffer_assignment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "analysis/buffer_check.h"
#include "analysis/in_place.h"
#include "analysis/value_flow.h"
#include "parser/parser.h"
#include "support/file.h"

namespace hlokit {
namespace {

std::unique_ptr<Module> Parse(absl::string_view text) {
  Diagnostics diagnostics;
  auto module = ParseModule(std::make_shared<const SourceFile>("test.hlo", std::string(text)),
                            ParseOptions(), diagnostics);
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? *std::move(module) : nullptr;
}

const Instruction* Named(const Module& module, absl::string_view name) {
  for (const Computation* c : module.Computations())
    for (const Instruction* i : c->Instructions())
      if (i->name() == name) return i;
  ADD_FAILURE() << "no instruction " << name;
  return nullptr;
}

// A while over (s32[], f32[64], f32[64]) that runs `step` on i, a and b and passes on `next`.
std::string Loop(absl::string_view step, absl::string_view next) {
  constexpr char kState[] = "(s32[], f32[64]{0}, f32[64]{0})";
  return absl::StrCat("HloModule m\n\nbody {\n  s = ", kState,
                      " parameter(0)\n"
                      "  i = s32[] get-tuple-element(s), index=0\n"
                      "  a = f32[64]{0} get-tuple-element(s), index=1\n"
                      "  b = f32[64]{0} get-tuple-element(s), index=2\n"
                      "  one = s32[] constant(1)\n  n = s32[] add(i, one)\n",
                      step, "  ROOT t = ", kState, " tuple(", next,
                      ")\n}\n\n"
                      "condition {\n  s = ",
                      kState,
                      " parameter(0)\n"
                      "  i = s32[] get-tuple-element(s), index=0\n  limit = s32[] constant(9)\n"
                      "  ROOT r = pred[] compare(i, limit), direction=LT\n}\n\n"
                      "ENTRY e {\n  p = f32[64]{0} parameter(0)\n  z = s32[] constant(0)\n"
                      "  x = f32[64]{0} negate(p)\n  y = f32[64]{0} exponential(p)\n  init = ",
                      kState, " tuple(z, x, y)\n  ROOT w = ", kState,
                      " while(init), condition=condition, body=body\n}\n");
}

TEST(BufferAssignmentTest, LoopStateIsOneBufferThatTheBodyUpdates) {
  const auto module = Parse(Loop("  c = f32[64]{0} add(a, b)\n", "n, c, b"));
  auto buffers = BufferAssignment::Make(*module);
  ASSERT_TRUE(buffers.ok()) << buffers.status();
  const Instruction* loop = Named(*module, "w");
  const Slice state = buffers->slice(loop, 1);
  EXPECT_EQ(state.kind, Slice::Kind::kOutput) << "results are placed directly";
  EXPECT_EQ(buffers->slice(Named(*module, "x")), state);
  EXPECT_EQ(buffers->slice(Named(*module, "a")), state);
  EXPECT_EQ(buffers->slice(Named(*module, "c")), state);
  EXPECT_THAT(buffers->loop_back_copies(loop), testing::IsEmpty());
  EXPECT_EQ(buffers->slice(loop, 2), buffers->slice(Named(*module, "y"))) << "an invariant";
  for (const BufferCopy& copy : buffers->loop_entry_copies(loop))
    EXPECT_EQ(copy.to.size, 4) << "the counter alone starts from a constant";
  EXPECT_THAT(buffers->output_copies(), testing::IsEmpty());
}

TEST(BufferAssignmentTest, SwappedStateIsStaged) {
  const auto module = Parse(Loop("", "n, b, a"));
  auto buffers = BufferAssignment::Make(*module);
  ASSERT_TRUE(buffers.ok()) << buffers.status();
  int staged = 0;
  for (const BufferCopy& copy : buffers->loop_back_copies(Named(*module, "w"))) {
    EXPECT_FALSE(Overlap(copy.staging, copy.from));
    EXPECT_FALSE(Overlap(copy.staging, copy.to));
    staged += copy.staging.kind == Slice::Kind::kArena;
  }
  EXPECT_GE(staged, 1);
}

// Two results of one loop over all elements, either of which may be written over either array.
std::string LoopOfTwoResults(absl::string_view next) {
  return absl::StrReplaceAll(
      Loop("  f = (f32[64]{0}, f32[64]{0}) fusion(a, b), kind=kLoop, calls=both\n"
           "  c = f32[64]{0} get-tuple-element(f), index=0\n"
           "  d = f32[64]{0} get-tuple-element(f), index=1\n",
           next),
      {{"HloModule m\n",
        "HloModule m\n\nboth {\n  p = f32[64]{0} parameter(0)\n  q = f32[64]{0} parameter(1)\n"
        "  g = f32[64]{0} add(p, q)\n  h = f32[64]{0} subtract(p, q)\n"
        "  ROOT t = (f32[64]{0}, f32[64]{0}) tuple(g, h)\n}\n"}});
}

TEST(BufferAssignmentTest, ResultsLieInTheStateThatTheyAre) {
  const auto module = Parse(LoopOfTwoResults("n, d, c"));
  auto buffers = BufferAssignment::Make(*module);
  ASSERT_TRUE(buffers.ok()) << buffers.status();
  EXPECT_EQ(buffers->slice(Named(*module, "d")), buffers->slice(Named(*module, "a")));
  EXPECT_EQ(buffers->slice(Named(*module, "c")), buffers->slice(Named(*module, "b")));
  EXPECT_THAT(buffers->loop_back_copies(Named(*module, "w")), testing::IsEmpty());
}

TEST(BufferAssignmentTest, RotatedStateIsNotWrittenOverOtherState) {
  const auto module = Parse(Loop("  c = f32[64]{0} add(a, b)\n", "n, b, c"));
  auto buffers = BufferAssignment::Make(*module);
  ASSERT_TRUE(buffers.ok()) << buffers.status();
  EXPECT_FALSE(Overlap(buffers->slice(Named(*module, "c")), buffers->slice(Named(*module, "a"))));
  EXPECT_EQ(buffers->loop_back_copies(Named(*module, "w")).size(), 2);
}

TEST(BufferAssignmentTest, UpdatesOfLoopStateStayInPlace) {
  const auto module =
      Parse(Loop("  v = f32[1]{0} dynamic-slice(b, i), dynamic_slice_sizes={1}\n"
                 "  u = f32[64]{0} dynamic-update-slice(a, v, i)\n",
                 "n, u, b"));
  auto buffers = BufferAssignment::Make(*module);
  ASSERT_TRUE(buffers.ok()) << buffers.status();
  EXPECT_EQ(buffers->slice(Named(*module, "u")), buffers->slice(Named(*module, "a")));
  for (const BufferCopy& copy : buffers->loop_back_copies(Named(*module, "w")))
    EXPECT_EQ(copy.to.size, 4) << "the counter alone, which is counted up before its last use";
}

TEST(BufferAssignmentTest, StateThatIsReadAfterItsUpdateIsNotOverwritten) {
  const auto module =
      Parse(Loop("  v = f32[1]{0} dynamic-slice(b, i), dynamic_slice_sizes={1}\n"
                 "  u = f32[64]{0} dynamic-update-slice(a, v, i)\n"
                 "  d = f32[64]{0} subtract(u, a)\n",
                 "n, u, d"));
  auto buffers = BufferAssignment::Make(*module);
  ASSERT_TRUE(buffers.ok()) << buffers.status();
  EXPECT_FALSE(Overlap(buffers->slice(Named(*module, "u")), buffers->slice(Named(*module, "a"))));
}

TEST(BufferAssignmentTest, ArgumentsAreCopiedToResultsAndNeverWritten) {
  const auto module = Parse(R"(HloModule m
ENTRY e {
  p = f32[8]{0} parameter(0)
  n = f32[8]{0} negate(p)
  ROOT t = (f32[8]{0}, f32[8]{0}, f32[8]{0}) tuple(p, n, n)
})");
  auto buffers = BufferAssignment::Make(*module);
  ASSERT_TRUE(buffers.ok()) << buffers.status();
  EXPECT_EQ(buffers->slice(Named(*module, "n")).kind, Slice::Kind::kOutput);
  EXPECT_EQ(buffers->output_copies().size(), 2);
  EXPECT_EQ(buffers->arena_size(), 0);
}

TEST(BufferAssignmentTest, ChainsReuseMemoryAndLimitsHold) {
  std::string text = "HloModule m\nENTRY e {\n  p0 = f32[64,64]{1,0} parameter(0)\n";
  for (int i = 1; i <= 20; ++i)
    absl::StrAppend(&text, "  ", i == 20 ? "ROOT " : "", "p", i, " = f32[64,64]{1,0} transpose(p",
                    i - 1, "), dimensions={1,0}\n");
  const auto module = Parse(text + "}");
  auto buffers = BufferAssignment::Make(*module);
  ASSERT_TRUE(buffers.ok()) << buffers.status();
  EXPECT_LE(buffers->arena_size(), 2 * 64 * 64 * 4);
  EXPECT_GE(buffers->arena_size(), buffers->live_peak());
  EXPECT_EQ(BufferAssignment::Make(*module, {.limit = 100}).status().code(),
            absl::StatusCode::kResourceExhausted);
}

// --- Donation.

BufferAssignment Donated(const Module& module) {
  auto buffers = BufferAssignment::Make(module, {.donate = true});
  EXPECT_TRUE(buffers.ok()) << buffers.status();
  return *std::move(buffers);
}

TEST(BufferAssignmentTest, DonatedArgumentsAreUpdatedInPlace) {
  const auto module = Parse(R"(HloModule m, input_output_alias={ {1}: (0, {}, may-alias) },
    buffer_donor={ (1, {}) }
ENTRY e {
  p = f32[64]{0} parameter(0)
  q = f32[64,2]{1,0} parameter(1)
  i = s32[] parameter(2)
  one = f32[1]{0} slice(p), slice={[3:4]}
  u = f32[64]{0} dynamic-update-slice(p, one, i)
  n = f32[64,2]{1,0} negate(q)
  ROOT t = (f32[64,2]{1,0}, f32[64]{0}) tuple(n, u)
})");
  const BufferAssignment buffers = Donated(*module);
  EXPECT_THAT(buffers.donations(), testing::UnorderedElementsAre(Donation{0, 1}, Donation{1, 0}));
  EXPECT_EQ(buffers.slice(Named(*module, "p")), buffers.slice(Named(*module, "u")));
  EXPECT_EQ(buffers.slice(Named(*module, "q")), buffers.slice(Named(*module, "n")));
  EXPECT_THAT(buffers.output_copies(), testing::IsEmpty());
  auto apart = BufferAssignment::Make(*module);
  ASSERT_TRUE(apart.ok());
  EXPECT_THAT(apart->donations(), testing::IsEmpty());
  EXPECT_EQ(apart->slice(Named(*module, "p")).kind, Slice::Kind::kParameter);
}

TEST(BufferAssignmentTest, LoopsUpdateDonatedStateInPlace) {
  auto module = Parse(absl::StrReplaceAll(
      Loop("  v = f32[1]{0} dynamic-slice(b, i), dynamic_slice_sizes={1}\n"
           "  u = f32[64]{0} dynamic-update-slice(a, v, i)\n",
           "n, u, b"),
      {{"HloModule m", "HloModule m, input_output_alias={ {1}: (0, {}, must-alias) }"},
       {"x = f32[64]{0} negate(p)", "x = f32[64]{0} copy(p)"},
       {"exponential(p)", "iota(), iota_dimension=0"}}));
  const BufferAssignment buffers = Donated(*module);
  EXPECT_THAT(buffers.donations(), testing::ElementsAre(Donation{0, 1}));
  EXPECT_EQ(buffers.slice(Named(*module, "p")), buffers.slice(Named(*module, "u")));
}

TEST(BufferAssignmentTest, ArgumentsThatAreStillReadAreNotWrittenOver) {
  // Both results would take what the other one is; a reversal reads other places than it writes.
  const auto swapped = Parse(R"(HloModule m,
    input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {}, may-alias), {2}: (2, {}, may-alias) }
ENTRY e {
  p = f32[64]{0} parameter(0)
  q = f32[64]{0} parameter(1)
  r = f32[64]{0} parameter(2)
  v = f32[64]{0} reverse(r), dimensions={0}
  ROOT t = (f32[64]{0}, f32[64]{0}, f32[64]{0}) tuple(q, p, v)
})");
  EXPECT_THAT(Donated(*swapped).donations(), testing::IsEmpty());
}

// --- Over all modules of testdata/differential.

void ExpectCopiesAtOnce(const std::vector<BufferCopy>& copies) {
  for (const BufferCopy& read : copies) {
    for (const BufferCopy& write : copies) {
      const bool staged = read.staging.kind != Slice::Kind::kNone;
      EXPECT_FALSE(Overlap(staged ? read.staging : read.from, write.to));
      if (&read == &write) continue;
      EXPECT_FALSE(Overlap(read.to, write.to));
      EXPECT_FALSE(Overlap(read.staging, write.staging));
    }
  }
}

// Values that live at one time lie apart, unless control flow hands one on as the other.
void ExpectApart(const Module& module, const BufferAssignment& buffers) {
  auto flow = ValueFlow::Make(module);
  ASSERT_TRUE(flow.ok());
  const auto slice = [&](const FlowValue& v) { return buffers.slice(v.def, v.leaf); };
  for (size_t x = 0; x < flow->values.size(); ++x) {
    const FlowValue& a = flow->values[x];
    for (size_t y = x + 1; y < flow->values.size(); ++y) {
      const FlowValue& b = flow->values[y];
      if (a.end <= b.begin || b.end <= a.begin) continue;
      EXPECT_FALSE(Overlap(slice(a), slice(b))) << a.def->name() << " and " << b.def->name();
    }
  }
}

TEST(BufferAssignmentTest, NothingAliveOverlaps) {
  int modules = 0;
  for (const auto& entry : std::filesystem::directory_iterator(
           std::filesystem::path(HLOKIT_SOURCE_DIR) / "testdata/differential")) {
    auto text = ReadFile(entry.path().string());
    ASSERT_TRUE(text.ok());
    for (absl::string_view piece : absl::StrSplit(*text, "// -----\n")) {
      const auto module = Parse(piece);
      ASSERT_NE(module, nullptr);
      SCOPED_TRACE(module->name());
      auto buffers = BufferAssignment::Make(*module);
      ASSERT_TRUE(buffers.ok()) << buffers.status();
      ++modules;
      EXPECT_GE(buffers->arena_size(), buffers->live_peak());
      for (const Computation* c : module->Computations()) {
        for (const Instruction* i : c->Instructions()) {
          ExpectCopiesAtOnce(buffers->loop_entry_copies(i));
          ExpectCopiesAtOnce(buffers->loop_back_copies(i));
          for (size_t b = 0; b < i->called().size(); ++b)
            ExpectCopiesAtOnce(buffers->branch_copies(i, b));
        }
      }
      if (module->name() == "calls") continue;  // computations that run twice await flattening
      ExpectApart(*module, *buffers);
      EXPECT_TRUE(CheckBuffers(*module, *buffers).ok()) << CheckBuffers(*module, *buffers);
    }
  }
  EXPECT_GE(modules, 30);
}

// The plan is of one module; the module then reads an array after its last reader.
TEST(BufferCheckTest, ReadersOfOverwrittenArraysAreNamed) {
  const auto module = Parse(R"(HloModule m
ENTRY e {
  p = f32[64]{0} parameter(0)
  a = f32[64]{0} sine(p)
  b = f32[64]{0} reverse(a), dimensions={0}
  c = f32[64]{0} reverse(b), dimensions={0}
  d = f32[64]{0} reverse(c), dimensions={0}
  ROOT r = f32[64]{0} add(d, d)
})");
  auto buffers = BufferAssignment::Make(*module);
  ASSERT_TRUE(buffers.ok()) << buffers.status();
  EXPECT_TRUE(CheckBuffers(*module, *buffers).ok());
  const_cast<Instruction*>(Named(*module, "r"))
      ->SetOperand(1, const_cast<Instruction*>(Named(*module, "a")));
  const absl::Status status = CheckBuffers(*module, *buffers);
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("%r reads %a where %"));
}

TEST(BufferCheckTest, CopiesThatAreMissingAreFound) {
  const auto sound = Parse(Loop("", "n, b, a"));
  auto buffers = BufferAssignment::Make(*sound);
  ASSERT_TRUE(buffers.ok()) << buffers.status();
  EXPECT_TRUE(CheckBuffers(*sound, *buffers).ok());
  // The plan swaps the state, the body no longer does.
  const auto changed = const_cast<Instruction*>(Named(*sound, "w"))->called(1);
  Instruction* root = changed->root();
  root->SetOperand(1, root->operand(1) == root->operand(2) ? root->operand(0) : root->operand(2));
  EXPECT_FALSE(CheckBuffers(*sound, *buffers).ok());
}

// --- In place, op by op.

struct InPlaceCase {
  const char* name;
  const char* line;  // defines r from p = f32[4,6]{1,0}, q = f32[4,6]{0,1}, u = f32[1,6], i = s32[]
  bool passes_through;
  bool shares;  // r may take operand 0's buffer
  bool wanted;
};

TEST(InPlaceTest, EachRule) {
  constexpr InPlaceCase kCases[] = {
      {"elementwise", "f32[4,6]{1,0} add(p, p)", false, true, false},
      {"other layout", "f32[4,6]{0,1} negate(p)", false, false, false},
      {"other width", "f64[4,6]{1,0} convert(p)", false, false, false},
      {"same width", "s32[4,6]{1,0} convert(p)", false, true, false},
      {"transpose", "f32[6,4]{1,0} transpose(p), dimensions={1,0}", false, false, false},
      {"transpose by layout", "f32[6,4]{0,1} transpose(p), dimensions={1,0}", true, false, false},
      {"reshape", "f32[24]{0} reshape(p)", true, false, false},
      {"reshape that moves", "f32[24]{0} reshape(q)", false, false, false},
      {"copy", "f32[4,6]{1,0} copy(p)", true, false, false},
      {"copy that moves", "f32[4,6]{0,1} copy(p)", false, false, false},
      {"bitcast", "f32[2,12]{1,0} bitcast(p)", true, false, false},
      {"update", "f32[4,6]{1,0} dynamic-update-slice(p, u, i, i)", false, true, true},
      {"reverse", "f32[4,6]{1,0} reverse(p), dimensions={0}", false, false, false},
  };
  for (const InPlaceCase& c : kCases) {
    SCOPED_TRACE(c.name);
    const auto module =
        Parse(absl::StrCat("HloModule m\nENTRY e {\n  p = f32[4,6]{1,0} parameter(0)\n"
                           "  q = f32[4,6]{0,1} parameter(1)\n  u = f32[1,6]{1,0} parameter(2)\n"
                           "  i = s32[] parameter(3)\n  ROOT r = ",
                           c.line, "\n}\n"));
    ASSERT_NE(module, nullptr);
    const Instruction& r = *module->entry()->root();
    EXPECT_EQ(IsPassThrough(r), c.passes_through);
    if (c.passes_through) continue;
    bool wanted = false;
    EXPECT_EQ(MayShareBuffer(r, 0, 0, 0, &wanted), c.shares);
    EXPECT_EQ(wanted, c.wanted);
  }
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
