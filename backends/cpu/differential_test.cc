// Every module below testdata/ gives on the CPU, after its pipeline and as it stands, what the
// interpreter gives; inputs are random.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <random>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "backends/cpu/cpu_backend.h"
#include "interpreter/interpreter.h"
#include "parser/parser.h"
#include "passes/manager.h"
#include "support/file.h"
#include "support/status.h"
#include "types/compare.h"
#include "verifier/verifier.h"

namespace hlokit {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<Module> ParseVerified(const std::string& path, const std::string& text) {
  Diagnostics diagnostics;
  auto module =
      ParseModule(std::make_shared<const SourceFile>(path, text), ParseOptions(), diagnostics);
  if (!module.ok() || !Verify(**module, diagnostics).ok()) return nullptr;
  return *std::move(module);
}

std::string Root() { return HLOKIT_SOURCE_DIR "/testdata"; }

// Whether a test file holds a module that has values: not where every RUN line expects the text
// itself to be refused (by hlo-opt without passes and the like), nor where it says NOT-EXECUTED.
bool HasModuleToRun(const std::string& path) {
  const std::string text = ReadFile(path).value();
  if (absl::StrContains(text, "// NOT-EXECUTED: ")) return false;
  bool refused = false;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::StartsWith(line, "// RUN-ON-EACH-BACKEND")) return true;
    if (!absl::StartsWith(line, "// RUN: ")) continue;
    refused = absl::StartsWith(line, "// RUN: not ") && !absl::StrContains(line, "--passes") &&
              !absl::StrContains(line, "--platform");
    if (!refused) return true;
  }
  return !refused;
}

std::vector<std::string> FindFiles() {
  std::vector<std::string> paths;
  for (const auto& entry : fs::recursive_directory_iterator(Root()))
    if (entry.path().extension() == ".hlo") paths.push_back(entry.path().string());
  std::erase_if(paths, [](const std::string& path) { return !HasModuleToRun(path); });
  std::sort(paths.begin(), paths.end());
  return paths;
}

// Small numbers, so that indices fall inside and outside of arrays and sums stay exact enough.
Literal RandomLiteral(const Shape& shape, std::mt19937_64& bits) {
  if (shape.IsTuple()) {
    std::vector<Literal> elements;
    for (const Shape& e : shape.elements) elements.push_back(RandomLiteral(e, bits));
    return Literal::Tuple(std::move(elements));
  }
  if (!shape.IsArray()) return Literal::Token();
  Literal literal(shape);
  std::uniform_real_distribution<double> real(-2, 2);
  for (int64_t i = 0; i < literal.element_count(); ++i) {
    if (IsComplex(shape.type)) {
      literal.SetComplex(i, {real(bits), real(bits)});
    } else if (IsFloat(shape.type)) {
      literal.SetDouble(i, real(bits));
    } else if (IsPred(shape.type)) {
      literal.SetInt(i, static_cast<int64_t>(bits() & 1));
    } else {
      const int64_t low = IsUnsigned(shape.type) ? 0 : BitWidth(shape.type) < 8 ? -1 : -3;
      literal.SetInt(i, low + static_cast<int64_t>(bits() % (BitWidth(shape.type) < 8 ? 2 : 13)));
    }
  }
  return literal;
}

// Sums are added up in another order, and elementary functions are two writings; bf16 is rounded
// less often on the CPU.
CompareOptions Tolerance(absl::string_view text) {
  CompareOptions options;
  const bool rounds_coarsely = absl::StrContains(text, "bf16[");
  options.rel_error = rounds_coarsely ? 2e-2 : 5e-5;
  options.abs_error = rounds_coarsely ? 2e-2 : 3e-5;
  return options;
}

// One module of a file.
struct Case {
  const std::string& path;
  std::string text;
  bool must_run;  // testdata/differential: every module has code on the CPU

  std::unique_ptr<Module> Parse() const { return ParseVerified(path, text); }
};

// Random arguments of each device.
struct Arguments {
  Arguments(const Module& module, uint64_t seed) {
    std::mt19937_64 bits(seed);
    const ModuleHeader& header = module.header();
    for (int64_t d = 0; d < header.replica_count * header.num_partitions; ++d) {
      DeviceArguments& device = by_device.emplace_back();
      for (int64_t p = 0; p < module.entry()->parameter_count(); ++p)
        device.push_back(
            &literals.emplace_back(RandomLiteral(module.entry()->parameter(p)->shape(), bits)));
    }
  }
  std::deque<Literal> literals;
  std::vector<DeviceArguments> by_device;
};

// HLOKIT_SANITIZE=emitted or optimized: the code checks itself.
CompileOptions::Sanitize WhatToSanitize() {
  using Stage = CompileOptions::Sanitize;
  const char* const stage = std::getenv("HLOKIT_SANITIZE");
  if (stage == nullptr) return Stage::kNone;
  return absl::string_view(stage) == "optimized" ? Stage::kOptimized : Stage::kEmitted;
}

absl::StatusOr<std::vector<Literal>> RunOn(Executable& executable, const Arguments& arguments) {
  ASSIGN_OR_RETURN(const auto run, executable.Prepare(arguments.by_device));
  const absl::Status status = run->Run();
  for (const absl::Status& finding : run->Findings()) ADD_FAILURE() << finding;
  RETURN_IF_ERROR(status);
  return run->TakeResults();
}

