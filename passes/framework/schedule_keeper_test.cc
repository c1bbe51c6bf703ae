// Schedules come back where they still fit.
#include "passes/framework/schedule_keeper.h"

#include "gtest/gtest.h"
#include "parser/parser.h"

namespace hlokit {
namespace {

constexpr char kText[] =
    "HloModule m, is_scheduled=true\n"
    "ENTRY e { p = f32[4]{0} parameter(0)\n a = f32[4]{0} abs(p)\n b = f32[4]{0} sine(p)\n"
    " dead = f32[4]{0} cosine(p)\n ROOT r = f32[4]{0} add(a, b) }\n";

// Whether the schedule comes back after a change.
bool ComesBack(void (*change)(Computation&)) {
  Diagnostics diagnostics;
  auto source = std::make_shared<const SourceFile>("test.hlo", kText);
  const std::unique_ptr<Module> module = ParseModule(source, {}, diagnostics).value();
  ScheduleKeeper keeper(*module);
  EXPECT_FALSE(module->entry()->has_schedule());
  EXPECT_FALSE(module->header().is_scheduled);
  change(*module->entry());
  keeper.Restore();
  EXPECT_EQ(module->entry()->has_schedule(), module->header().is_scheduled);
  return module->header().is_scheduled;
}

Instruction* Named(Computation& c, absl::string_view name) {
  for (Instruction* i : c.Instructions())
    if (i->name() == name) return i;
  return nullptr;
}

TEST(ScheduleKeeper, PutsBackWhatFits) {
  EXPECT_TRUE(ComesBack([](Computation&) {}));
  EXPECT_TRUE(ComesBack([](Computation& c) { Named(c, "b")->SetOperand(0, Named(c, "a")); }));
}

TEST(ScheduleKeeper, DropsWhatDoesNot) {
  EXPECT_FALSE(ComesBack([](Computation& c) { c.Remove(Named(c, "dead")); }));
  EXPECT_FALSE(ComesBack([](Computation& c) { Named(c, "a")->SetOperand(0, Named(c, "b")); }));
  EXPECT_FALSE(
      ComesBack([](Computation& c) { Named(c, "a")->AddControlPredecessor(Named(c, "b")); }));
  EXPECT_FALSE(
      ComesBack([](Computation& c) { c.Add(Opcode::kAbs, c.root()->shape(), {c.parameter(0)}); }));
  // As many as before, perhaps at the same address.
  EXPECT_FALSE(ComesBack([](Computation& c) {
    c.Remove(Named(c, "dead"));
    c.Add(Opcode::kCosine, c.root()->shape(), {c.parameter(0)});
  }));
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
