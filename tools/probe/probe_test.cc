// Planted faults are found: where, in which round, and with a program that shows them.
#include <gtest/gtest.h>

#include "backends/reference/reference_backend.h"
#include "parser/parser.h"
#include "printer/whole_text.h"
#include "support/diagnostics.h"
#include "tools/probe/find.h"
#include "tools/probe/trace.h"
#include "types/literal_text.h"
#include "types/random_literal.h"
#include "verifier/verifier.h"

namespace hlokit {
namespace {

// The interpreter, but every instruction that `breaks` names is compiled as something else.
class FaultyBackend final : public Backend {
 public:
  using Break = std::function<void(Computation&, Instruction*)>;
  explicit FaultyBackend(Break change)
      : change_(std::move(change)), right_(MakeReferenceBackend()) {}
  absl::string_view name() const override { return "faulty"; }
  const Capabilities& capabilities() const override { return right_->capabilities(); }
  Device& device(int64_t number) override { return right_->device(number); }
  absl::StatusOr<std::unique_ptr<Executable>> Compile(std::unique_ptr<Module> module,
                                                      const CompileOptions& options) override {
    for (Computation* c : module->Computations())
      for (Instruction* i : c->Instructions()) change_(*c, i);
    return right_->Compile(std::move(module), options);
  }

 private:
  Break change_;
  std::unique_ptr<Backend> right_;
};

void Replace(Computation& c, Instruction* i, Opcode opcode) {
  i->ReplaceAllUsesWith(c.Add(opcode, i->shape(), i->operands(), "planted"));
}

// A subtraction for each addition of f32[4].
void SubtractForAdd(Computation& c, Instruction* i) {
  if (i->opcode() == Opcode::kAdd && Text(i->shape()) == "f32[4]") Replace(c, i, Opcode::kSubtract);
}

// A square root of -x for each negation of something that is square: wrong only as a pair.
void BreakPairs(Computation& c, Instruction* i) {
  if (i->opcode() == Opcode::kNegate && i->operand(0)->opcode() == Opcode::kCosine)
    Replace(c, i, Opcode::kAbs);
}

std::unique_ptr<Module> Parsed(const std::string& text) {
  Diagnostics diagnostics;
  auto file = std::make_shared<const SourceFile>("m.hlo", text);
  auto module = ParseModule(file, ParseOptions(), diagnostics);
  EXPECT_TRUE(module.ok() && Verify(**module, diagnostics).ok()) << diagnostics.Render(*file);
  return *std::move(module);
}

std::vector<Literal> ArgumentsFor(const Module& module) {
  std::vector<Literal> arguments;
  for (const Instruction* p : module.entry()->parameters()) {
    arguments.emplace_back(p->shape());
    FillRandom(arguments.back(), p->parameter_number(), RandomRanges());
  }
  return arguments;
}

class ProbeTest : public testing::Test {
 protected:
  std::optional<Fault> Find(const std::string& text, FaultyBackend::Break change,
                            FaultKind kind = {}) {
    module_ = Parsed(text);
    faulty_ = Client::Create(std::make_unique<FaultyBackend>(std::move(change)));
    arguments_ = ArgumentsFor(*module_);
    const Side test{faulty_.get(), {}, "faulty"};
    auto fault = FindFirstFault(*module_, PointersTo(arguments_), right_, test, kind);
    EXPECT_TRUE(fault.ok()) << fault.status();
    if (!fault.ok() || !fault->has_value()) return std::nullopt;
    CheckShows(**fault, test);
    return std::move(*fault);
  }

  // The program written out reads back, takes its inputs and still differs.
  void CheckShows(const Fault& fault, const Side& test) {
    const std::string text = WholeText(*fault.module);
    for (const Side* side : {&right_, &test}) {
      auto program = CompiledModule::Make(*side, Parsed(text));
      ASSERT_TRUE(program.ok()) << program.status();
      auto result = program->Run(PointersTo(fault.inputs));
      ASSERT_TRUE(result.ok()) << result.status();
      results_.push_back(*std::move(result));
    }
  }

