// Pairs of instructions across modules.
#include "analysis/module_match.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parser/parser.h"

namespace hlokit {
namespace {

std::unique_ptr<Module> Read(const char* text) {
  auto module = ParseModule(text);
  CHECK_OK(module.status());
  return *std::move(module);
}

const Instruction* Find(const Module& module, absl::string_view name) {
  for (const Computation* c : module.Computations())
    for (const Instruction* i : c->Instructions())
      if (i->name() == name) return i;
  return nullptr;
}

constexpr char kLoop[] = R"(HloModule m
body { s = (s32[], f32[4]) parameter(0) i = s32[] get-tuple-element(s), index=0 one = s32[] constant(1)
  next = s32[] add(i, one) x = f32[4] get-tuple-element(s), index=1 twice = f32[4] add(x, x)
  ROOT t = (s32[], f32[4]) tuple(next, twice) }
cond { c = (s32[], f32[4]) parameter(0) j = s32[] get-tuple-element(c), index=0 n = s32[] constant(9)
  ROOT less = pred[] compare(j, n), direction=LT }
ENTRY e { zero = s32[] constant(0) p = f32[4] parameter(0) init = (s32[], f32[4]) tuple(zero, p)
  ROOT w = (s32[], f32[4]) while(init), condition=cond, body=body })";

TEST(ModuleMatch, IsBlindToNames) {
  const auto a = Read(kLoop);
  const auto b = a->Clone();
  for (Computation* c : b->Computations())
    for (Instruction* i : c->Instructions()) i->set_name(absl::StrCat("other.", i->id()));
  const ModuleMatch match(*a, *b);
  EXPECT_TRUE(Difference(*a, *b, match).empty());
  EXPECT_EQ(match.AfterOf(Find(*a, "twice"))->opcode(), Opcode::kAdd);
}

TEST(ModuleMatch, FindsWhatChangedInsideALoop) {
  const auto a = Read(kLoop);
  const auto b = Read(kLoop);
  auto* twice = const_cast<Instruction*>(Find(*b, "twice"));
  Instruction* square = twice->parent()->Add(Opcode::kMultiply, twice->shape(), twice->operands());
  twice->ReplaceAllUsesWith(square);
  twice->parent()->Remove(twice);
  const ModuleMatch match(*a, *b);
  const ModuleDifference difference = Difference(*a, *b, match);
  EXPECT_THAT(difference.removed, testing::ElementsAre(Find(*a, "twice")));
  EXPECT_THAT(difference.added, testing::ElementsAre(square));
  ASSERT_EQ(difference.changed.size(), 1u);
  EXPECT_EQ(difference.changed[0]->name(), "t");
  EXPECT_EQ(AspectsText(match.Aspects(difference.changed[0]) & ~kMetadataAspect), "operands");
}

TEST(ModuleMatch, TellsTwinsApartByTheirUsers) {
  const auto a = Read(
      "ENTRY e { p = f32[] parameter(0) x = f32[] negate(p) y = f32[] negate(p)"
      " sx = f32[] sine(x) cy = f32[] cosine(y) ROOT r = f32[] add(sx, cy) }");
  const auto b = Read(
      "ENTRY e { p = f32[] parameter(0) y = f32[] negate(p) x = f32[] negate(p)"
      " sx = f32[] sine(y) cy = f32[] cosine(x) ROOT r = f32[] add(sx, cy) }");
  const ModuleMatch match(*a, *b);
  EXPECT_EQ(match.AfterOf(Find(*a, "x")), Find(*b, "y"));
  EXPECT_TRUE(Difference(*a, *b, match).empty());
}

TEST(ModuleMatch, ComparesTheHeader) {
  const auto a = Read("HloModule m, replica_count=2\nENTRY e { ROOT p = f32[] parameter(0) }");
  const auto b = Read("HloModule m\nENTRY e { ROOT p = f32[] parameter(0) }");
  EXPECT_THAT(Difference(*a, *b, ModuleMatch(*a, *b)).header,
              testing::ElementsAre("replica_count differs"));
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
