// Texts and files about a run: times and counts of one execution, as sentences, as a table, as
// JSON.
#include "tools/hlo-run/run_report.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "support/file.h"
#include "support/status.h"
#include "tools/common/messages.h"
#include "tools/common/report.h"
#include "tools/hlo-run/outputs.h"
#include "tools/hlo-run/probe_text.h"

namespace hlokit {
namespace {

absl::Status WriteJson(const RunOptions& o, const LoadedModule& loaded,
                       const Execution& execution) {
  JsonObject json;
  json.Add("platform", o.platform);
  json.Add("threads", ThreadsOf(o));
  json.Add("parse_s", loaded.parse_s);
  json.Add("verify_s", loaded.verify_s);
  json.Add("passes_s", execution.stats.passes_s);
  json.Add("codegen_s", execution.stats.codegen_s);
  json.Add("compile_s", loaded.verify_s + execution.stats.passes_s + execution.stats.codegen_s);
  json.Add("run_min_s", execution.min_seconds());
  json.Add("run_med_s", execution.median_seconds());
  json.Add("iterations", static_cast<int64_t>(execution.seconds.size()));
  json.Add("temporary_bytes", execution.stats.temporary_bytes);
  json.Add("code_bytes", execution.stats.code_bytes);
  json.Add("reference_kernels", static_cast<int64_t>(execution.stats.fallbacks.size()));
  json.Add("packed_arrays", execution.packed.arrays);
  json.Add("packed_bytes", execution.packed.bytes);
  json.Add("peak_rss_mib", PeakRssMib());
  return AtomicWriteFile(o.json, json.Text());
}

std::string StatsText(const Execution& execution) {
  const CompileStats& stats = execution.stats;
  const PackedCounts& packed = execution.packed;
  std::string text = absl::StrFormat("temporary memory: %.3f MiB\ncode: %.1f KiB\n",
                                     static_cast<double>(stats.temporary_bytes) / (1 << 20),
                                     static_cast<double>(stats.code_bytes) / 1024);
  if (stats.donated > 0)
    absl::StrAppendFormat(&text, "results written over arguments: %d, of %.3f MiB\n", stats.donated,
                          static_cast<double>(stats.donated_bytes) / (1 << 20));
  if (packed.arrays + packed.dropped > 0)
    absl::StrAppendFormat(&text, "weights kept packed: %d, of %.3f MiB; dropped: %d\n",
                          packed.arrays, static_cast<double>(packed.bytes) / (1 << 20),
                          packed.dropped);
  absl::StrAppend(&text, "instructions on reference kernels: ", stats.fallbacks.size(), "\n");
  for (const CompileStats::Fallback& fallback : stats.fallbacks)
    absl::StrAppend(&text, "  %", fallback.instruction, "  ", fallback.opcode, ": ",
                    fallback.reason, "\n");
  return text;
}

std::string PhasesText(const LoadedModule& loaded, const CompileStats& stats) {
  std::string text = absl::StrFormat("%10.3f ms  parsing\n%10.3f ms  verification\n",
                                     1e3 * loaded.parse_s, 1e3 * loaded.verify_s);
  for (const CompileStats::Phase& phase : stats.phases)
    absl::StrAppendFormat(&text, "%10.3f ms  %s\n", 1e3 * phase.seconds, phase.name);
  if (stats.cached_objects > 0)
    absl::StrAppend(&text, stats.cached_objects, " of ", stats.objects,
                    " objects came from the cache\n");
  return text;
}

std::string TimesText(const LoadedModule& loaded, const Execution& execution) {
  const CompileStats& stats = execution.stats;
  if (execution.seconds.empty())
    return absl::StrFormat("parsed in %.1f ms, compiled in %.1f ms\n", 1e3 * loaded.parse_s,
                           1e3 * (loaded.verify_s + stats.passes_s + stats.codegen_s));
  return absl::StrFormat(
      "parsed in %.1f ms, compiled in %.1f ms; %d run%s, fastest %.3f ms, median %.3f ms\n",
      1e3 * loaded.parse_s, 1e3 * (loaded.verify_s + stats.passes_s + stats.codegen_s),
      execution.seconds.size(), execution.seconds.size() == 1 ? "" : "s",
      1e3 * execution.min_seconds(), 1e3 * execution.median_seconds());
}

// A line a run, as XLA's runner prints them.
std::string RunTimesText(absl::string_view file, const std::vector<double>& seconds) {
  std::string text;
  for (size_t k = 0; k < seconds.size(); ++k)
    absl::StrAppendFormat(&text, "## Execution time, file=%s repeat=%d duration=%dns\n", file, k,
                          static_cast<int64_t>(1e9 * seconds[k]));
  return text;
}

}  // namespace

absl::Status Report(const RunOptions& o, const LoadedModule& loaded, const Execution& execution) {
  ClearProgress();
  if (o.profile_execution) PrintOut(RunTimesText(loaded.source->name(), execution.seconds));
  if (o.output_mode == "not_return_outputs") {
    if (o.output.empty() && o.json.empty()) PrintOut(TimesText(loaded, execution));
    return o.json.empty() ? absl::OkStatus() : WriteJson(o, loaded, execution);
  }
  if (o.print_literals ||
      (o.output.empty() && o.reference_platform.empty() && o.expected.empty() && o.json.empty()))
    PrintOut(DescribeResults(execution.results, o.print_literals));
  if (o.stats && o.kernels.empty()) PrintOut(StatsText(execution));
  if (o.time_passes) PrintOut(PhasesText(loaded, execution.stats));
  if (!o.kernels.empty()) {
    // The replay has printed its counts.
  } else if (o.wants_profile_table()) {
    PrintOut(execution.profile);
  } else if (!o.profile.empty()) {
    RETURN_IF_ERROR(AtomicWriteFile(o.profile, execution.profile));
  }
  if (o.output.empty() && o.json.empty()) PrintOut(TimesText(loaded, execution));
  if (!o.output.empty() && !o.compile_only)
    RETURN_IF_ERROR(WriteResults(o.output, execution.results));
  return o.json.empty() ? absl::OkStatus() : WriteJson(o, loaded, execution);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
