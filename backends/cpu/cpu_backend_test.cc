// Compiling: what it reports, memory that arguments give away, and what does not fit.
#include "backends/cpu/cpu_backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>

#include "absl/strings/str_cat.h"
#include "parser/parser.h"

namespace hlokit {
namespace {

std::unique_ptr<Executable> Compile(absl::string_view text, const CompileOptions& options) {
  Diagnostics diagnostics;
  auto module = ParseModule(std::make_shared<const SourceFile>("test.hlo", std::string(text)),
                            ParseOptions(), diagnostics);
  EXPECT_TRUE(module.ok()) << module.status();
  auto executable = MakeCpuBackend()->Compile(*std::move(module), options);
  EXPECT_TRUE(executable.ok()) << executable.status();
  return executable.ok() ? *std::move(executable) : nullptr;
}

TEST(CpuBackendTest, CompilingReportsProgress) {
  // Each of another size, so that none are merged; of rows cut short, so that none is one copy.
  std::string text = "HloModule m\nENTRY e {\n  p0 = f32[64,600]{1,0} parameter(0)\n";
  for (int i = 1; i <= 40; ++i)
    absl::StrAppend(&text, "  ", i == 40 ? "ROOT " : "", "p", i, " = f32[64,", 600 - i,
                    "]{1,0} slice(p", i - 1, "), slice={[0:64], [1:", 601 - i, "]}\n");
  std::mutex mutex;
  std::vector<double> fractions;
  CompileOptions options;
  options.which_passes = CompileOptions::Passes::kNone;
  options.progress = [&](absl::string_view stage, double fraction) {
    const std::lock_guard<std::mutex> lock(mutex);
    if (stage == "compile") fractions.push_back(fraction);
    return true;
  };
  ASSERT_NE(Compile(text + "}", options), nullptr);
  ASSERT_GE(fractions.size(), 5);
  EXPECT_TRUE(std::is_sorted(fractions.begin(), fractions.end()));
  EXPECT_LE(fractions.back(), 1.0);
}

// Two donated arrays, one of them part of a tuple; the third result is of neither.
constexpr char kStep[] = R"(HloModule step,
    input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {1}, may-alias) }
ENTRY e {
  table = f32[64,32]{0,1} parameter(0)
  pair = (s32[], f32[4096]{0}) parameter(1)
  at = s32[] get-tuple-element(pair), index=0
  state = f32[4096]{0} get-tuple-element(pair), index=1
  row = f32[1,32]{1,0} slice(table), slice={[1:2], [0:32]}
  zero = s32[] constant(0)
  updated = f32[64,32]{0,1} dynamic-update-slice(table, row, at, zero)
  twice = f32[4096]{0} add(state, state)
  ROOT r = (f32[64,32]{0,1}, f32[4096]{0}, s32[]) tuple(updated, twice, at)
})";

std::vector<Literal> StepArguments() {
  Literal table(Shape::Array(ElementType::kF32, {64, 32}));
  Literal state(Shape::Array(ElementType::kF32, {4096}));
  for (int64_t k = 0; k < 64 * 32; ++k) table.as<float>()[k] = static_cast<float>(k);
  for (int64_t k = 0; k < 4096; ++k) state.as<float>()[k] = static_cast<float>(k + 1);
  std::vector<Literal> pair;
  pair.push_back(Literal::R0<int32_t>(5));
  pair.push_back(std::move(state));
  std::vector<Literal> arguments;
  arguments.push_back(std::move(table));
  arguments.push_back(Literal::Tuple(std::move(pair)));
  return arguments;
}

DeviceViews ViewsOf(const std::vector<Literal>& arguments) {
  DeviceViews views;
  for (const Literal& argument : arguments) views.emplace_back(&argument);
  return views;
}

