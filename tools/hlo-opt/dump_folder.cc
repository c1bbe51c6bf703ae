// What hlo-opt does with a dump folder of XLA: a table of its stages, the difference between two of
// them, what the passes did to one instruction, or a replay (each pass of ours on the module as it stood before XLA's pass of the same
// name, compared with the module after). Stages are read one after the other; two are held in
// memory at a time.
#include "tools/hlo-opt/dump_folder.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "analysis/module_match.h"
#include "analysis/module_size.h"
#include "passes/manager.h"
#include "printer/printer.h"
#include "support/file.h"
#include "support/status.h"
#include "support/text.h"
#include "tools/common/diff.h"
#include "tools/common/dump_folder.h"
#include "tools/common/exit_status.h"
#include "tools/common/load.h"
#include "tools/hlo-opt/explain.h"

namespace hlokit {
namespace {

absl::StatusOr<std::unique_ptr<Module>> Load(const DumpStage& stage, const OptOptions& options) {
  ASSIGN_OR_RETURN(const auto source, ReadSource(stage.path));
  LoadOptions load;
  load.verify = options.verify;
  load.allow_unknown_attributes = options.allow_unknown_attributes;
  ASSIGN_OR_RETURN(LoadedModule loaded, LoadModule(source, load));
  return std::move(loaded.module);
}

struct Change {
  int64_t added = 0, removed = 0, changed = 0;
  bool none() const { return added + removed + changed == 0; }
};

// Counts of a structural difference, blind to names.
Change ChangeBetween(const Module& before, const Module& after) {
  const ModuleMatch match(before, after);
  const ModuleDifference difference = Difference(before, after, match);
  return {static_cast<int64_t>(difference.added.size()),
          static_cast<int64_t>(difference.removed.size()),
          static_cast<int64_t>(difference.changed.size())};
}

bool HasPass(absl::string_view name) {
  const auto passes = ListPasses();
  return std::any_of(passes.begin(), passes.end(),
                     [&](const PassInfo& pass) { return pass.name == name; });
}

// A table of one module's stages.
absl::Status AppendStages(const DumpedModule& module, const OptOptions& options, std::string& out) {
  absl::StrAppendFormat(&out, "%s\n%6s %12s %7s %7s %7s  %s\n", module.name, "stage",
                        "instructions", "added", "removed", "changed", "pass (pipeline)");
  std::unique_ptr<Module> before;
  for (const DumpStage& stage : module.stages) {
    ASSIGN_OR_RETURN(std::unique_ptr<Module> now, Load(stage, options));
    const Change change = before != nullptr ? ChangeBetween(*before, *now) : Change();
    const bool numbered = stage.number != kBeforeAll && stage.number != kAfterAll;
    absl::StrAppendFormat(&out, "%6s %12d %7d %7d %7d  %s%s\n",
                          numbered ? absl::StrFormat("%04d", stage.number) : "",
                          InstructionCount(*now), change.added, change.removed, change.changed,
                          numbered ? stage.pass : stage.Title(),
                          numbered ? absl::StrCat(" (", stage.pipeline, ")") : "");
    before = std::move(now);
  }
  return absl::OkStatus();
}

absl::StatusOr<const DumpStage*> FindStage(const DumpedModule& module, absl::string_view wanted) {
  int64_t number = 0;
  const bool is_number = absl::SimpleAtoi(wanted, &number);
  std::vector<std::string> names;
  for (const DumpStage& stage : module.stages) {
    if (is_number ? stage.number == number : stage.pass == wanted || stage.Title() == wanted)
      return &stage;
    names.push_back(stage.pass.empty() ? stage.Title() : stage.pass);
  }
  const std::vector<absl::string_view> views(names.begin(), names.end());
  return NotFound(module.name, " has no stage ", wanted, DidYouMean(wanted, views),
                  "; hlo-opt FOLDER lists them");
}

absl::StatusOr<bool> AppendBetween(const DumpedModule& module, const OptOptions& options,
                                   std::string& out) {
  ASSIGN_OR_RETURN(const DumpStage* first, FindStage(module, options.between[0]));
  ASSIGN_OR_RETURN(const DumpStage* second, FindStage(module, options.between[1]));
  ASSIGN_OR_RETURN(const auto before, Load(*first, options));
  ASSIGN_OR_RETURN(const auto after, Load(*second, options));
  const std::string diff = LineDiff(Print(*before), Print(*after));
  if (diff.empty()) return false;
  absl::StrAppend(&out, "--- ", first->path, "\n+++ ", second->path, "\n", diff);
  return true;
}

// Our pass on the module as it stood before; true if the result is XLA's.
absl::StatusOr<bool> AppendReplay(const DumpStage& stage, Module& ours, const Module& theirs,
                                  std::string& out) {
  if (absl::Status status = RunPasses(ours, stage.pass); !status.ok()) {
    absl::StrAppendFormat(&out, "%04d %-40s fails: %s\n", stage.number, stage.pass,
                          status.message());
    return false;
  }
  const Change change = ChangeBetween(theirs, ours);
  absl::StrAppendFormat(&out, "%04d %-40s ", stage.number, stage.pass);
  if (change.none()) {
    out += "the same\n";
    return true;
  }
  absl::StrAppendFormat(&out, "%d instructions, XLA %d; %d added, %d missing, %d other\n",
                        InstructionCount(ours), InstructionCount(theirs), change.added,
                        change.removed, change.changed);
  return false;
}

// True where all of our passes gave XLA's results.
absl::StatusOr<bool> AppendReplays(const DumpedModule& module, const OptOptions& options,
                                   std::string& out) {
  absl::StrAppend(&out, module.name, "\n");
  bool all_same = true;
  std::unique_ptr<Module> before;
  for (const DumpStage& stage : module.stages) {
    ASSIGN_OR_RETURN(std::unique_ptr<Module> now, Load(stage, options));
    const bool known = !stage.pass.empty() && HasPass(stage.pass);
    if (before != nullptr && known) {
      ASSIGN_OR_RETURN(const bool same, AppendReplay(stage, *before, *now, out));
      all_same &= same;
    } else if (!stage.pass.empty() && stage.pass != "pipeline-start") {
      absl::StrAppendFormat(&out, "%04d %-40s no pass of ours\n", stage.number, stage.pass);
    }
    before = std::move(now);
  }
  return all_same;
}

// --explain: what the passes of the dump did to an instruction.
absl::Status AppendExplanation(const DumpedModule& module, const OptOptions& options,
                               std::string& out) {
  Explanation explanation(options.explain, "");
  std::unique_ptr<Module> before;
  for (const DumpStage& stage : module.stages) {
    ASSIGN_OR_RETURN(std::unique_ptr<Module> now, Load(stage, options));
    if (before != nullptr) explanation.Between(stage.Title(), *before, *now);
    before = std::move(now);
  }
  if (before != nullptr) explanation.End(*before);
  absl::StrAppend(&out, module.name, "\n", explanation.Text());
  return absl::OkStatus();
}

}  // namespace

int RunOnDumpFolder(const OptOptions& options) {
  if (!options.between.empty() && options.between.size() != 2)
    return ReportError(kTool, InvalidArgument("--between takes two stages, A,B"));
  const auto modules = ReadDumpFolder(options.input);
  if (!modules.ok()) return ReportError(kTool, modules.status());
  std::string out;
  int exit_status = kExitDone;
  for (const DumpedModule& module : *modules) {
    if (!options.explain.empty()) {
      if (absl::Status status = AppendExplanation(module, options, out); !status.ok())
        return ReportError(kTool, status);
    } else if (!options.between.empty() || options.replay) {
      const auto fine = options.replay ? AppendReplays(module, options, out)
                                       : AppendBetween(module, options, out);
      if (!fine.ok()) return ReportError(kTool, fine.status());
      if (*fine != options.replay) exit_status = kExitCheckFailed;
    } else if (absl::Status status = AppendStages(module, options, out); !status.ok()) {
      return ReportError(kTool, status);
    }
  }
  if (absl::Status written = AtomicWriteFile(options.output, out); !written.ok())
    return ReportError(kTool, written);
  return exit_status;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