  std::unique_ptr<Client> interpreter_ = Client::Create(MakeReferenceBackend());
  const Side right_{interpreter_.get(), {}, "interpreter"};
  std::unique_ptr<Module> module_;
  std::unique_ptr<Client> faulty_;
  std::vector<Literal> arguments_;
  std::vector<Literal> results_;
};

void ExpectFault(const std::optional<Fault>& fault, const char* name, int height,
                 const char* path = "") {
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->instruction->name(), name);
  EXPECT_EQ(fault->height, height);
  EXPECT_EQ(Text(fault->path), path);
}

TEST_F(ProbeTest, NamesAnInstructionOfTheEntry) {
  const auto fault = Find(R"(
ENTRY e {
  p = f32[4] parameter(0)
  q = f32[4] parameter(1)
  m = f32[4] multiply(p, q)
  wrong = f32[4] add(m, q)
  s = f32[4] sine(wrong)
  ROOT t = (f32[4], f32[4]) tuple(s, m)
})",
                          SubtractForAdd);
  ASSERT_NO_FATAL_FAILURE(ExpectFault(fault, "wrong", 0));
  EXPECT_EQ(fault->inputs.size(), 2u);
  EXPECT_FALSE(fault->difference.equal);
  EXPECT_FALSE(results_[0] == results_[1]);
}

constexpr char kLoop[] = R"(
cond {
  s = (s32[], f32[4], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  five = s32[] constant(5)
  ROOT less = pred[] compare(i, five), direction=LT
}
keep {
  ROOT x = f32[4] parameter(0)
}
change {
  y = f32[4] parameter(0)
  ROOT wrong = f32[4] add(y, y)
}
body {
  s.1 = (s32[], f32[4], f32[4]) parameter(0)
  i.1 = s32[] get-tuple-element(s.1), index=0
  one = s32[] constant(1)
  next = s32[] add(i.1, one)
  v = f32[4] get-tuple-element(s.1), index=1
  w = f32[4] get-tuple-element(s.1), index=2
  two = s32[] constant(2)
  late = pred[] compare(i.1, two), direction=GT
  c = f32[4] conditional(late, v, v), true_computation=change, false_computation=keep
  h = f32[4] multiply(c, w)
  ROOT t = (s32[], f32[4], f32[4]) tuple(next, h, w)
}
ENTRY e {
  p = f32[4] parameter(0)
  q = f32[4] parameter(1)
  zero = s32[] constant(0)
  init = (s32[], f32[4], f32[4]) tuple(zero, p, q)
  loop = (s32[], f32[4], f32[4]) while(init), condition=cond, body=body
  ROOT r = f32[4] get-tuple-element(loop), index=1
})";

TEST_F(ProbeTest, NamesTheRoundOfALoopAndTheBranch) {
  FaultKind kind;
  kind.compare.rel_error = 1e-6;
  const auto fault = Find(kLoop, SubtractForAdd, kind);
  ExpectFault(fault, "wrong", 0, "loop[3]/c/");
}

TEST_F(ProbeTest, FindsWhatIsWrongOnlyTogether) {
  const auto fault = Find(R"(
ENTRY e {
  p = f32[4] parameter(0)
  c = f32[4] cosine(p)
  n = f32[4] negate(c)
  ROOT r = f32[4] exponential(n)
})",
                          BreakPairs);
  ExpectFault(fault, "n", 1);
}

// Making `n` a result would hide this fault, so halves find it.
TEST_F(ProbeTest, FindsWhatVanishesWhenLookedAt) {
  const auto only_users = [](Computation& c, Instruction* i) {
    if (i->opcode() == Opcode::kNegate && i->users().size() == 1 &&
        i->users()[0]->opcode() == Opcode::kExponential)
      Replace(c, i, Opcode::kAbs);
  };
  const auto fault = Find(R"(
ENTRY e {
  p = f32[4] parameter(0)
  n = f32[4] negate(p)
  x = f32[4] exponential(n)
  ROOT r = f32[4] sine(x)
})",
                          only_users);
  ExpectFault(fault, "x", 1);
}

