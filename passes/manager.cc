// Pass lists as text, and the loop that runs them.
#include "passes/manager.h"

#include <algorithm>
#include <chrono>

#include "absl/strings/ascii.h"
#include "support/status.h"
#include "support/text.h"
#include "verifier/verifier.h"

namespace hlokit {

#define HLO_PASS(flag, factory, summary) std::unique_ptr<Pass> factory();
#include "passes/passes.def"
#undef HLO_PASS

namespace {

struct Row {
  PassInfo info;
  std::unique_ptr<Pass> (*make)();
};

constexpr Row kRows[] = {
#define HLO_PASS(flag, factory, summary) {{flag, summary}, &factory},
#include "passes/passes.def"
#undef HLO_PASS
};

// One pass, or a list that repeats.
struct Step {
  std::unique_ptr<Pass> pass;
  std::vector<Step> repeated;
};

absl::StatusOr<std::unique_ptr<Pass>> MakePass(absl::string_view name) {
  std::vector<absl::string_view> names;
  for (const Row& row : kRows) {
    if (row.info.name == name) return row.make();
    names.push_back(row.info.name);
  }
  return InvalidArgument("unknown pass '", name, "'", DidYouMean(name, names));
}

// Reads steps up to the end or an unmatched '>', which stays.
absl::StatusOr<std::vector<Step>> ParseSteps(absl::string_view& text, int depth) {
  std::vector<Step> steps;
  while (!text.empty() && text[0] != '>') {
    const size_t end = std::min(text.find_first_of(",<>"), text.size());
    const absl::string_view name = absl::StripAsciiWhitespace(text.substr(0, end));
    text.remove_prefix(end);
    if (!text.empty() && text[0] == '<') {
      if (name != "fix")
        return InvalidArgument("only fix<...> takes a list of passes, not '", name, "'");
      if (depth > 8) return InvalidArgument("fix<...> is nested too deeply");
      text.remove_prefix(1);
      ASSIGN_OR_RETURN(std::vector<Step> inner, ParseSteps(text, depth + 1));
      if (text.empty()) return InvalidArgument("fix< has no closing '>'");
      text.remove_prefix(1);
      steps.push_back({nullptr, std::move(inner)});
    } else if (!name.empty()) {
      ASSIGN_OR_RETURN(std::unique_ptr<Pass> pass, MakePass(name));
      steps.push_back({std::move(pass), {}});
    }
    if (!text.empty() && text[0] == ',') text.remove_prefix(1);
  }
  return steps;
}

absl::StatusOr<std::vector<Step>> ParseSpec(absl::string_view spec) {
  absl::string_view rest = spec;
  ASSIGN_OR_RETURN(std::vector<Step> steps, ParseSteps(rest, 0));
  if (!rest.empty()) return InvalidArgument("'>' without fix< in the list of passes '", spec, "'");
  return steps;
}

// Takes the schedules out while a pass runs; puts them back where it changed nothing.
class ScheduleKeeper {
 public:
  explicit ScheduleKeeper(Module& module)
      : module_(module), scheduled_(module.header().is_scheduled) {
    for (Computation* c : module.Computations()) {
      if (!c->has_schedule()) continue;
      kept_.push_back({c, {c->schedule().begin(), c->schedule().end()}});
      c->clear_schedule();
    }
    module.header().is_scheduled = false;
  }
  void Restore() {
    for (auto& [computation, schedule] : kept_) computation->set_schedule(std::move(schedule));
    module_.header().is_scheduled = scheduled_;
  }

 private:
  Module& module_;
  bool scheduled_;
  std::vector<std::pair<Computation*, std::vector<Instruction*>>> kept_;
};

class Runner {
 public:
  Runner(Module& module, const PassOptions& options, PassReport* report)
      : module_(module), options_(options), report_(report) {}

  absl::StatusOr<bool> RunAll(const std::vector<Step>& steps) {
    bool changed = false;
    for (const Step& step : steps) {
      ASSIGN_OR_RETURN(const bool here, step.pass ? RunOne(*step.pass) : RunFix(step.repeated));
      changed |= here;
    }
    return changed;
  }

 private:
  // Stops as soon as every pass has seen the module as it stands without changing it.
  absl::StatusOr<bool> RunFix(const std::vector<Step>& steps) {
    bool changed = false;
    size_t quiet = 0;
    for (int round = 0; round < kMaxRounds; ++round) {
      for (const Step& step : steps) {
        if (quiet == steps.size()) return changed;
        ASSIGN_OR_RETURN(const bool here, step.pass ? RunOne(*step.pass) : RunFix(step.repeated));
        changed |= here;
        quiet = here ? 0 : quiet + 1;
      }
    }
    return changed;
  }

  absl::StatusOr<bool> RunOne(Pass& pass) {
    PassRun run{pass.name()};
    if (std::find(options_.disabled.begin(), options_.disabled.end(), pass.name()) !=
        options_.disabled.end())
      return false;
    if (options_.before) options_.before(pass.name(), module_);
    ScheduleKeeper schedules(module_);
    const auto start = std::chrono::steady_clock::now();
    absl::StatusOr<bool> changed = pass.Run(module_);
    run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (!changed.ok()) return Annotate(changed.status(), pass.name());
    run.changed = *changed;
    if (!run.changed) schedules.Restore();
    if (report_ != nullptr) report_->runs.push_back(run);
    if (options_.after) options_.after(run, module_);
    if (options_.verify_each && run.changed) RETURN_IF_ERROR(CheckAfter(pass));
    return run.changed;
  }

  absl::Status CheckAfter(Pass& pass) {
    Diagnostics diagnostics;
    if (absl::Status status = Verify(module_, diagnostics); !status.ok())
      return Internal("the module is broken after ", pass.name(), ": ", status.message());
    return absl::OkStatus();
  }

  Module& module_;
  const PassOptions& options_;
  PassReport* report_;
};

}  // namespace

absl::Status RunPasses(Module& module, absl::string_view spec, const PassOptions& options,
                       PassReport* report) {
  ASSIGN_OR_RETURN(const std::vector<Step> steps, ParseSpec(spec));
  return Runner(module, options, report).RunAll(steps).status();
}

absl::Status CheckPassSpec(absl::string_view spec) { return ParseSpec(spec).status(); }

std::vector<PassInfo> ListPasses() {
  std::vector<PassInfo> passes;
  for (const Row& row : kRows) passes.push_back(row.info);
  return passes;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
