// Fusions that a target refuses become their instructions; others stay.
#include "passes/legalization/legalize.h"

#include "gtest/gtest.h"
#include "parser/parser.h"

namespace hlokit {
namespace {

constexpr char kTwoFusions[] = R"(HloModule m
sum {
  x = f32[4] parameter(0)
  ROOT s = f32[4] add(x, x)
}
product {
  x = f32[4] parameter(0)
  ROOT s = f32[4] multiply(x, x)
}
ENTRY e {
  p = f32[4] parameter(0)
  a = f32[4] fusion(p), kind=kLoop, calls=sum
  ROOT b = f32[4] fusion(a), kind=kLoop, calls=product
})";

// The opcodes of the entry computation after legalization.
std::vector<Opcode> Legalized(Legalize::CanEmit can_emit, bool changes) {
  Diagnostics diagnostics;
  auto module = ParseModule(std::make_shared<const SourceFile>("test.hlo", kTwoFusions),
                            ParseOptions(), diagnostics);
  EXPECT_TRUE(module.ok()) << module.status();
  const absl::StatusOr<bool> changed = Legalize(can_emit).Run(**module);
  EXPECT_TRUE(changed.ok()) << changed.status();
  EXPECT_EQ(*changed, changes);
  std::vector<Opcode> opcodes;
  for (const Instruction* i : (*module)->entry()->PostOrder()) opcodes.push_back(i->opcode());
  return opcodes;
}

TEST(LegalizeTest, TheTargetSaysWhichFusionsStay) {
  using O = Opcode;
  EXPECT_EQ(Legalized([](const Instruction&) { return true; }, false),
            (std::vector<O>{O::kParameter, O::kFusion, O::kFusion}));
  EXPECT_EQ(Legalized([](const Instruction&) { return false; }, true),
            (std::vector<O>{O::kParameter, O::kAdd, O::kMultiply}));
  EXPECT_EQ(Legalized(
                [](const Instruction& fusion) {
                  return fusion.to_apply()->root()->opcode() == Opcode::kAdd;
                },
                true),
            (std::vector<O>{O::kParameter, O::kFusion, O::kMultiply}));
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
