// Names of files and the lines that head them.
#include "tools/hlo-opt/reproducer.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "passes/framework/pass_list.h"
#include "passes/manager.h"
#include "printer/whole_text.h"
#include "support/file.h"
#include "tools/common/command.h"
#include "tools/hlo-opt/pass_spec.h"

namespace hlokit {
namespace {

// Each line of `text` as a comment.
std::string Commented(absl::string_view text) {
  std::string out;
  for (absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty()))
    absl::StrAppend(&out, "// ", line, "\n");
  return out;
}

}  // namespace

std::string ReproducerPath(const OptOptions& options) {
  return options.reproducer.empty() ? TemporaryPath("hlo-opt", "hlo") : options.reproducer;
}

std::vector<std::string> PassFlags(const OptOptions& options) {
  std::vector<std::string> flags;
  for (const std::string& plugin : options.plugins)
    flags.push_back(absl::StrCat("--load-pass-plugin=", plugin));
  const auto add = [&](absl::string_view flag, const std::vector<std::string>& names) {
    if (!names.empty()) flags.push_back(absl::StrCat(flag, "=", absl::StrJoin(names, ",")));
  };
  add("--disable-passes", options.disable_passes);
  add("--xla-enable-hlo-passes-only", options.enable_passes_only);
  return flags;
}

std::string ValueFlags(const OptOptions& options) {
  std::vector<std::string> flags = InputFlags(options.inputs);
  if (options.inputs.seed == 0) flags.insert(flags.begin(), "--seed=0");
  return absl::StrCat("--verify-each=interp ", absl::StrJoin(flags, " "));
}

OptOptions QuietOptions(OptOptions options) {
  options.print_before.clear();
  options.print_after.clear();
  options.print_after_all = options.print_changed = options.stats = options.time_passes = false;
  options.explain.clear();
  options.dump_to.clear();
  if (options.verify_each == "interp") options.verify_each = "structure";
  return options;
}

std::string WriteReproducer(const Module& module, absl::string_view flags, absl::string_view what,
                            const OptOptions& options) {
  const std::string path = ReproducerPath(options);
  std::vector<std::string> command = {"hlo-opt", path};
  for (const std::string& flag : PassFlags(options)) command.push_back(ShellWord(flag));
  const std::string head =
      absl::StrCat("// ", absl::StrJoin(command, " "), " ", flags, "\n", Commented(what),
                   options.command.empty() ? "" : Commented(absl::StrCat("by: ", options.command)));
  const absl::Status written = AtomicWriteFile(path, absl::StrCat(head, WholeText(module)));
  if (!written.ok()) return absl::StrCat(" (no reproducer: ", written.message(), ")");
  return absl::StrCat(" (see ", path, ")");
}

std::string WriteReproducerAt(Module& module, const std::string& spec, const PassMoment& moment,
                              absl::string_view what, const OptOptions& options) {
  auto replay = ManagerOptions(options);
  if (!replay.ok()) return "";
  replay->verify_each = false;
  replay->step_limit = moment.steps_before;
  PassReport report;
  if (absl::Status status = RunPasses(module, spec, *replay, &report); !status.ok())
    return absl::StrCat(" (no reproducer: ", status.message(), ")");
  std::string flags =
      absl::StrCat("--passes=", ShellWord(PassWithOptions(spec, moment.pass)), " --verify-each");
  if (const auto fuel = replay->fuel.find(moment.pass); fuel != replay->fuel.end()) {
    int64_t left = fuel->second;
    for (const PassRun& run : report.runs)
      if (run.name == moment.pass) left -= run.rewrites;
    absl::StrAppend(&flags, " --xla-fuel=", moment.pass, "=", left);
  }
  return WriteReproducer(
      module, flags, absl::StrCat("after ", moment.steps_before, " steps of ", spec, "\n", what),
      options);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