TEST(CpuBackendTest, DonationChangesNoResult) {
  const std::unique_ptr<Executable> apart = Compile(kStep, {});
  CompileOptions options;
  options.donate = true;
  const std::unique_ptr<Executable> over = Compile(kStep, options);
  ASSERT_TRUE(apart != nullptr && over != nullptr);
  EXPECT_EQ(apart->stats().donated, 0);
  EXPECT_EQ(over->stats().donated, 2);
  std::vector<Literal> arguments = StepArguments();
  const auto expected = apart->Run(arguments);
  ASSERT_TRUE(expected.ok()) << expected.status();

  // Lent, twice: the arguments stay as they are.
  auto lent = over->PrepareDonating(ViewsOf(arguments), {});
  ASSERT_TRUE(lent.ok()) << lent.status();
  ASSERT_TRUE((*lent)->Run().ok() && (*lent)->Run().ok());
  EXPECT_EQ((*lent)->TakeResults()->front(), *expected);
  EXPECT_TRUE(arguments[0] == StepArguments()[0] && arguments[1] == StepArguments()[1]);

  // Given: the state's memory is the result's; twice: the second run goes on from the first.
  const void* const place = arguments[1].elements()[1].data();
  std::vector<Literal*> given = {&arguments[0], &arguments[1]};
  auto run = over->PrepareDonating(ViewsOf(arguments), given);
  ASSERT_TRUE(run.ok()) << run.status();
  ASSERT_TRUE((*run)->Run().ok());
  ASSERT_TRUE((*run)->Run().ok());
  const Literal result = std::move((*run)->TakeResults()->front());
  EXPECT_EQ(result.elements()[0], expected->elements()[0]);
  EXPECT_EQ(result.elements()[1].data(), place);
  EXPECT_EQ(result.elements()[1].as<float>()[3], 16);
  EXPECT_EQ(arguments[0].data(), nullptr) << "taken";
}

TEST(CpuBackendTest, WhatCannotFitIsRefusedWithItsFigure) {
  CompileOptions options;
  options.which_passes = CompileOptions::Passes::kNone;
  const std::unique_ptr<Executable> huge = Compile(R"(HloModule m
ENTRY e {
  p = f32[] parameter(0)
  b = f32[1048576,16777216]{1,0} broadcast(p), dimensions={}
  ROOT s = f32[16777216,1048576]{1,0} transpose(b), dimensions={1,0}
})",
                                                   options);
  ASSERT_NE(huge, nullptr);
  const Literal p = Literal::R0<float>(1);
  const auto result = huge->Run({&p, 1});
  EXPECT_EQ(result.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(result.status().message()), testing::HasSubstr("134217728.0 MiB"));
}

