// The pipeline as a list, less what flags leave out.
#include "tools/hlo-run/chosen_passes.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "passes/framework/pass_list.h"
#include "passes/manager.h"
#include "passes/pipelines.h"
#include "support/status.h"
#include "support/text.h"
#include "tools/common/messages.h"

namespace hlokit {
namespace {

void WarnOfUnknown(const RunOptions& o) {
  const std::vector<PassInfo> passes = ListPasses();
  std::vector<std::string> unknown;
  for (const auto* names : {&o.disable_passes, &o.enable_passes_only})
    for (const std::string& name : *names)
      if (std::none_of(passes.begin(), passes.end(),
                       [&](const PassInfo& pass) { return pass.name == name; }))
        unknown.push_back(name);
  if (unknown.empty()) return;
  ShowFault("hlo-run", "warning",
            InvalidArgument("no pass here is called ", absl::StrJoin(unknown, ", "),
                            "; hlo-opt --list-passes names those that there are"));
}

}  // namespace

absl::Status ChoosePasses(const Module& module, RunOptions& o) {
  if (o.disable_passes.empty() && o.enable_passes_only.empty()) return absl::OkStatus();
  WarnOfUnknown(o);
  if (!o.run_passes || module.header().is_scheduled) return absl::OkStatus();  // none run
  std::string list = o.passes;
  if (list.empty()) {
    ASSIGN_OR_RETURN(const absl::string_view pipeline, PipelineSpec("cpu"));
    list = std::string(pipeline);
  }
  ASSIGN_OR_RETURN(std::vector<PassStep> steps, ParsePassList(list));
  LeaveOut(o.disable_passes, o.enable_passes_only, steps);
  o.passes = PassListText(steps);
  if (o.passes.empty()) o.run_passes = false;
  return absl::OkStatus();
}

absl::Status FixTripCounts(Module& module, const RunOptions& o) {
  if (o.while_rounds <= 0) return absl::OkStatus();
  return RunPasses(
      module, absl::StrCat("control-flow-flattening{while-execution-count=", o.while_rounds, "}"));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
