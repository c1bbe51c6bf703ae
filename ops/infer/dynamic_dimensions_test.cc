// Which dimensions get declared dynamic, by what the module does with sizes.
#include "ops/infer/dynamic_dimensions.h"

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "parser/parser.h"
#include "support/status.h"

namespace hlokit {
namespace {

constexpr char kHead[] = R"(HloModule m
add { a = s32[] parameter(0)  b = s32[] parameter(1)  ROOT r = s32[] add(a, b) }
negated { a = s32[4,2] parameter(0)  ROOT r = s32[4,2] negate(a) }
body { s = (s32[], s32[4,2]) parameter(0)  i = s32[] get-tuple-element(s), index=0
  x = s32[4,2] get-tuple-element(s), index=1  y = s32[4,2] negate(x)
  ROOT t = (s32[], s32[4,2]) tuple(i, y) }
condition { s = (s32[], s32[4,2]) parameter(0)  ROOT r = pred[] constant(false) }
ENTRY e {
  p = s32[4,2] parameter(0)
  n = s32[] parameter(1)
  zero = s32[] constant(0)
  four = s32[] constant(4)
  x = s32[4,2] set-dimension-size(p, n), dimensions={0}
)";

// The shape of `result` after the declaration; "unchanged" where there was nothing to declare.
std::string Declared(absl::string_view instructions) {
  const std::string text = absl::StrCat(kHead, instructions, "\n  ROOT end = s32[] negate(n)\n}");
  auto parsed = ParseModule(text);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  if (!parsed.ok()) return "";
  Module& module = **parsed;
  const bool hides = HidesDynamicDimensions(module);
  EXPECT_EQ(DeclareDynamicDimensions(module), hides);
  EXPECT_FALSE(HidesDynamicDimensions(module));
  if (!hides) return "unchanged";
  for (const Instruction* i : module.entry()->Instructions())
    if (i->name() == "result") return Text(i->shape().WithoutLayout());
  return "";
}

TEST(DynamicDimensionsTest, GoAlongWithSizes) {
  const std::pair<const char*, const char*> cases[] = {
      {"result = s32[4,2] negate(x)", "s32[<=4,2]"},
      {"result = s32[4,2] add(p, x)", "s32[<=4,2]"},
      {"result = s32[2,4] transpose(x), dimensions={1,0}", "s32[2,<=4]"},
      {"result = s32[3,4,2] broadcast(x), dimensions={1,2}", "s32[3,<=4,2]"},
      {"result = s32[2] reduce(x, zero), dimensions={0}, to_apply=add", "s32[2]"},
      {"result = s32[4] reduce(x, zero), dimensions={1}, to_apply=add", "s32[<=4]"},
      {"result = s32[8,2] concatenate(p, x), dimensions={0}", "s32[<=8,2]"},
      {"result = s32[4,4] dot(x, p), lhs_contracting_dims={1}, rhs_contracting_dims={1}",
       "s32[<=4,4]"},
      {"result = s32[8] reshape(x)", "s32[<=8]"},
      {"result = s32[4,1,2] reshape(x)", "s32[<=4,1,2]"},
      {"result = s32[1,4,2] reshape(x)", "s32[1,<=4,2]"},
      {"result = s32[2,2,2] reshape(x)", "s32[<=2,2,2]"},
      {"result = s32[4,2] call(x), to_apply=negated", "s32[<=4,2]"},
      {"result = s32[4,2] set-dimension-size(x, four), dimensions={0}", "s32[4,2]"},
      {"t = (s32[], s32[4,2]) tuple(n, x)\n"
       "w = (s32[], s32[4,2]) while(t), condition=condition, body=body\n"
       "result = s32[4,2] get-tuple-element(w), index=1",
       "s32[<=4,2]"},
  };
  for (const auto& [text, shape] : cases) EXPECT_EQ(Declared(text), shape) << text;
}

TEST(DynamicDimensionsTest, HonestModulesStay) {
  for (const char* text : {"ENTRY e { ROOT p = s32[4] parameter(0) }",
                           "ENTRY e { p = s32[4] parameter(0)  n = s32[] parameter(1)\n"
                           "  ROOT x = s32[<=4] set-dimension-size(p, n), dimensions={0} }",
                           "ENTRY e { p = s32[4] parameter(0)  n = s32[] constant(4)\n"
                           "  ROOT x = s32[4] set-dimension-size(p, n), dimensions={0} }"}) {
    auto parsed = ParseModule(absl::StrCat("HloModule m\n", text));
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_FALSE(HidesDynamicDimensions(**parsed)) << text;
    EXPECT_FALSE(DeclareDynamicDimensions(**parsed)) << text;
  }
}

// The entry's result stays as it was declared, and sizes of static dimensions are their bounds.
TEST(DynamicDimensionsTest, TheEntryKeepsItsResult) {
  auto parsed = ParseModule(R"(HloModule m
ENTRY e { p = s32[4] parameter(0)  n = s32[] parameter(1)
  x = s32[4] set-dimension-size(p, n), dimensions={0}
  g = s32[] get-dimension-size(x), dimensions={0}
  ROOT r = (s32[4], s32[]) tuple(x, g) })");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  Module& module = **parsed;
  const Shape before = module.entry()->root()->shape();
  EXPECT_TRUE(DeclareDynamicDimensions(module));
  const Instruction* root = module.entry()->root();
  EXPECT_EQ(root->shape(), before);
  EXPECT_EQ(root->operand(0)->opcode(), Opcode::kSetDimensionSize);
  EXPECT_TRUE(root->operand(0)->operand(0)->shape().IsDynamic(0));
  EXPECT_EQ(root->operand(1)->opcode(), Opcode::kConstant);
}

// The shapes of a and b once what has no size is forgotten.
std::string Forgotten(absl::string_view instructions) {
  const std::string text =
      absl::StrCat("HloModule m\nneg { p = s32[<=4] parameter(0)  ROOT r = s32[<=4] negate(p) }\n"
                   "ENTRY e { p = s32[4] parameter(0)  n = s32[] parameter(1)\n"
                   "x = s32[<=4] set-dimension-size(p, n), dimensions={0}\n",
                   instructions, "\nROOT r = (s32[], s32[<=4]) tuple(n, b) }");
  auto parsed = ParseModule(text);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  if (!parsed.ok()) return "";
  const bool declares = DeclaresUnsizedDimensions(**parsed);
  ForgetUnsizedDimensions(**parsed);
  EXPECT_FALSE(DeclaresUnsizedDimensions(**parsed));
  std::string shapes = declares ? "" : "unchanged ";
  for (const Instruction* i : (*parsed)->entry()->Instructions())
    if (i->name() == "a" || i->name() == "b")
      absl::StrAppend(&shapes, Text(i->shape().WithoutLayout()), " ");
  return shapes;
}

TEST(DynamicDimensionsTest, WithoutSizeAreForgotten) {
  EXPECT_EQ(Forgotten("a = s32[<=4] iota(), iota_dimension=0\nb = s32[<=4] add(x, a)"),
            "s32[4] s32[<=4] ");
  EXPECT_EQ(Forgotten("a = s32[<=4] broadcast(n), dimensions={}\nb = s32[<=4] negate(a)"),
            "s32[4] s32[4] ");
  EXPECT_EQ(Forgotten("a = s32[<=4] negate(x)\nb = s32[<=4] negate(a)"),
            "unchanged s32[<=4] s32[<=4] ");
  EXPECT_EQ(Forgotten("a = s32[<=4] iota(), iota_dimension=0\nb = s32[<=4] call(a), to_apply=neg"),
            "unchanged s32[<=4] s32[<=4] ");
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