// f32[7,columns] -> f32[7]: written out, 7 * columns exponentials would be 9 KiB of code and more.
int64_t CodeOfSumsOfExponentials(int columns) {
  const std::unique_ptr<Executable> sums = Compile(absl::StrCat(R"(HloModule m
f { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY e {
  x = f32[7,)",
                                                                columns, R"(] parameter(0)
  e = f32[7,)",
                                                                columns, R"(] exponential(x)
  i = f32[] constant(0)
  r = f32[7] reduce(e, i), dimensions={1}, to_apply=f
  ROOT l = f32[7] log(r)
})"),
                                                   {});
  EXPECT_NE(sums, nullptr);
  return sums == nullptr ? 0 : sums->stats().code_bytes;
}

// Sums of products, each of the one before: x' = x * c + x, one step each, and scalars, so that all
// of it stands in the entry; every fifth step is a kernel of its own.
std::string ChainOfSteps(int steps) {
  std::string text =
      "HloModule m\nENTRY e {\n  x0 = f32[8]{0} parameter(0)\n"
      "  y0 = f32[40,60]{1,0} parameter(1)\n";
  int y = 0;
  for (int k = 1; k <= steps; ++k) {
    absl::StrAppend(&text, "  q", k, " = f32[8]{0} constant({1.1, 0.3, 0.7, 0.9, ", k, ".3, 0.", k,
                    ", 1.7, 0.21})\n  m", k, " = f32[8]{0} multiply(x", k - 1, ", q", k, ")\n  x",
                    k, " = f32[8]{0} add(m", k, ", x", k - 1, ")\n");
    if (k % 5 != 0) continue;
    absl::StrAppend(&text, "  y", y + 1, " = f32[", 40 + k, ",60]{1,0} pad(y", y, ", v", y,
                    "), padding=0_5x0_0\n");
    const std::string slice =
        absl::StrCat("  h", y, " = f32[1]{0} slice(x", k - 1, "), slice={[2:3]}\n  v", y,
                     " = f32[] reshape(h", y, ")\n");
    text.insert(text.rfind("  y"), slice);
    ++y;
  }
  return absl::StrCat(text, "  ROOT r = (f32[8]{0}, f32[", 40 + 5 * y, ",60]{1,0}) tuple(x", steps,
                      ", y", y, ")\n}\n");
}

// The host program is cut by its code, and the pieces go to any part.
TEST(CpuBackendTest, BitsDoNotDependOnTheNumberOfParts) {
  const std::string text = ChainOfSteps(80);
  std::vector<Literal> arguments;
  arguments.push_back(Literal(Shape::Array(ElementType::kF32, {8})));
  arguments.push_back(Literal(Shape::Array(ElementType::kF32, {40, 60})));
  for (Literal& argument : arguments)
    for (int64_t k = 0; k < argument.shape().ElementCount(); ++k)
      argument.as<float>()[k] = 0.37f * static_cast<float>(k % 11 + 1);
  std::optional<Literal> expected;
  for (int threads : {1, 2, 5}) {
    CompileOptions options;
    options.which_passes = CompileOptions::Passes::kNone;
    options.threads = threads;
    const std::unique_ptr<Executable> chain = Compile(text, options);
    ASSERT_NE(chain, nullptr);
    EXPECT_EQ(chain->stats().objects, threads);
    const auto result = chain->Run(arguments);
    ASSERT_TRUE(result.ok()) << result.status();
    if (!expected.has_value()) expected = *result;
    EXPECT_EQ(*result, *expected) << threads;
  }
}

// Three times x = x * c + x for each of so many even c, then x = 4 * x by a loop inside.
std::string LoopOfSteps(int steps) {
  std::string text = R"(HloModule m
inner { t = (s32[], u32[8]) parameter(0)  n = s32[] get-tuple-element(t), index=0
  v = u32[8] get-tuple-element(t), index=1  o = s32[] constant(1)
  m = s32[] add(n, o)  w = u32[8] add(v, v)  ROOT r = (s32[], u32[8]) tuple(m, w) }
few { t = (s32[], u32[8]) parameter(0)  n = s32[] get-tuple-element(t), index=0
  l = s32[] constant(2)  ROOT c = pred[] compare(n, l), direction=LT }
more { t = (s32[], u32[8]) parameter(0)  n = s32[] get-tuple-element(t), index=0
  l = s32[] constant(3)  ROOT c = pred[] compare(n, l), direction=LT }
body { t = (s32[], u32[8]) parameter(0)  n = s32[] get-tuple-element(t), index=0
  x0 = u32[8] get-tuple-element(t), index=1  zero = s32[] constant(0)
)";
  for (int k = 1; k <= steps; ++k)
    absl::StrAppend(&text, "  q", k, " = u32[8] constant({", 2 * k, ", 2, 4, 6, 10, 12, 16, ",
                    2 * k + 2, "})\n  m", k, " = u32[8] multiply(x", k - 1, ", q", k, ")\n  x", k,
                    " = u32[8] add(m", k, ", x", k - 1, ")\n");
  absl::StrAppend(&text, "  s = (s32[], u32[8]) tuple(zero, x", steps, R"()
  w = (s32[], u32[8]) while(s), condition=few, body=inner
  y = u32[8] get-tuple-element(w), index=1  o = s32[] constant(1)  z = s32[] add(n, o)
  ROOT r = (s32[], u32[8]) tuple(z, y) }
ENTRY e { p = u32[8] parameter(0)  i = s32[] constant(0)  s = (s32[], u32[8]) tuple(i, p)
  w = (s32[], u32[8]) while(s), condition=more, body=body
  ROOT r = u32[8] get-tuple-element(w), index=1 })");
  return text;
}