TEST_F(ProbeTest, FindsNothingWhereAllIsRight) {
  EXPECT_FALSE(Find(kLoop, [](Computation&, Instruction*) {}).has_value());
}

constexpr char kNan[] = R"(
ENTRY e {
  p = f32[4] parameter(0)
  zero = f32[] constant(0)
  z = f32[4] broadcast(zero), dimensions={}
  less = f32[4] multiply(p, z)
  bad = f32[4] divide(less, z)
  ROOT r = f32[4] add(bad, p)
})";

TEST_F(ProbeTest, NamesTheFirstNan) {
  FaultKind kind;
  kind.kind = FaultKind::kNan;
  const auto fault = Find(
      kNan, [](Computation&, Instruction*) {}, kind);
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->instruction->name(), "bad");
  EXPECT_EQ(fault->value, "-nan at [0]");
}

TEST_F(ProbeTest, NamesTheFirstNanOfALoop) {
  std::string text = kLoop;
  text.replace(text.find("multiply(c, w)"), 14, "logistic(c)");
  text.replace(text.find("add(y, y)"), 9, "log(n)");
  text.replace(text.find("  ROOT wrong"), 0, "  n = f32[4] negate(y)\n");
  FaultKind kind;
  kind.kind = FaultKind::kNan;
  const auto fault = Find(
      text, [](Computation&, Instruction*) {}, kind);
  ExpectFault(fault, "wrong", 0, "loop[3]/c/");
}

TEST_F(ProbeTest, TracesEveryRound) {
  module_ = Parsed(kLoop);
  arguments_ = ArgumentsFor(*module_);
  std::vector<std::string> names;
  std::vector<Literal> values;
  const absl::Status status = Trace(
      right_, *module_, PointersTo(arguments_),
      [](const Instruction& i) {
        return i.name() == "h" || i.name() == "wrong" || i.name() == "r";
      },
      [&](std::string name, Literal value) {
        names.push_back(std::move(name));
        values.push_back(std::move(value));
        return absl::OkStatus();
      });
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(names,
            (std::vector<std::string>{"r", "loop[0]/h", "loop[1]/h", "loop[2]/h", "loop[3]/h",
                                      "loop[3]/c/wrong", "loop[4]/h", "loop[4]/c/wrong"}));
  EXPECT_TRUE(values[0] == values[6]);
}

TEST_F(ProbeTest, IsolatesARunOfAnInstruction) {
  module_ = Parsed(kLoop);
  arguments_ = ArgumentsFor(*module_);
  const Instruction* wrong = nullptr;
  for (const Computation* c : module_->Computations())
    for (const Instruction* i : c->Instructions())
      if (i->name() == "wrong") wrong = i;
  const LiteralPointers arguments = PointersTo(arguments_);
  auto isolated = Isolate(right_, *module_, arguments, *wrong, 1, 0);
  ASSERT_TRUE(isolated.ok()) << isolated.status();
  EXPECT_EQ(Text(isolated->path), "loop[4]/c/");
  EXPECT_EQ(isolated->inputs.size(), 1u);
  EXPECT_EQ(Isolate(right_, *module_, arguments, *wrong, 2, 0).status().message(),
            "%wrong runs 2 times only");
}

TEST_F(ProbeTest, IsolatesEveryInstruction) {
  module_ = Parsed(kLoop);
  arguments_ = ArgumentsFor(*module_);
  faulty_ = Client::Create(std::make_unique<FaultyBackend>(SubtractForAdd));
  auto rows = IsolateAll(right_, Side{faulty_.get(), {}, "faulty"}, *module_,
                         PointersTo(arguments_), CompareOptions(), nullptr);
  ASSERT_TRUE(rows.ok()) << rows.status();
  int matched = 0;
  for (const IsolationResult& row : *rows) {
    const bool wrong = row.instructions[0] == "wrong";
    matched += row.state == IsolationResult::kMatched;
    EXPECT_EQ(row.state == IsolationResult::kMismatch, wrong || row.instructions[0] == "loop")
        << row.text << " " << Text(row.state);
  }
  EXPECT_EQ(matched, 5);  // less, next, late, c (in round 0), h
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
