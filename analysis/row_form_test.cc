// What counts as a row computation.
#include "analysis/row_form.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "parser/parser.h"

namespace hlokit {
namespace {

std::unique_ptr<Module> Parse(absl::string_view body) {
  const std::string text = absl::StrCat(
      "HloModule m\n\nsum { a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
      "  ROOT r = f32[] add(a, b) }\n\nENTRY e {\n"
      "  x = f32[4,5,6]{2,1,0} parameter(0)\n  z = f32[] constant(0)\n",
      body, "}\n");
  Diagnostics diagnostics;
  auto module = ParseModule(std::make_shared<const SourceFile>("test.hlo", text), ParseOptions(),
                            diagnostics);
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? *std::move(module) : nullptr;
}

std::optional<RowForm> FormOf(const Module& module, int64_t max_nested = 0) {
  std::vector<const Instruction*> members;
  for (const Instruction* i : module.entry()->PostOrder())
    if (!i->IsParameter()) members.push_back(i);
  return FindRowForm(members, max_nested);
}

constexpr char kSum[] = "  s = f32[4,5]{1,0} reduce(x, z), dimensions={2}, to_apply=sum\n";

TEST(RowFormTest, ReductionThatReturnsToItsRow) {
  const auto module = Parse(absl::StrCat(kSum,
                                         "  t = f32[4,5,6]{2,1,0} broadcast(s), dimensions={0,1}\n"
                                         "  ROOT d = f32[4,5,6]{2,1,0} subtract(x, t)\n"));
  const auto form = FormOf(*module);
  ASSERT_TRUE(form.has_value());
  EXPECT_EQ(form->rows, 20);
  EXPECT_EQ(form->length, 6);
  EXPECT_EQ(form->passes, 2);
  EXPECT_EQ(form->within, DimVector({2}));
}

TEST(RowFormTest, ReductionOfWhatAnotherGaveTakesOnePassMore) {
  const auto module =
      Parse(absl::StrCat(kSum,
                         "  t = f32[4,5,6]{2,1,0} broadcast(s), dimensions={0,1}\n"
                         "  d = f32[4,5,6]{2,1,0} subtract(x, t)\n"
                         "  ROOT u = f32[4,5]{1,0} reduce(d, z), dimensions={2}, to_apply=sum\n"));
  const auto form = FormOf(*module);
  ASSERT_TRUE(form.has_value());
  EXPECT_EQ(form->passes, 3);
  ASSERT_EQ(form->reductions.size(), 2);
  EXPECT_EQ(form->reductions[1].pass, 1);
}

// A short reduction of other rows is read like memory, where it needs none of the form's.
TEST(RowFormTest, NestedReductions) {
  const auto module = Parse(
      absl::StrCat(kSum, "  ROOT u = f32[4]{0} reduce(s, z), dimensions={1}, to_apply=sum\n"));
  EXPECT_FALSE(FormOf(*module).has_value());
  EXPECT_FALSE(FormOf(*module, 4).has_value());
  const auto form = FormOf(*module, 8);
  ASSERT_TRUE(form.has_value());
  EXPECT_EQ(form->rows, 4);
  EXPECT_EQ(form->length, 5);
  EXPECT_EQ(form->reductions.size(), 1);
  const auto behind =
      Parse(absl::StrCat(kSum,
                         "  b = f32[4,5,6]{2,1,0} broadcast(s), dimensions={0,1}\n"
                         "  d = f32[4,5,6]{2,1,0} subtract(x, b)\n"
                         "  u = f32[4,5]{1,0} reduce(d, z), dimensions={2}, to_apply=sum\n"
                         "  ROOT v = f32[5]{0} reduce(u, z), dimensions={0}, to_apply=sum\n"));
  EXPECT_FALSE(FormOf(*behind, 8).has_value() && FormOf(*behind, 8)->reductions.size() > 1);
}

TEST(RowFormTest, RowsMustNotMix) {
  const char* kBodies[] = {
      // a broadcast to another row
      "  t = f32[5,4,6]{2,1,0} broadcast(s), dimensions={1,0}\n"
      "  ROOT d = f32[5,4,6]{2,1,0} negate(t)\n",
      // a reshape of full size
      "  t = f32[4,5,6]{2,1,0} broadcast(s), dimensions={0,1}\n"
      "  ROOT d = f32[6,20]{1,0} reshape(t)\n",
      // a reduction of other dimensions
      "  t = f32[4,5,6]{2,1,0} broadcast(s), dimensions={0,1}\n"
      "  ROOT d = f32[4]{0} reduce(t, z), dimensions={1,2}, to_apply=sum\n",
  };
  for (const char* body : kBodies)
    EXPECT_FALSE(FormOf(*Parse(absl::StrCat(kSum, body))).has_value()) << body;
}

TEST(RowFormTest, RowsMayBeColumns) {
  const auto form =
      FormOf(*Parse("  ROOT s = f32[4,6]{1,0} reduce(x, z), dimensions={1},"
                    " to_apply=sum\n"));
  ASSERT_TRUE(form.has_value());
  EXPECT_TRUE(form->IsColumns());
  EXPECT_FALSE(form->IsContiguous());
  EXPECT_EQ(form->rows, 24);
  EXPECT_EQ(form->length, 5);
}

TEST(RowFormTest, RowsMayLieInPieces) {
  const auto form =
      FormOf(*Parse("  ROOT s = f32[5]{0} reduce(x, z), dimensions={0,2},"
                    " to_apply=sum\n"));
  ASSERT_TRUE(form.has_value());
  EXPECT_FALSE(form->IsColumns());
  EXPECT_FALSE(form->IsContiguous());
  EXPECT_EQ(form->within, DimVector({0, 2}));
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
