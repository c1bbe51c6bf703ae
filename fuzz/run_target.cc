// Modules as text that are compiled and run on the CPU, within limits, and held to the interpreter.
//
// The text chooses how: its length decides between the pipeline and no passes, and between the
// levels of optimisation.
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "backends/cpu/cpu_backend.h"
#include "fuzz/evaluate.h"
#include "fuzz/module_checks.h"
#include "fuzz/target.h"
#include "printer/whole_text.h"
#include "support/diagnostics.h"
#include "support/status.h"
#include "verifier/verifier.h"

namespace hlokit {
namespace {

CompileOptions OptionsFor(size_t choice) {
  CompileOptions options;
  options.which_passes =
      choice % 2 == 0 ? CompileOptions::Passes::kPipeline : CompileOptions::Passes::kNone;
  options.opt_level = static_cast<int>(choice / 2 % 3);
  options.threads = 1;
  options.limits = {/*steps=*/100'000, /*memory_bytes=*/int64_t{64} << 20};
  return options;
}

// Each device's result on the CPU.
absl::StatusOr<std::vector<Literal>> RunOnCpu(const Module& module,
                                              const std::vector<Literal>& arguments,
                                              const CompileOptions& options, int64_t devices) {
  ASSIGN_OR_RETURN(const auto executable, MakeCpuBackend()->Compile(module.Clone(), options));
  DeviceArguments of_one;
  for (const Literal& argument : arguments) of_one.push_back(&argument);
  const std::vector<DeviceArguments> of_all(static_cast<size_t>(devices), of_one);
  ASSIGN_OR_RETURN(const auto run, executable->Prepare(of_all));
  RETURN_IF_ERROR(run->Run());
  return run->TakeResults();
}

std::string Description(const CompileOptions& options, const Module& module) {
  const bool as_it_stands = options.which_passes == CompileOptions::Passes::kNone;
  return absl::StrCat("opt level ", options.opt_level, as_it_stands ? ", no passes" : "", " on\n",
                      WholeText(module));
}

}  // namespace

InputKind KindOf(absl::string_view) { return InputKind::kText; }

bool RunOne(absl::string_view input) {
  const std::unique_ptr<Module> module = ReadModule(input, false);
  Diagnostics diagnostics;
  if (module == nullptr || !Verify(*module, diagnostics).ok()) return false;
  const InterpreterOptions limits = LimitsFor(*module);
  module->header().replica_count = limits.replicas;
  module->header().num_partitions = limits.partitions;
  const auto arguments = ArgumentsFor(*module, /*zeros=*/false);
  if (!arguments.ok()) return true;
  // What the interpreter refuses, or does not end, is not run as code.
  const auto expected = EvaluateWithin(*module, *arguments, limits);
  if (!expected.ok()) return true;
  const CompileOptions options = OptionsFor(input.size());
  const auto actual = RunOnCpu(*module, *arguments, options, limits.replicas * limits.partitions);
  CHECK(!absl::IsInternal(actual.status())) << actual.status().ToString() << "\n"
                                            << WholeText(*module);
  if (actual.ok() && HasOneValue(*module))
    CheckSameResults(*expected, *actual, [&] { return Description(options, *module); });
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
