// What is the same module, and what is not; a module against what is remembered of it.
#include "passes/framework/module_state.h"

#include "gtest/gtest.h"
#include "parser/parser.h"
#include "types/number_literal.h"

namespace hlokit {
namespace {

constexpr char kText[] =
    "HloModule m, is_scheduled=true, entry_computation_layout={(f32[12]{0})->f32[12]{0}}\n"
    "f { ROOT q = f32[12]{0} parameter(0) }\n"
    "ENTRY e { p = f32[12]{0} parameter(0)\n"
    " c = f32[12]{0} constant({1,2,3,4,5,6,7,8,9,10,11,12})\n a = f32[12]{0} add(p, c)\n"
    " b = f32[12]{0} call(a), to_apply=f, sharding={replicated}\n"
    " ROOT r = f32[12]{0} exponential(b), metadata={op_name=\"x\"} }\n";

std::unique_ptr<Module> Read() { return ParseModule(kText).value(); }

struct Seen {
  bool same, differs;
  bool operator==(const Seen&) const = default;
};

Seen See(void (*change)(Module&)) {
  const std::unique_ptr<Module> module = Read();
  ModuleState state(*module);
  const std::unique_ptr<Module> copy = module->Clone();
  change(*module);
  std::optional<Fingerprint> now;
  return {IsSameModule(*module, *copy), state.Differs(*module, false, now)};
}

Instruction* Root(Module& m) { return m.entry()->root(); }
Instruction* CallOf(Module& m) { return Root(m)->operand(0); }
Instruction* SumOf(Module& m) { return CallOf(m)->operand(0); }

TEST(ModuleState, SeesWhatChanges) {
  const Seen changed{false, true};
  EXPECT_EQ(See([](Module& m) { Root(m)->set_name("other"); }), changed);
  EXPECT_EQ(See([](Module& m) { m.set_name("other"); }), changed);
  EXPECT_EQ(See([](Module& m) { SumOf(m)->SetOperand(1, SumOf(m)->operand(0)); }), changed);
  EXPECT_EQ(See([](Module& m) { m.entry()->set_root(SumOf(m)); }), changed);
  EXPECT_EQ(See([](Module& m) { Root(m)->mutable_shape().layout.minor_to_major.clear(); }),
            changed);
  EXPECT_EQ(See([](Module& m) { Root(m)->mutable_metadata().op_name = "y"; }), changed);
  EXPECT_EQ(
      See([](Module& m) { CallOf(m)->mutable_extras().sharding->kind = Sharding::Kind::kManual; }),
      changed);
  EXPECT_EQ(See([](Module& m) { Root(m)->mutable_extras().backend_config = "z"; }), changed);
  EXPECT_EQ(See([](Module& m) { Root(m)->AddControlPredecessor(SumOf(m)); }), changed);
  EXPECT_EQ(See([](Module& m) {
              SumOf(m)->operand(1)->mutable_attr<ConstantAttrs>().literal =
                  std::make_shared<Literal>(SumOf(m)->operand(1)->shape());
            }),
            changed);
  EXPECT_EQ(See([](Module& m) { m.header().alias_passthrough_params = true; }), changed);
  EXPECT_EQ(See([](Module& m) { m.entry()->AddConstant(NumberLiteral(ElementType::kF32, 1)); }),
            changed);
  EXPECT_EQ(See([](Module& m) { CallOf(m)->to_apply()->set_execution_thread("host"); }), changed);
  EXPECT_EQ(See([](Module& m) {
              std::vector<Instruction*> order(m.entry()->schedule().begin(),
                                              m.entry()->schedule().end());
              std::swap(order[0], order[1]);
              m.entry()->set_schedule(std::move(order));
            }),
            changed);
}

TEST(ModuleState, SeesThatNothingChanges) {
  EXPECT_EQ(See([](Module&) {}), (Seen{true, false}));
  EXPECT_EQ(See([](Module& m) { Root(m)->set_shape(SumOf(m)->shape()); }), (Seen{true, false}));
  // Another instruction of the same text.
  EXPECT_EQ(See([](Module& m) {
              Instruction* old = Root(m);
              auto fresh = old->CloneWith(old->shared_shape(), old->operands());
              fresh->set_name("r");
              std::vector<Instruction*> order(m.entry()->schedule().begin(),
                                              m.entry()->schedule().end());
              m.entry()->clear_schedule();
              Instruction* added = m.entry()->Adopt(std::move(fresh));
              m.entry()->set_root(added);
              m.entry()->Remove(old);
              order.back() = added;
              m.entry()->set_schedule(std::move(order));
            }),
            (Seen{true, false}));
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
