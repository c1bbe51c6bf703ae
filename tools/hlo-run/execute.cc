// Compilation with the flags of hlo-run, and the loop of timed runs.
//
// One run warms caches and pages, then runs are timed until both --iterations and --min-seconds are
// met; the fastest, the median and the slowest are reported. --sanitize runs twice: with checks in
// the code as written, and after LLVM's passes.
#include "tools/hlo-run/execute.h"

#include <algorithm>
#include <optional>

#include "re2/re2.h"
#include "support/status.h"
#include "tools/common/report.h"
#include "tools/hlo-run/compile_dump.h"
#include "tools/hlo-run/outputs.h"
#include "tools/hlo-run/profile.h"
#include "types/shape_bytes.h"

namespace hlokit {
namespace {

// Arguments, results and what lies between must not take more than --memory-limit.
absl::Status CheckMemory(const Executable& executable, absl::Span<const DeviceArguments> arguments,
                         int64_t limit) {
  if (limit == 0) return absl::OkStatus();
  int64_t bytes = executable.stats().temporary_bytes;
  for (const DeviceArguments& device : arguments)
    for (const Literal* argument : device) bytes += TotalBytes(argument->shape());
  bytes += TotalBytes(executable.module().entry()->root()->shape());
  if (bytes <= limit) return absl::OkStatus();
  return ResourceExhausted("a run takes ", bytes, " bytes, more than --memory-limit=", limit);
}

// One run before the timed ones, by default, where there are several: it takes page faults and cold
// caches.
// The module as it stands, which its loader has verified or was told to take as it is.
absl::StatusOr<ProgramHandle> Compile(Client& client, std::unique_ptr<Module> module,
                                      const CompileOptions& backend) {
  ClientCompileOptions options;
  options.backend = backend;
  options.verify = options.serializable = options.client_queues = false;
  return client.CompileModule(std::move(module), options);
}

int64_t WarmupRuns(const RunOptions& o) {
  const bool several = o.iterations > 1 || o.min_seconds > 0;
  return o.warmup >= 0 ? o.warmup : several ? 1 : 0;
}

// A table, or a trace in Chrome's format, by --profile.
std::string ProfileOf(const PreparedRun& run, const RunOptions& o, int64_t timed_runs) {
  const int64_t runs = timed_runs + WarmupRuns(o);
  return o.wants_profile_table() ? ProfileTable(run.Profile(), runs, o.threads)
                                 : ProfileTrace(run.Profile(), runs);
}

// Runs until both --iterations and --min-seconds are met. Several processes run equally often: the
// first decides, after as many runs as there were before, since the question takes time.
absl::Status RunTimed(PreparedRun& run, const RunOptions& o, const RunDevices& devices,
                      std::vector<double>& seconds) {
  const int64_t warmup = WarmupRuns(o);
  for (int64_t i = 0; i < warmup; ++i) RETURN_IF_ERROR(run.Run());
  const ProgressCallback progress = TerminalProgress();
  const Stopwatch total;
  size_t question = 1;  // runs after which the processes agree again
  while (true) {
    bool more = static_cast<int64_t>(seconds.size()) < o.iterations;
    if (!more && o.min_seconds <= 0) break;
    if (!more && devices.agree == nullptr) more = total.Seconds() < o.min_seconds;
    if (!more && devices.agree != nullptr) {
      more = true;
      if (seconds.size() >= question) {
        ASSIGN_OR_RETURN(more, devices.agree(total.Seconds() < o.min_seconds));
        question = 2 * seconds.size();
      }
    }
    if (!more) break;
    const Stopwatch watch;
    RETURN_IF_ERROR(run.Run());
    seconds.push_back(watch.Seconds());
    const double done = static_cast<double>(seconds.size()) / static_cast<double>(o.iterations);
    if (progress)
      progress("run", std::min(done, o.min_seconds > 0 ? total.Seconds() / o.min_seconds : 1.0));
  }
  return absl::OkStatus();
}

// The parameters that --freeze-inputs names. One that the program writes over is none of them.
absl::StatusOr<std::vector<int64_t>> FrozenParameters(const Module& module, const RunOptions& o) {
  std::vector<int64_t> numbers;
  if (o.freeze_inputs.empty()) return numbers;
  const RE2 pattern(o.freeze_inputs, RE2::Quiet);
  if (!pattern.ok())
    return InvalidArgument("--freeze-inputs=", o.freeze_inputs, ": ", pattern.error());
  const Computation& entry = *module.entry();
  for (int64_t p = 0; p < entry.parameter_count(); ++p) {
    const Instruction& parameter = *entry.parameter(p);
    if (RE2::PartialMatch(parameter.name(), pattern) ||
        RE2::PartialMatch(parameter.metadata().op_name.str(), pattern))
      numbers.push_back(p);
  }
  if (numbers.empty())
    return NotFound("--freeze-inputs=", o.freeze_inputs, ": no parameter has such a name");
  return numbers;
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
  options.donate = o.donate;
  if (!reference) {
    options.dump_to = o.dump_to;
    options.cache_dir = o.cache_dir;
    options.profile = !o.profile.empty();
  }
  options.limits = {o.max_steps, o.memory_limit};
  options.progress = TerminalProgress();
  return options;
}

// --ulps replaces the absolute and relative bounds.
CompareOptions CompareOptionsOf(const RunOptions& o) {
  CompareOptions options;
  if (o.ulps >= 0) {
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

// Runs once with each kind of checks.
absl::StatusOr<std::vector<absl::Status>> Sanitize(Client& client, const Module& module,
                                                   absl::Span<const DeviceArguments> arguments,
                                                   const RunOptions& o, const HostQueues& host) {
  std::vector<absl::Status> findings;
  using Stage = CompileOptions::Sanitize;
  for (const Stage stage : {Stage::kEmitted, Stage::kOptimized}) {
    CompileOptions options = CompileOptionsOf(o, /*reference=*/false);
    options.host = host;
    options.sanitize = stage;
    options.profile = false;
    options.dump_to.clear();
    ASSIGN_OR_RETURN(const ProgramHandle program, Compile(client, module.Clone(), options));
    ASSIGN_OR_RETURN(const std::unique_ptr<PreparedRun> run,
                     program->executable().Prepare(arguments));
    const absl::Status status = run->Run();
    // What differs in one stage alone says so.
    for (const absl::Status& finding : run->Findings())
      findings.push_back(stage == Stage::kEmitted ? finding
                                                  : Annotate(finding, "after LLVM's passes"));
    if (!status.ok() && findings.empty()) return status;
    if (!findings.empty()) break;
  }
  return findings;
}

absl::StatusOr<Execution> Execute(Client& client, std::unique_ptr<Module> module,
                                  absl::Span<const DeviceArguments> arguments, const RunOptions& o,
                                  const HostQueues& host, bool timed,
                                  absl::Span<Literal* const> given, const RunDevices& devices) {
  Execution execution;
  std::optional<CompileDump> dump;
  CompileOptions options = CompileOptionsOf(o, !timed);
  if (timed && !o.dump_to.empty()) {
    dump.emplace(o.dump_to, o.platform, *module);
    RETURN_IF_ERROR(dump->Start(*module, options.dump_to));
  }
  options.devices = devices.devices;
  options.communicators = devices.communicators;
  options.host = host;
  if (timed) {
    ASSIGN_OR_RETURN(options.frozen_parameters, FrozenParameters(*module, o));
  }
  ASSIGN_OR_RETURN(const ProgramHandle program, Compile(client, std::move(module), options));
  Executable& executable = program->executable();
  execution.stats = program->stats();
  if (dump) RETURN_IF_ERROR(dump->End(program->module()));
  if (o.compile_only) return execution;
  RETURN_IF_ERROR(CheckMemory(executable, arguments, o.memory_limit));
  ASSIGN_OR_RETURN(const std::unique_ptr<PreparedRun> run,
                   given.empty() ? executable.Prepare(arguments)
                                 : executable.PrepareDonating(
                                       {arguments[0].begin(), arguments[0].end()}, given));
  if (timed) {
    RETURN_IF_ERROR(RunTimed(*run, o, devices, execution.seconds));
    if (!o.profile.empty())
      execution.profile = ProfileOf(*run, o, static_cast<int64_t>(execution.seconds.size()));
  } else {
    RETURN_IF_ERROR(run->Run());
  }
  execution.packed = executable.packed();
  ASSIGN_OR_RETURN(execution.results, run->TakeResults());
  return execution;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
