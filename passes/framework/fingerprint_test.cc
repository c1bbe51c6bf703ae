// Changes that a fingerprint sees, and what is none.
#include "passes/framework/fingerprint.h"

#include "gtest/gtest.h"
#include "parser/parser.h"
#include "types/number_literal.h"

namespace hlokit {
namespace {

constexpr char kText[] =
    "HloModule m, is_scheduled=true, entry_computation_layout={(f32[12]{0})->f32[12]{0}}\n"
    "ENTRY e { p = f32[12]{0} parameter(0)\n"
    " c = f32[12]{0} constant({1,2,3,4,5,6,7,8,9,10,11,12})\n a = f32[12]{0} add(p, c)\n"
    " ROOT r = f32[12]{0} exponential(a), result_accuracy={tolerance={atol=0.1,rtol=0,ulps=2}} }\n";

std::unique_ptr<Module> Read() { return ParseModule(kText).value(); }

bool Sees(void (*change)(Module&)) {
  const std::unique_ptr<Module> module = Read();
  const Fingerprint before(*module);
  change(*module);
  return !before.SameText(Fingerprint(*module));
}

Instruction* Root(Module& module) { return module.entry()->root(); }
Instruction* ConstantOf(Module& module) { return Root(module)->operand(0)->operand(1); }
void SetLiteral(Module& module, double last) {
  auto literal = std::make_shared<Literal>(*ConstantOf(module)->literal());
  literal->SetDouble(11, last);
  ConstantOf(module)->mutable_attr<ConstantAttrs>().literal = std::move(literal);
}

TEST(Fingerprint, SeesWhatChanges) {
  EXPECT_TRUE(Sees([](Module& m) { Root(m)->set_name("other"); }));
  EXPECT_TRUE(Sees([](Module& m) { Root(m)->SetOperand(0, ConstantOf(m)); }));
  EXPECT_TRUE(Sees([](Module& m) { Root(m)->mutable_shape().layout.minor_to_major.clear(); }));
  EXPECT_TRUE(Sees([](Module& m) { Root(m)->mutable_metadata().op_name = "x"; }));
  EXPECT_TRUE(Sees([](Module& m) { Root(m)->AddControlPredecessor(ConstantOf(m)); }));
  EXPECT_TRUE(Sees([](Module& m) {
    m.entry()->clear_schedule();
    m.header().is_scheduled = false;
  }));
  EXPECT_TRUE(Sees([](Module& m) { m.header().aliases.push_back({{}, 0, {}, false}); }));
  EXPECT_TRUE(Sees([](Module& m) { m.header().entry_layout->result.has_layout = false; }));
  EXPECT_TRUE(Sees([](Module& m) {
    m.AddComputation("more")->set_root(
        m.Computations().back()->AddConstant(NumberLiteral(ElementType::kF32, 1)));
  }));
  EXPECT_TRUE(Sees([](Module& m) {  // in a digit that the text does not have
    Root(m)->mutable_attr<AccuracyAttrs>().result_accuracy.atol = 0.1000000001;
  }));
  EXPECT_TRUE(Sees([](Module& m) { SetLiteral(m, 13); }));  // which a short text leaves out
}

// A pass that lets literals share their memory changes no text.
TEST(Fingerprint, SeesWhatIsKeptInMemory) {
  const std::unique_ptr<Module> module = Read();
  const auto again = std::make_shared<Literal>(*ConstantOf(*module)->literal());
  Instruction* other = module->entry()->Add(Opcode::kConstant, ConstantOf(*module)->shape(), {});
  other->mutable_attr<ConstantAttrs>().literal = again;
  const Fingerprint before(*module);
  other->mutable_attr<ConstantAttrs>().literal = ConstantOf(*module)->attr<ConstantAttrs>().literal;
  EXPECT_TRUE(before.SameText(Fingerprint(*module)));
  EXPECT_FALSE(before == Fingerprint(*module));
}

TEST(Fingerprint, SeesNoChangeInACopy) {
  const std::unique_ptr<Module> module = Read();
  EXPECT_TRUE(Fingerprint(*module).SameText(Fingerprint(*module->Clone())));
  EXPECT_TRUE(Fingerprint(*module) == Fingerprint(*module));
  EXPECT_FALSE(Sees([](Module& m) { SetLiteral(m, 12); }));  // an equal one
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
