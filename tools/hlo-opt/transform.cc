// Runs the passes with their observers. Where a pass fails or leaves a broken module, the module is
// read again and the passes run once more with the verifier after each, to name the first bad one
// and to write a reproducer.
#include "tools/hlo-opt/transform.h"

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "passes/framework/pass_list.h"
#include "passes/pipelines.h"
#include "support/status.h"
#include "support/text.h"
#include "tools/common/exit_status.h"
#include "tools/common/messages.h"
#include "tools/hlo-opt/crash_watch.h"
#include "tools/hlo-opt/observer.h"
#include "tools/hlo-opt/pass_spec.h"
#include "tools/hlo-opt/reproducer.h"
#include "tools/hlo-opt/value_check.h"
#include "verifier/verifier.h"

namespace hlokit {
namespace {

absl::Status VerifyResult(const Module& module, bool for_passes) {
  Diagnostics diagnostics;
  const absl::Status status = Verify(module, diagnostics, {.for_passes = for_passes});
  if (status.ok()) return status;
  return Internal("the module is broken after these passes: ", status.message());
}

// Runs the passes and checks the result; `last` becomes the pass that ran last and the steps before
// it.
absl::Status RunObserved(Module& module, const std::string& spec, const OptOptions& options,
                         PassMoment& last, PassReport& report) {
  std::optional<ValueCheck> values;
  if (options.verify_each == "interp") {
    ASSIGN_OR_RETURN(values, ValueCheck::Start(module, {options.inputs, options.bounds}));
  }
  Observer observer(options, spec, values ? &*values : nullptr);
  ASSIGN_OR_RETURN(PassOptions pass_options, ManagerOptions(options));
  pass_options.before = [&](absl::string_view pass, const Module& m) {
    last = {std::string(pass), report.steps - 1};
    CrashWatch::AtPass(last);
    if (observer.wants_before()) observer.Before(pass, m);
  };
  pass_options.watch_changes = observer.wants_after();
  if (observer.wants_after())
    pass_options.after = [&](const PassRun& run, const Module& m) {
      return observer.After(run, m);
    };
  if (observer.wants_rewrites())
    pass_options.rewrite = [&](absl::string_view pass, absl::string_view rule,
                               const Instruction& subject, const Instruction& replacement) {
      observer.Rewrite(pass, rule, subject, replacement);
    };
  RETURN_IF_ERROR(observer.Start(module));
  absl::Status status = RunPasses(module, spec, pass_options, &report);
  if (status.ok()) status = observer.End(module);
  CrashWatch::AfterPasses();
  for (const std::string& cycle : report.cycles)
    ShowFault("hlo-opt", "warning", absl::AbortedError(absl::StrCat("fix<...> was left: ", cycle)));
  for (const std::string& misreport : report.misreports)
    ShowFault("hlo-opt", "warning", absl::AbortedError(absl::StrCat("pass ", misreport)));
  const std::string summary = observer.Summary(report);
  std::fwrite(summary.data(), 1, summary.size(), stderr);
  if (status.ok() && options.explains_alone() && !observer.missing().empty())
    return NotFound("--explain=", options.explain, ": ", observer.missing());
  const std::string explained = observer.Explained();
  std::fwrite(explained.data(), 1, explained.size(), options.explains_alone() ? stdout : stderr);
  if (status.ok() && options.verify && options.verify_each.empty())
    status = VerifyResult(module, options.for_passes_only);
  return status;
}

// A pass failed, or left the module broken: has it done once more, with the verifier after each
// pass, and writes down how the module stood before it.
absl::Status Explained(absl::Status status, const std::string& spec, const OptOptions& options,
                       const Reload& reload, PassMoment last) {
  auto module = reload();
  if (!module.ok()) return status;
  OptOptions quiet = QuietOptions(options);
  if (options.verify_each.empty()) {
    quiet.verify_each = "structure";
    PassReport unwanted;
    const absl::Status found = RunObserved(**module, spec, quiet, last, unwanted);
    if (ExitStatusOf(found) == kExitInternal) status = found;
    module = reload();
    if (!module.ok()) return status;
  }
  return Annotate(status,
                  absl::StrCat("pass ", last.pass,
                               WriteReproducerAt(**module, spec, last, status.message(), quiet)));
}

}  // namespace

absl::Status Transform(Module& module, const std::string& spec, const OptOptions& options,
                       const Reload& reload, std::vector<PassRun>& runs) {
  if (spec.empty() && options.explain.empty() && !options.stats) return absl::OkStatus();
  PassMoment last;
  PassReport report;
  const absl::Status status = RunObserved(module, spec, options, last, report);
  runs.insert(runs.end(), report.runs.begin(), report.runs.end());
  if (ExitStatusOf(status) != kExitInternal) return status;
  return Explained(status, spec, options, reload, last);
}

// The passes that would run, one a line, without those that flags leave out.
absl::StatusOr<std::string> PipelineText(const std::string& spec, const OptOptions& options) {
  ASSIGN_OR_RETURN(std::vector<PassStep> steps, ParsePassList(spec));
  LeaveOut(options.disable_passes, options.enable_passes_only, steps);
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

std::string PassNames() {
  std::vector<absl::string_view> names;
  const std::vector<PassInfo> passes = ListPasses();
  for (const PassInfo& pass : passes) names.push_back(pass.name);
  return absl::StrCat(absl::StrJoin(names, ","), "\n");
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
