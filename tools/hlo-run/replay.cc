// The replay's flags, its repetitions, and what it prints of launches.
#include "tools/hlo-run/replay.h"

#include <filesystem>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "ptxsim/profile.h"
#include "support/status.h"
#include "tools/common/report.h"
#include "tools/gpu_dump/gpu_replay.h"
#include "tools/hlo-run/probe_text.h"

namespace hlokit {
namespace {

// What a folder of dumps calls the one of a module: its file's name without `.opt.hlo`.
std::string StemOf(const Module& module) {
  if (module.source() == nullptr) return "";
  std::string name = std::filesystem::path(module.source()->name()).filename().string();
  for (const absl::string_view ending : {".txt", ".hlo", ".opt"})
    name = std::string(absl::StripSuffix(name, ending));
  return name;
}

// Counts of all launches, and what had no kernel.
std::string LaunchesText(const GpuReplay::Result& result) {
  int64_t warps = 0, threads = 0;
  for (const GpuReplay::Launched& launched : result.launches) {
    warps += launched.stats.warp_instructions;
    threads += launched.stats.thread_instructions;
  }
  std::map<std::string, int64_t> on_host;
  for (const std::string& name : result.on_host) ++on_host[name];
  std::string text = absl::StrFormat(
      "%d launches: %d warp instructions, %d thread instructions\ncomputed by the interpreter: "
      "%d\n",
      result.launches.size(), warps, threads, on_host.size());
  for (const auto& [name, count] : on_host)
    absl::StrAppend(&text, "  ", name, count > 1 ? absl::StrCat(", ", count, " times") : "", "\n");
  return text;
}

// --profile: a table of all launches together, or a line each in a file.
absl::Status ReportCounts(const GpuReplay::Result& result, const RunOptions& o) {
  ptx::LaunchCounts all;
  for (const GpuReplay::Launched& launched : result.launches) {
    if (!o.wants_profile_table())
      RETURN_IF_ERROR(ptx::AppendCounts(o.profile, launched.kernel, *launched.stats.counts));
    all.Add(*launched.stats.counts);
  }
  if (o.wants_profile_table()) PrintOut(ptx::CountsText(all, ptx::FindGpuModel("h100")));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> ReplayedModule(const std::string& dump) {
  ASSIGN_OR_RETURN(const GpuDumpFiles files, FindGpuDump(dump, ""));
  return files.hlo;
}

absl::StatusOr<Execution> ExecuteReplay(const Module& module,
                                        absl::Span<const DeviceArguments> arguments,
                                        const RunOptions& o) {
  if (arguments.size() != 1)
    return Unimplemented("--kernels replays modules of one device, not of ", arguments.size());
  ASSIGN_OR_RETURN(GpuDumpFiles files, FindGpuDump(o.kernels, StemOf(module)));
  ASSIGN_OR_RETURN(const GpuReplay replay, GpuReplay::Load(std::move(files)));
  GpuReplay::Options options;
  options.threads = ThreadsOf(o);
  options.max_steps = o.max_steps;
  options.checks = LaunchChecksOf(o);
  options.profile = !o.profile.empty();
  Execution execution;
  for (int64_t run = 0; run < o.iterations; ++run) {
    const Stopwatch watch;
    ASSIGN_OR_RETURN(GpuReplay::Result result, replay.Run(module, arguments[0], options));
    execution.seconds.push_back(watch.Seconds());
    for (const GpuReplay::Launched& launched : result.launches) PrintOut(launched.stats.output);
    if (run + 1 < o.iterations) continue;
    if (o.stats) PrintOut(LaunchesText(result));
    if (!o.profile.empty()) RETURN_IF_ERROR(ReportCounts(result, o));
    execution.results.push_back(std::move(result.value));
  }
  return execution;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
