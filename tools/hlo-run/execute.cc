// Compilation with the flags of hlo-run, and the loop of timed runs.
#include "tools/hlo-run/execute.h"

#include <algorithm>

#include "printer/printer.h"
#include "support/file.h"
#include "support/status.h"
#include "tools/common/report.h"
#include "tools/hlo-run/outputs.h"

namespace hlokit {
namespace {

// Arguments, results and what lies between must not take more than --memory-limit.
absl::Status CheckMemory(const Executable& executable, absl::Span<const DeviceArguments> arguments,
                         int64_t limit) {
  if (limit == 0) return absl::OkStatus();
  int64_t bytes = executable.stats().temporary_bytes;
  const auto add = [&](const Shape& shape) {
    for (const ShapeLeaf& leaf : Leaves(shape))
      if (leaf.shape->IsArray()) bytes += leaf.shape->ByteSize();
  };
  for (const DeviceArguments& device : arguments)
    for (const Literal* argument : device) add(argument->shape());
  add(executable.module().entry()->root()->shape());
  if (bytes <= limit) return absl::OkStatus();
  return ResourceExhausted("a run takes ", bytes, " bytes, more than --memory-limit=", limit);
}

absl::Status RunTimed(PreparedRun& run, const RunOptions& o, std::vector<double>& seconds) {
  const bool several = o.iterations > 1 || o.min_seconds > 0;
  const int64_t warmup = o.warmup >= 0 ? o.warmup : several ? 1 : 0;
  for (int64_t i = 0; i < warmup; ++i) RETURN_IF_ERROR(run.Run());
  const ProgressCallback progress = TerminalProgress();
  const Stopwatch total;
  while (static_cast<int64_t>(seconds.size()) < o.iterations || total.Seconds() < o.min_seconds) {
    const Stopwatch watch;
    RETURN_IF_ERROR(run.Run());
    seconds.push_back(watch.Seconds());
    const double done = static_cast<double>(seconds.size()) / static_cast<double>(o.iterations);
    if (progress)
      progress("run", std::min(done, o.min_seconds > 0 ? total.Seconds() / o.min_seconds : 1.0));
  }
  return absl::OkStatus();
}

}  // namespace

CompileOptions CompileOptionsOf(const RunOptions& o, bool reference) {
  CompileOptions options;
  using Passes = CompileOptions::Passes;
  const bool run_passes = reference ? o.run_reference_passes && o.run_passes : o.run_passes;
  options.which_passes = !run_passes        ? Passes::kNone
                         : o.passes.empty() ? Passes::kPipeline
                                            : Passes::kListed;
  options.passes = o.passes;
  options.verify_each = o.verify_each;
  options.opt_level = o.opt_level;
  options.threads = o.threads;
  options.flush_denormals = o.flush_denormals;
  if (!reference) options.dump_to = o.dump_to;
  options.limits = {o.max_steps, o.memory_limit};
  options.progress = TerminalProgress();
  return options;
}

CompareOptions CompareOptionsOf(const RunOptions& o) {
  CompareOptions options;
  if (o.ulps > 0) {
    options.ulps = o.ulps;
  } else {
    options.abs_error = o.abs_error;
    options.rel_error = o.rel_error;
  }
  return options;
}

double Execution::min_seconds() const {
  return seconds.empty() ? 0 : *std::min_element(seconds.begin(), seconds.end());
}

double Execution::median_seconds() const {
  if (seconds.empty()) return 0;
  std::vector<double> sorted = seconds;
  std::nth_element(sorted.begin(), sorted.begin() + sorted.size() / 2, sorted.end());
  return sorted[sorted.size() / 2];
}

absl::StatusOr<Execution> Execute(Backend& backend, std::unique_ptr<Module> module,
                                  absl::Span<const DeviceArguments> arguments, const RunOptions& o,
                                  bool timed) {
  Execution execution;
  if (timed && !o.dump_to.empty()) RETURN_IF_ERROR(MakeFolder(o.dump_to));
  ASSIGN_OR_RETURN(const std::unique_ptr<Executable> executable,
                   backend.Compile(std::move(module), CompileOptionsOf(o, !timed)));
  execution.stats = executable->stats();
  if (timed && !o.dump_to.empty())
    RETURN_IF_ERROR(AtomicWriteFile(absl::StrCat(o.dump_to, "/module.after_passes.hlo"),
                                    Print(executable->module())));
  if (o.compile_only) return execution;
  RETURN_IF_ERROR(CheckMemory(*executable, arguments, o.memory_limit));
  ASSIGN_OR_RETURN(const std::unique_ptr<PreparedRun> run, executable->Prepare(arguments));
  if (timed) {
    RETURN_IF_ERROR(RunTimed(*run, o, execution.seconds));
  } else {
    RETURN_IF_ERROR(run->Run());
  }
  ASSIGN_OR_RETURN(execution.results, run->TakeResults());
  return execution;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
