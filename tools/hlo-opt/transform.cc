// Passes with their observers.
#include "tools/hlo-opt/transform.h"

#include <algorithm>
#include <cstdio>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "passes/pass_list.h"
#include "passes/pipelines.h"
#include "printer/printer.h"
#include "support/status.h"
#include "support/text.h"
#include "tools/common/diff.h"
#include "tools/hlo-opt/explain.h"
#include "tools/hlo-opt/reproducer.h"
#include "tools/hlo-opt/value_check.h"

namespace hlokit {
namespace {

void PrintError(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stderr); }

bool Holds(const std::vector<std::string>& names, absl::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

absl::Status CheckNames(const std::vector<std::string>& names) {
  std::vector<absl::string_view> known;
  for (const PassInfo& pass : ListPasses()) known.push_back(pass.name);
  for (const std::string& name : names)
    if (std::find(known.begin(), known.end(), name) == known.end())
      return InvalidArgument("no pass ", name, DidYouMean(name, known),
                             "; --list-passes names them");
  return absl::OkStatus();
}

// Keeps what the flags about single passes need between the manager's calls.
class Observer {
 public:
  // `values` may be null.
  Observer(const OptOptions& options, const std::string& spec, ValueCheck* values)
      : options_(options), spec_(spec), values_(values), explanation_(options.explain) {}

  // Null where nothing was asked for that needs them, so that such runs cost nothing.
  decltype(PassOptions::before) before() {
    if (!options_.print_changed && options_.print_before.empty() && options_.explain.empty())
      return nullptr;
    return [this](absl::string_view pass, const Module& m) { Before(pass, m); };
  }
  decltype(PassOptions::after) after() {
    if (!options_.print_changed && !options_.print_after_all && options_.print_after.empty() &&
        options_.explain.empty() && values_ == nullptr)
      return nullptr;
    return [this](const PassRun& run, const Module& m) { return After(run, m); };
  }
  decltype(PassOptions::rewrite) rewrite() {
    if (options_.explain.empty()) return nullptr;
    return [this](absl::string_view pass, absl::string_view rule, const Instruction& subject,
                  const Instruction& replacement) {
      explanation_.Rewrite(pass, rule, subject, replacement);
    };
  }
  std::string explanation() const { return explanation_.Text(); }

 private:
  void Before(absl::string_view pass, const Module& module) {
    if (Holds(options_.print_before, pass))
      PrintError(absl::StrCat("// before ", pass, "\n", Print(module)));
    if (options_.print_changed) before_ = Print(module);
    if (!options_.explain.empty()) explanation_.Before(pass, module);
  }

  absl::Status After(const PassRun& run, const Module& module) {
    if (options_.print_after_all || Holds(options_.print_after, run.name))
      PrintError(absl::StrCat("// after ", run.name, run.changed ? "" : ", which changed nothing",
                              "\n", Print(module)));
    if (!options_.explain.empty()) explanation_.After(run, module);
    if (options_.print_changed) {
      const std::string diff = LineDiff(before_, Print(module));
      PrintError(
          absl::StrCat("// ", run.name, diff.empty() ? " changed nothing\n" : " changed\n", diff));
    }
    return run.changed && values_ != nullptr ? CheckValues(run.name, module) : absl::OkStatus();
  }

  absl::Status CheckValues(absl::string_view pass, const Module& module) {
    const absl::Status status = values_->Check(module);
    if (status.ok()) return status;
    const std::string made = WriteReproducer(
        values_->before(), absl::StrCat("--passes='", PassWithOptions(spec_, pass), "'"), options_);
    return Annotate(status, absl::StrCat(pass, " changed values", made));
  }

  const OptOptions& options_;
  const std::string& spec_;
  ValueCheck* const values_;
  Explanation explanation_;
  std::string before_;
};

std::string TimesText(const PassReport& report) {
  double total = 0;
  for (const PassRun& run : report.runs) total += run.seconds;
  std::string text = absl::StrFormat("%10s  %5s  pass\n", "ms", "%");
  for (const PassRun& run : report.runs)
    absl::StrAppendFormat(&text, "%10.3f  %5.1f  %s\n", 1e3 * run.seconds,
                          total > 0 ? 100 * run.seconds / total : 0.0, run.name);
  absl::StrAppendFormat(&text, "%10.3f  %5.1f  all\n", 1e3 * total, 100.0);
  return text;
}

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

void AppendPasses(std::string& spec, absl::string_view more) {
  if (!more.empty()) absl::StrAppend(&spec, spec.empty() ? "" : ",", more);
}

}  // namespace

absl::StatusOr<PassOptions> ManagerOptions(const OptOptions& options) {
  PassOptions made;
  made.verify_each = !options.verify_each.empty();
  made.disabled = options.disable_passes;
  made.enabled_only = options.enable_passes_only;
  made.step_limit = options.bisect_limit;
  for (const std::string& item : options.fuel) {
    const size_t equals = item.find('=');
    int64_t& rewrites = made.fuel[item.substr(0, equals)];
    if (equals == std::string::npos || !absl::SimpleAtoi(item.substr(equals + 1), &rewrites))
      return InvalidArgument("--xla-fuel takes PASS=N, not '", item, "'");
    RETURN_IF_ERROR(CheckNames({item.substr(0, equals)}));
  }
  return made;
}

absl::StatusOr<std::string> PassSpecOf(const OptOptions& options) {
  std::string spec;
  if (options.stage != "hlo") {
    ASSIGN_OR_RETURN(const absl::string_view passes, PipelineSpec(options.platform));
    AppendPasses(spec, passes);
  }
  if (!options.pipeline.empty()) {
    ASSIGN_OR_RETURN(const absl::string_view passes, PipelineSpec(options.pipeline));
    AppendPasses(spec, passes);
  }
  AppendPasses(spec, options.passes);
  for (const auto* names : {&options.print_before, &options.print_after, &options.disable_passes,
                            &options.enable_passes_only})
    RETURN_IF_ERROR(CheckNames(*names));
  if (!spec.empty()) RETURN_IF_ERROR(CheckPassSpec(spec));
  return spec;
}

absl::Status Transform(Module& module, const std::string& spec, const OptOptions& options) {
  if (spec.empty()) return absl::OkStatus();
  std::optional<ValueCheck> values;
  if (options.verify_each == "interp") {
    ASSIGN_OR_RETURN(values, ValueCheck::Start(module, {options.seed, options.bounds}));
  }
  Observer observer(options, spec, values ? &*values : nullptr);
  ASSIGN_OR_RETURN(PassOptions pass_options, ManagerOptions(options));
  pass_options.before = observer.before();
  pass_options.after = observer.after();
  pass_options.rewrite = observer.rewrite();
  PassReport report;
  const absl::Status status = RunPasses(module, spec, pass_options, &report);
  for (const std::string& cycle : report.cycles)
    PrintError(absl::StrCat("hlo-opt: warning: fix<...> was left: ", cycle, "\n"));
  if (options.time_passes) PrintError(TimesText(report));
  if (options.stats) PrintError(CountsText(report));
  if (!options.explain.empty()) PrintError(observer.explanation());
  return status;
}

absl::StatusOr<std::string> PipelineText(const std::string& spec) {
  ASSIGN_OR_RETURN(const std::vector<PassStep> steps, ParsePassList(spec));
  return PassListText(steps, /*indented=*/true);
}

std::string PassList() {
  std::string text;
  for (const PassInfo& pass : ListPasses())
    absl::StrAppend(&text, pass.name, "\t", pass.summary, "\n", pass.options.empty() ? "" : "  ",
                    absl::StrJoin(pass.options, "\n  "), pass.options.empty() ? "" : "\n");
  for (absl::string_view pipeline : ListPipelines()) {
    const auto spec = PipelineSpec(pipeline);
    absl::StrAppend(&text, "--pipeline=", pipeline, "\t", spec.ok() ? *spec : "", "\n");
  }
  return text;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
