// Structure that text cannot spell: cycles, foreign operands, broken schedules, in modules made by
// hand.
#include <ctime>
#include <functional>

#include "gtest/gtest.h"
#include "verifier/verifier.h"

namespace hlokit {
namespace {

const Shape kF32 = Shape::ArrayWithLayout(ElementType::kF32, {4}, {0});

std::string FirstLabel(const Module& module) {
  Diagnostics out;
  const absl::Status status = Verify(module, out);
  return LabelOf(status);
}

// p -> negate -> abs (root), and an identity computation beside it.
struct Fixture {
  Module module{"m"};
  Computation* other = module.AddComputation("other");
  Computation* entry = module.AddComputation("entry");
  Instruction* p = entry->AddParameter(0, kF32, "p");
  Instruction* negate = entry->Add(Opcode::kNegate, kF32, {p});
  Instruction* abs = entry->Add(Opcode::kAbs, kF32, {negate});
  Instruction* foreign = other->AddParameter(0, kF32, "q");
  Fixture() {
    module.set_entry(entry);
    entry->set_root(abs);
    other->set_root(foreign);
  }
};

struct Case {
  const char* name;
  std::function<void(Fixture&)> edit;
  const char* label;  // of the first error; empty where there is none
};

TEST(StructureTest, BrokenModulesAreRefused) {
  const Case cases[] = {
      {"sound", [](Fixture&) {}, ""},
      {"no entry", [](Fixture& f) { f.module.set_entry(nullptr); }, "module-c1"},
      {"no root", [](Fixture& f) { f.entry->set_root(nullptr); }, "computation-c5"},
      {"foreign root", [](Fixture& f) { f.entry->set_root(f.foreign); }, "computation-c5"},
      {"missing operand", [](Fixture& f) { f.abs->SetOperand(0, nullptr); }, "computation-c1"},
      {"foreign operand", [](Fixture& f) { f.abs->SetOperand(0, f.foreign); }, "computation-c2"},
      {"cycle", [](Fixture& f) { f.negate->SetOperand(0, f.abs); }, "computation-c7"},
      {"cycle before an instruction outside of it",
       [](Fixture& f) {
         f.negate->SetOperand(0, f.abs);
         f.entry->Add(Opcode::kNegate, kF32, {f.p});
       },
       "computation-c7"},
      {"control cycle", [](Fixture& f) { f.negate->AddControlPredecessor(f.abs); },
       "computation-c7"},
      {"foreign control edge", [](Fixture& f) { f.abs->AddControlPredecessor(f.foreign); },
       "computation-c4"},
      {"parameter gap", [](Fixture& f) { f.p->mutable_attr<ParameterAttrs>().number = 70; },
       "computation-c6"},
      {"parameter twice", [](Fixture& f) { f.entry->AddParameter(0, kF32); }, "computation-c6"},
      {"negative parameter", [](Fixture& f) { f.p->mutable_attr<ParameterAttrs>().number = -1; },
       "computation-c6"},
      {"missing callee",
       [](Fixture& f) {
         Instruction* call = f.entry->Add(Opcode::kCall, kF32, {f.p});
         call->set_called({nullptr});
       },
       "module-c2"},
      {"no callee", [](Fixture& f) { f.entry->Add(Opcode::kCall, kF32, {f.p}); }, "module-c6"},
      {"recursion",
       [](Fixture& f) {
         Instruction* call = f.other->Add(Opcode::kCall, kF32, {f.foreign});
         call->set_called({f.other});
       },
       "module-c3"},
      {"update of no chain", [](Fixture& f) { f.entry->Add(Opcode::kAsyncUpdate, kF32, {f.p}); },
       "async-update-c1"},
      {"done of no chain", [](Fixture& f) { f.entry->Add(Opcode::kAsyncDone, kF32, {f.p}); },
       "async-done-c1"},
      {"done of a chain that no start began",
       [](Fixture& f) {
         const Shape context = Shape::ArrayWithLayout(ElementType::kU32, {}, {});
         Instruction* chain =
             f.entry->AddParameter(1, Shape::Tuple({Shape::Tuple({kF32}), kF32, context}), "chain");
         f.entry->Add(Opcode::kAsyncDone, kF32, {chain});
       },
       "async-c2"},
      {"map of no dimensions",
       [](Fixture& f) { f.entry->Add(Opcode::kMap, kF32, {f.p})->set_called({f.other}); },
       "map-c3"},
      {"entry layout",
       [](Fixture& f) {
         const Shape broken = Shape::ArrayWithLayout(ElementType::kF32, {4}, {1});
         f.module.header().entry_layout = EntryLayout{{broken}, kF32};
       },
       "entry-c2"},
      {"entry layout in a tuple",
       [](Fixture& f) {
         const Shape broken = Shape::ArrayWithLayout(ElementType::kF32, {4}, {1});
         f.entry->AddParameter(1, Shape::Tuple({kF32}));
         f.module.header().entry_layout = EntryLayout{{kF32, Shape::Tuple({broken})}, kF32};
       },
       "entry-c2"},
      {"entry layout of the result",
       [](Fixture& f) {
         const Shape broken = Shape::ArrayWithLayout(ElementType::kF32, {4}, {1});
         f.module.header().entry_layout = EntryLayout{{kF32}, broken};
       },
       "entry-c2"},
      {"wrong shape", [](Fixture& f) { f.abs->set_shape(Shape::Array(ElementType::kF32, {5})); },
       "abs-c99"},
      {"too many operands", [](Fixture& f) { f.abs->AppendOperand(f.p); }, "abs-c0"},
      {"layout", [](Fixture& f) { f.p->mutable_shape().layout.minor_to_major = {1}; }, "shape-c3"},
      {"unbounded",
       [](Fixture& f) { f.p->set_shape(Shape::Array(ElementType::kF32, {kUnbounded})); },
       "shape-c1"},
      {"good schedule",
       [](Fixture& f) {
         f.entry->set_schedule({f.p, f.negate, f.abs});
       },
       ""},
      {"short schedule",
       [](Fixture& f) {
         f.entry->set_schedule({f.p, f.negate});
       },
       "schedule-c1"},
      {"double schedule",
       [](Fixture& f) {
         f.entry->set_schedule({f.p, f.negate, f.negate});
       },
       "schedule-c1"},
      {"late operand",
       [](Fixture& f) {
         f.entry->set_schedule({f.negate, f.p, f.abs});
       },
       "schedule-c2"},
  };
  for (const Case& c : cases) {
    Fixture fixture;
    c.edit(fixture);
    EXPECT_EQ(FirstLabel(fixture.module), c.label) << c.name;
  }
}

TEST(StructureTest, AllErrorsAreCollectedAndNamed) {
  Fixture f;
  f.abs->set_shape(Shape::Array(ElementType::kF32, {5}));
  f.negate->set_shape(Shape::Array(ElementType::kF32, {6}));
  Diagnostics out;
  EXPECT_FALSE(Verify(f.module, out).ok());
  ASSERT_EQ(out.error_count(), 2);
  EXPECT_EQ(out.items()[0].message, "negate: expects f32[4] as result, found f32[6] (%negate)");
}

TEST(StructureTest, UnboundedDimensionsMayBeAllowed) {
  Fixture f;
  for (Instruction* i : {f.p, f.negate, f.abs})
    i->set_shape(Shape::Array(ElementType::kF32, {kUnbounded}));
  Diagnostics out;
  VerifyOptions options;
  options.allow_unbounded = true;
  EXPECT_TRUE(Verify(f.module, out, options).ok()) << out.ToStatus();
}

// A chain, a wide fan-out and a wide fan-in of 100,000 instructions each, none of which may recurse
// or take quadratic time.
TEST(StructureTest, LargeModulesAreQuick) {
  constexpr int kSize = 100000;
  Fixture f;
  Instruction* last = f.abs;
  std::vector<Instruction*> all;
  for (int i = 0; i < kSize; ++i) {
    last = f.entry->Add(Opcode::kAdd, kF32, {last, f.p});
    all.push_back(last);
  }
  f.entry->set_root(
      f.entry->Add(Opcode::kTuple, Shape::Tuple(std::vector<Shape>(kSize, kF32)), all));
  const std::clock_t start = std::clock();
  EXPECT_EQ(FirstLabel(f.module), "");
  EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 2.0);
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