// False where the CPU refuses the module, or it has no end.
bool Check(const Case& test, const Module& module, CompileOptions::Passes passes, uint64_t seed) {
  const Arguments arguments(module, seed);
  InterpreterOptions limits;
  limits.step_limit = 10'000'000;  // files that are only looked at may hold loops without an end
  auto expected = InterpretDevices(module, arguments.by_device, limits);
  if (absl::IsResourceExhausted(expected.status())) return false;
  CompileOptions options;
  options.which_passes = passes;
  options.threads = 2;
  options.sanitize = WhatToSanitize();
  auto executable = MakeCpuBackend()->Compile(test.Parse(), options);
  if (!executable.ok()) {
    EXPECT_FALSE(absl::IsInternal(executable.status())) << executable.status();
    return false;
  }
  for (const auto& fallback : (*executable)->stats().fallbacks)
    EXPECT_TRUE(!test.must_run || fallback.opcode == "sort")  // by a comparator of no kernel
        << fallback.opcode << " has no native code";
  auto actual = RunOn(**executable, arguments);
  // What fails on the interpreter may be what the pipeline finds dead.
  if (actual.ok() && !expected.ok() && passes == CompileOptions::Passes::kPipeline) {
    const auto living = test.Parse();
    EXPECT_TRUE(RunPasses(*living, "dce", PassOptions()).ok());
    expected = InterpretDevices(*living, arguments.by_device);
  }
  EXPECT_EQ(actual.ok(), expected.ok()) << actual.status() << "; " << expected.status();
  if (!actual.ok() || !expected.ok()) return true;
  for (size_t device = 0; device < expected->size(); ++device) {
    const CompareResult result =
        Compare((*expected)[device], (*actual)[device], Tolerance(test.text));
    EXPECT_TRUE(result.equal) << "device " << device << ", seed " << seed << ", passes "
                              << static_cast<int>(passes) << "\n"
                              << result.shape_mismatch << result.Report();
  }
  return true;
}

// Some modules are for the text alone, whatever their arrays would weigh.
bool IsHuge(const Module& module) {
  constexpr int64_t kLargest = int64_t{1} << 30;
  for (const Computation* c : module.Computations())
    for (const Instruction* i : c->Instructions())
      for (const ShapeLeaf& leaf : Leaves(i->shape()))
        if (leaf.shape->IsArray() && leaf.shape->ByteSize() > kLargest) return true;
  return false;
}

// Why the module was not run; empty where it was.
std::string CheckOnSeeds(const Case& test) {
  const std::unique_ptr<Module> module = test.Parse();
  if (module == nullptr) return "not a valid module, on purpose";
  if (!test.must_run && IsHuge(*module)) return "larger than any memory";
  for (const uint64_t seed : {1, 2})
    for (const auto passes : {CompileOptions::Passes::kPipeline, CompileOptions::Passes::kNone})
      if (!Check(test, *module, passes, seed)) return "no code on the CPU, or no end";
  return "";
}

class DifferentialTest : public testing::TestWithParam<std::string> {};

// Files may hold several modules, divided as --split-input-file divides them.
TEST_P(DifferentialTest, CpuAgreesWithInterpreter) {
  const std::string& path = GetParam();
  const auto file = ReadFile(path);
  ASSERT_TRUE(file.ok()) << file.status();
  const bool must_run = absl::StrContains(path, "/differential/");
  std::string reasons;
  int number = 0;
  bool ran = false;  // one of the modules at least
  for (absl::string_view text : absl::StrSplit(*file, "// -----\n")) {
    SCOPED_TRACE(absl::StrCat("module ", number, " of ", path));
    const std::string reason = CheckOnSeeds({path, std::string(text), must_run});
    EXPECT_TRUE(!must_run || reason.empty()) << reason;
    ran |= reason.empty();
    absl::StrAppend(&reasons, "module ", number++, ": ", reason, "\n");
  }
  EXPECT_TRUE(ran) << reasons << "mark the file NOT-EXECUTED";
}

INSTANTIATE_TEST_SUITE_P(Testdata, DifferentialTest, testing::ValuesIn(FindFiles()),
                         [](const auto& info) {
                           std::string name =
                               fs::relative(info.param, Root()).replace_extension().string();
                           for (char& c : name)
                             if (!absl::ascii_isalnum(c)) c = '_';
                           return name;
                         });

TEST(FlushDenormalsTest, SubnormalsStayUnlessFlushed) {
  constexpr char kText[] = R"(HloModule m
ENTRY e {
  p = f32[100000] parameter(0)
  half = f32[] constant(0.5)
  b = f32[100000] broadcast(half), dimensions={}
  ROOT r = f32[100000] multiply(p, b)
})";
  const std::unique_ptr<Module> module = ParseVerified("m.hlo", kText);
  ASSERT_NE(module, nullptr);
  Literal p(module->entry()->parameter(0)->shape());
  for (int64_t i = 0; i < p.element_count(); ++i) p.SetDouble(i, 0x1p-126);
  for (const bool flush : {false, true}) {
    CompileOptions options;
    options.flush_denormals = flush;
    options.threads = 2;
    auto executable = MakeCpuBackend()->Compile(ParseVerified("m.hlo", kText), options);
    ASSERT_TRUE(executable.ok()) << executable.status();
    for (int run = 0; run < 3; ++run) {
      auto result = (*executable)->Run({&p, 1});
      ASSERT_TRUE(result.ok()) << result.status();
      for (int64_t i = 0; i < p.element_count(); ++i)
        ASSERT_EQ(result->GetDouble(i), flush ? 0 : 0x1p-127) << i;
    }
    volatile double least = 0x1p-1022;
    EXPECT_NE(least * 0.5, 0) << "the mode outlives the run";
  }
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
