// What hlo-opt prints and checks around passes: texts before and after, the difference between them
// (--print-changed), dumps in XLA's names, statistics, and values (--verify-each=interp). A text is
// printed once and kept for the next pass's comparison.
#include "tools/hlo-opt/observer.h"

#include <algorithm>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "passes/framework/pass_list.h"
#include "printer/printer.h"
#include "support/status.h"
#include "tools/common/command.h"
#include "tools/common/diff.h"
#include "tools/common/messages.h"
#include "tools/hlo-opt/reproducer.h"

namespace hlokit {
namespace {

void PrintError(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stderr); }

bool Holds(const std::vector<std::string>& names, absl::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string Heading(absl::string_view text) {
  return ErrorsHaveColours() ? absl::StrCat("\033[1m", text, "\033[0m\n")
                             : absl::StrCat(text, "\n");
}

}  // namespace

Observer::Observer(const OptOptions& options, const std::string& spec, ValueCheck* values)
    : options_(options), spec_(spec), values_(values), explanation_(options.explain, spec) {
  if (!options.dump_to.empty())
    dump_.emplace(PassDump::Files{options.dump_to, "hlo-opt"}, options.module_number);
  else if (!options.xla_dump_to.empty() && !options.xla_dump_pass_re.empty())
    dump_.emplace(
        PassDump::Files{options.xla_dump_to, "transforms_pipeline", options.xla_dump_pass_re},
        options.module_number);
}

bool Observer::wants_before() const {
  return dump_ || options_.print_changed || !options_.print_before.empty() ||
         !options_.explain.empty();
}

bool Observer::wants_after() const {
  return dump_ || options_.print_changed || options_.print_after_all ||
         !options_.print_after.empty() || !options_.explain.empty() || options_.stats ||
         values_ != nullptr;
}

absl::Status Observer::Start(const Module& module) {
  if (options_.stats) stats_.Start(module);
  return dump_ ? dump_->Start() : absl::OkStatus();
}

absl::Status Observer::End(const Module& module) {
  explanation_.End(module);
  if (dump_) dump_->Before("pipeline-end", module);
  return dump_ ? dump_->status() : absl::OkStatus();
}

void Observer::Before(absl::string_view pass, const Module& module) {
  if (dump_) dump_->Before(pass, module);
  if (Holds(options_.print_before, pass))
    PrintError(absl::StrCat(Heading(absl::StrCat("// before ", pass)), Print(module)));
  if (options_.print_changed && !text_) text_ = Print(module);
  if (!options_.explain.empty()) explanation_.Before(pass, module);
}

absl::Status Observer::After(const PassRun& run, const Module& module) {
  if (dump_) RETURN_IF_ERROR(dump_->After(run));
  if (options_.print_after_all || Holds(options_.print_after, run.name))
    PrintError(absl::StrCat(
        Heading(absl::StrCat("// after ", run.name, run.changed ? "" : ", which changed nothing")),
        Print(module)));
  if (!options_.explain.empty()) explanation_.After(run, module);
  if (options_.print_changed) PrintChange(run, module);
  if (options_.stats) stats_.After(run, module);
  return run.changed && values_ != nullptr ? CheckValues(run, module) : absl::OkStatus();
}

void Observer::PrintChange(const PassRun& run, const Module& module) {
  std::string now = run.changed ? Print(module) : *text_;
  if (now == *text_) {
    PrintError(absl::StrCat("// ", run.name, " changed nothing",
                            run.changed ? " that text shows\n" : "\n"));
    return;
  }
  const std::string diff = LineDiff(*text_, now);
  PrintError(absl::StrCat(Heading(absl::StrCat("// ", run.name, " changed")),
                          ErrorsHaveColours() ? DiffInColours(diff) : diff));
  text_ = std::move(now);
}

// Evaluates the module and compares it with the values before the pass; where they differ, the
// error names a reproducer.
absl::Status Observer::CheckValues(const PassRun& run, const Module& module) {
  const absl::Status status = values_->Check(module);
  if (status.ok()) return status;
  if (absl::IsUnimplemented(status))  // nothing is known of the results
    return Annotate(status, absl::StrCat("after ", run.name, " nothing is compared"));
  const std::string what = absl::StrCat(
      run.name, " changed values", run.said_changed ? "" : " and says that it changed nothing");
  const std::string flags = absl::StrCat("--passes=", ShellWord(PassWithOptions(spec_, run.name)),
                                         " ", ValueFlags(options_));
  return Annotate(status,
                  absl::StrCat(what, WriteReproducer(values_->before(), flags, what, options_)));
}

std::string Observer::Summary(const PassReport& report) const {
  std::string text;
  if (options_.time_passes) text += TimesText(report);
  if (options_.stats) absl::StrAppend(&text, stats_.Text(), CountsText(report));
  return text;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
