// Faults planted in emitted code are found and named; code without them has no findings.
//
// A fault is a change of the IR between emission and the checks: what a wrong line of an emitter
// would have written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/executable/cpu_executable.h"
#include "backends/cpu/sanitizer/planted_faults_internal.h"
#include "backends/cpu/sanitizer/sanitize_code_internal.h"
#include "parser/parser.h"
#include "support/status.h"
#include "verifier/verifier.h"

namespace hlokit {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

std::unique_ptr<Module> Parse(absl::string_view text) {
  Diagnostics diagnostics;
  auto module = ParseModule(std::make_shared<const SourceFile>("m.hlo", std::string(text)),
                            ParseOptions(), diagnostics);
  if (!module.ok() || !Verify(**module, diagnostics).ok()) return nullptr;
  return *std::move(module);
}

// Indices far outside of every array, both ways; other values small.
Literal Argument(const Shape& shape, int64_t index = 100000) {
  Literal literal(shape);
  for (int64_t k = 0; k < literal.element_count(); ++k) {
    if (IsFloat(shape.type)) {
      literal.SetDouble(k, static_cast<double>(k % 7));
    } else {
      literal.SetInt(k, k % 2 == 0 ? index : -index);
    }
  }
  return literal;
}

absl::StatusOr<std::unique_ptr<CpuExecutable>> Compile(absl::string_view text,
                                                       const FaultPlanter& plant, int opt_level) {
  std::unique_ptr<Module> module = Parse(text);
  if (module == nullptr) return InvalidArgument("bad module");
  CompileOptions options;
  options.which_passes = CompileOptions::Passes::kNone;
  RETURN_IF_ERROR(LowerForCpu(*module, options, nullptr));
  ASSIGN_OR_RETURN(BufferAssignment buffers, BufferAssignment::Make(*module));
  ASSIGN_OR_RETURN(const HostTarget target, FindHostTarget());
  EmitOptions emit;
  emit.triple = target.triple;
  emit.data_layout = target.data_layout;
  emit.parts = 1;
  emit.notes = true;
  ASSIGN_OR_RETURN(EmittedModule emitted, EmitModule(*module, buffers, emit));
  if (plant != nullptr && !plant(emitted)) return NotFound("no code of this form");
  auto sanitizer = std::make_unique<Sanitizer>(std::move(emitted.arrays), buffers);
  for (EmittedModule::Part& part : emitted.parts)
    SanitizeCode(*part.module, *sanitizer, SanitizeStage::kEmitted);
  JitStats jit;
  JitOptions jit_options;
  jit_options.opt_level = opt_level;
  ASSIGN_OR_RETURN(std::unique_ptr<JitCode> code,
                   CompileToJit(std::move(emitted), jit_options, jit));
  auto executable = std::make_unique<CpuExecutable>(std::move(module), std::move(buffers),
                                                    std::move(code), CompileStats(), 1);
  executable->set_sanitizer(std::move(sanitizer));
  RETURN_IF_ERROR(executable->BindConstants());
  return executable;
}

absl::StatusOr<std::vector<std::string>> FindingsOf(absl::string_view text,
                                                    const FaultPlanter& plant, int opt_level) {
  ASSIGN_OR_RETURN(const auto executable, Compile(text, plant, opt_level));
  const Computation& entry = *executable->module().entry();
  for (const int64_t index : {100000, -100000}) {
    std::vector<Literal> arguments;
    for (int64_t p = 0; p < entry.parameter_count(); ++p)
      arguments.push_back(Argument(entry.parameter(p)->shape(), index));
    DeviceArguments pointers;
    for (const Literal& argument : arguments) pointers.push_back(&argument);
    ASSIGN_OR_RETURN(const auto run, static_cast<Executable&>(*executable).Prepare({pointers}));
    RETURN_IF_ERROR(run->Run());
  }
  std::vector<std::string> texts;
  for (const absl::Status& finding : executable->sanitizer()->Findings())
    texts.emplace_back(finding.message());
  return texts;
}

class PlantedFaultTest : public testing::TestWithParam<PlantedFault> {};

TEST_P(PlantedFaultTest, IsFoundAndNamed) {
  const PlantedFault& fault = GetParam();
  for (const int opt_level : {0, 2}) {
    const auto sound = FindingsOf(fault.text, nullptr, opt_level);
    ASSERT_TRUE(sound.ok()) << sound.status();
    EXPECT_THAT(*sound, IsEmpty()) << "opt level " << opt_level;
    const auto found = FindingsOf(fault.text, fault.plant, opt_level);
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_THAT(*found, Contains(HasSubstr(fault.finding))) << "opt level " << opt_level;
    EXPECT_THAT(*found, Contains(HasSubstr(absl::StrCat("%", fault.instruction, " "))));
  }
}

INSTANTIATE_TEST_SUITE_P(Emitters, PlantedFaultTest, testing::ValuesIn(PlantedFaults()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(SanitizerTest, RunsAgainAndOnSeveralThreads) {
  CompileOptions options;
  options.sanitize = CompileOptions::Sanitize::kOptimized;
  options.threads = 2;
  auto executable = MakeCpuBackend()->Compile(Parse(R"(HloModule m
ENTRY e {
  p = f32[300000] parameter(0)
  q = f32[300000] exponential(p)
  ROOT r = f32[300000] add(q, p)
})"),
                                              options);
  ASSERT_TRUE(executable.ok()) << executable.status();
  const Literal argument = Argument((*executable)->module().entry()->parameter(0)->shape());
  const DeviceArguments pointers = {&argument};
  auto run = (*executable)->Prepare({pointers});
  ASSERT_TRUE(run.ok()) << run.status();
  for (int k = 0; k < 3; ++k) ASSERT_TRUE((*run)->Run().ok());
  EXPECT_THAT((*run)->Findings(), IsEmpty());
  const auto results = (*run)->TakeResults();
  ASSERT_TRUE(results.ok());
  EXPECT_EQ((*results)[0].GetDouble(7), 1);
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
