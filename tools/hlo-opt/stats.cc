// Costs of whole modules, and tables of runs.
#include "tools/hlo-opt/stats.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "analysis/module_cost.h"
#include "analysis/module_size.h"
#include "tools/common/report.h"

namespace hlokit {
namespace {

constexpr char kColumns[] = "%12s %14s %14s %14s %8s  %s\n";

// Peak memory needs computations of one caller each, and is unknown where the module cannot be
// planned (sizes that only the run knows).
std::string PeakText(const Module& module) {
  const auto peak = PeakMemoryOf(module);
  if (!peak.ok()) return "-";
  return absl::StrCat(peak->arguments + peak->results + peak->constants + peak->temporaries);
}

std::string Line(const Module& module, absl::string_view rewrites, absl::string_view pass) {
  const std::unique_ptr<Module> copy = module.Clone();
  PassOptions silent;
  const bool flat =
      RunPasses(*copy, "while-loop-trip-count-annotator,flatten-call-graph", silent).ok();
  const InstructionCost total = CostsOf(*copy, /*unknown_trips=*/1).total;
  return absl::StrFormat(kColumns, absl::StrCat(InstructionCount(module)),
                         absl::StrFormat("%.0f", total.flops), absl::StrFormat("%.0f", total.bytes),
                         flat ? PeakText(*copy) : "-", rewrites, pass);
}

double Percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

void AppendTime(std::string& text, const PassRun& run, double total) {
  absl::StrAppendFormat(&text, "%10.3f %10.3f %6.1f  %s\n", 1e3 * run.seconds,
                        1e3 * run.processor_seconds, Percent(run.seconds, total), run.name);
}

}  // namespace

void ModuleStats::Start(const Module& module) { lines_.push_back(Line(module, "", "(as read)")); }

void ModuleStats::After(const PassRun& run, const Module& module) {
  const std::string rewrites = absl::StrCat(run.rewrites);
  lines_.push_back(run.changed ? Line(module, rewrites, run.name)
                               : absl::StrFormat(kColumns, "=", "=", "=", "=", rewrites, run.name));
}

std::string ModuleStats::Text() const {
  std::string text = absl::StrFormat(kColumns, "instructions", "flops", "bytes moved", "peak bytes",
                                     "rewrites", "after");
  for (const std::string& line : lines_) text += line;
  return text;
}

// One line a run in order; then, where a pass ran more than once, a line a pass, the slowest first.
std::string TimesText(const PassReport& report) {
  PassRun all = {"all"};
  std::vector<PassRun> sums;
  for (const PassRun& run : report.runs) {
    auto sum = std::find_if(sums.begin(), sums.end(),
                            [&](const PassRun& other) { return other.name == run.name; });
    if (sum == sums.end()) sum = sums.insert(sums.end(), PassRun{run.name});
    for (PassRun* more : {&all, &*sum}) {
      more->seconds += run.seconds;
      more->processor_seconds += run.processor_seconds;
    }
  }
  std::string text = absl::StrFormat("%10s %10s %6s  pass\n", "ms", "CPU ms", "%");
  for (const PassRun& run : report.runs) AppendTime(text, run, all.seconds);
  AppendTime(text, all, all.seconds);
  if (sums.size() == report.runs.size()) return text;
  std::stable_sort(sums.begin(), sums.end(),
                   [](const PassRun& a, const PassRun& b) { return a.seconds > b.seconds; });
  text += "by pass:\n";
  for (const PassRun& sum : sums) AppendTime(text, sum, all.seconds);
  return text;
}

// One object a run: name, changed, rewrites, wall and processor seconds.
std::string PassesJson(absl::Span<const PassRun> runs) {
  std::string text = "[";
  for (const PassRun& run : runs) {
    JsonObject json;
    json.Add("name", run.name);
    json.AddRaw("changed", run.changed ? "true" : "false");
    json.Add("rewrites", run.rewrites);
    json.Add("wall_s", run.seconds);
    json.Add("processor_s", run.processor_seconds);
    absl::StrAppend(&text, text.size() > 1 ? ", " : "",
                    absl::StripTrailingAsciiWhitespace(json.Text()));
  }
  return text + "]";
}

// How often each pass ran and changed the module, and how often each rule was used.
std::string CountsText(const PassReport& report) {
  std::string text = absl::StrCat(report.steps, " steps (--bisect-limit counts them)\n");
  std::vector<absl::string_view> names;
  for (const PassRun& run : report.runs)
    if (std::find(names.begin(), names.end(), run.name) == names.end()) names.push_back(run.name);
  for (absl::string_view name : names) {
    int runs = 0, changes = 0;
    for (const PassRun& run : report.runs) {
      runs += run.name == name;
      changes += run.name == name && run.changed;
    }
    absl::StrAppend(&text, name, ": ran ", runs, ", changed ", changes, "\n");
    for (const auto& [rule, times] : report.rules)
      if (rule.first == name) absl::StrAppend(&text, "  ", rule.second, ": ", times, "\n");
  }
  return text;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
