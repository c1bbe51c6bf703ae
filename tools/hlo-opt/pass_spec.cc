// Names are checked before anything runs.
#include "tools/hlo-opt/pass_spec.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "passes/pipelines.h"
#include "support/status.h"
#include "support/text.h"
#include "tools/common/messages.h"

namespace hlokit {
namespace {

absl::Status CheckNames(const std::vector<std::string>& names) {
  const std::vector<PassInfo> passes = ListPasses();
  std::vector<absl::string_view> known;
  for (const PassInfo& pass : passes) known.push_back(pass.name);
  for (const std::string& name : names)
    if (std::find(known.begin(), known.end(), name) == known.end())
      return InvalidArgument("no pass ", name, DidYouMean(name, known),
                             "; --list-passes names them");
  return absl::OkStatus();
}

void AppendPasses(std::string& spec, absl::string_view more) {
  if (!more.empty()) absl::StrAppend(&spec, spec.empty() ? "" : ",", more);
}

}  // namespace

void TakeXlaDisabled(OptOptions& options) {
  const std::vector<PassInfo> passes = ListPasses();
  std::vector<std::string> unknown;
  for (const std::string& name : options.xla_disable_passes) {
    const bool known = std::any_of(passes.begin(), passes.end(),
                                   [&](const PassInfo& pass) { return pass.name == name; });
    (known ? options.disable_passes : unknown).push_back(name);
  }
  options.xla_disable_passes.clear();
  if (unknown.empty()) return;
  ShowFault("hlo-opt", "warning",
            InvalidArgument("no pass here is called ", absl::StrJoin(unknown, ", "),
                            "; --list-passes names those that there are"));
}

absl::StatusOr<PassOptions> ManagerOptions(const OptOptions& options) {
  PassOptions made;
  made.verify_each = !options.verify_each.empty();
  made.for_passes = options.for_passes_only;
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

// The passes to run, comma-separated: the platform's own pipeline (for stages past hlo), then
// --pipeline, then --passes.
absl::StatusOr<std::string> PassSpecOf(const OptOptions& options) {
  std::string spec;
  // In XLA's hlo-opt --passes counts before the stage hlo.
  const bool compiles_to_hlo =
      options.names_hlo_stage && options.platform != "transforms" && options.passes.empty();
  if (options.stage != "hlo" || compiles_to_hlo) {
    // PTX is that of our own kernels, whatever XLA's compiler of the platform does.
    const bool is_ptx = options.stage == "ptx";
    if (is_ptx) AppendPasses(spec, kGpuExpanderPasses);
    ASSIGN_OR_RETURN(absl::string_view passes, PipelineSpec(is_ptx ? "cuda" : options.platform));
    // XLA schedules behind the stage hlo.
    if (options.stage == "hlo") absl::ConsumeSuffix(&passes, ",hlo-memory-scheduler");
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
  if (options.disable_all_passes) spec.clear();
  return spec;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