// What stands in a loop's body is cut too, and what crosses a cut goes through memory.
TEST(CpuBackendTest, LongBodiesOfLoopsAreSeveralFunctions) {
  constexpr uint32_t kSteps = 60;
  const std::vector<uint32_t> start = {1, 2, 3, 4, 5, 6, 7, 8};
  Literal argument(Shape::Array(ElementType::kU32, {8})), expected = argument;
  for (uint32_t e = 0; e < 8; ++e) {
    const std::vector<uint32_t> factors = {0, 2, 4, 6, 10, 12, 16, 0};
    uint32_t x = argument.as<uint32_t>()[e] = start[e];
    for (int trip = 0; trip < 3; ++trip) {
      for (uint32_t k = 1; k <= kSteps; ++k)
        x += x * (e == 0 ? 2 * k : e == 7 ? 2 * k + 2 : factors[e]);
      x *= 4;
    }
    expected.as<uint32_t>()[e] = x;
  }
  for (int threads : {1, 2, 3}) {
    CompileOptions options;
    options.which_passes = CompileOptions::Passes::kNone;
    options.threads = threads;
    const std::unique_ptr<Executable> loop = Compile(LoopOfSteps(kSteps), options);
    ASSERT_NE(loop, nullptr);
    EXPECT_EQ(loop->stats().objects, threads);
    const auto result = loop->Run({&argument, 1});
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(*result, expected) << threads;
  }
}

// A function of `count` numbers, of which the first seven are the same for every count.
std::vector<double> Function(const std::string& opcode, const std::string& type, int count) {
  const std::string array = absl::StrCat(type, "[", count, "]");
  const std::unique_ptr<Executable> f = Compile(
      absl::StrCat("HloModule m\nENTRY e { i = ", type, "[", count, "] iota(), iota_dimension=0\n",
                   "  p = ", type, "[] parameter(0)  q = ", array,
                   " broadcast(p), dimensions={}  x = ", array, " multiply(i, q)\n  y = ", array,
                   " ", opcode, "(x)  ROOT r = f64[", count, "] convert(y) }"),
      {});
  EXPECT_NE(f, nullptr);
  if (f == nullptr) return {};
  const Literal p = type == "f32" ? Literal::R0<float>(0.137f) : Literal::R0<double>(0.137);
  const auto result = f->Run({&p, 1});
  EXPECT_TRUE(result.ok()) << result.status();
  if (!result.ok()) return {};
  return std::vector<double>(result->as<double>(), result->as<double>() + 7);
}

// Elements of small arrays are lanes of one vector, those of large ones go by loops.
TEST(CpuBackendTest, FunctionsOfSmallArraysHaveTheBitsOfLargeOnes) {
  for (const std::string type : {"f32", "f64"})
    for (const std::string opcode : {"exponential", "exponential-minus-one", "log-plus-one", "tanh",
                                     "logistic", "sqrt", "cbrt", "erf", "sine", "tan"}) {
      const std::vector<double> small = Function(opcode, type, 7);
      ASSERT_EQ(small.size(), 7u);
      EXPECT_EQ(small, Function(opcode, type, 4096)) << type << " " << opcode;
    }
}

TEST(CpuBackendTest, SmallResultsOfManyFunctionsAreLoops) {
  EXPECT_GT(CodeOfSumsOfExponentials(5), 0);
  EXPECT_LT(CodeOfSumsOfExponentials(5), 8000);
  EXPECT_LT(CodeOfSumsOfExponentials(8), 8000);
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
