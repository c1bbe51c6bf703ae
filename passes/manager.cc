// The pass manager: runs a list of passes, with everything around a pass that debugging needs.
//
// A list is text, `algsimp,fix<cse,dce>,fusion{x=1}`. A fix<...> repeats its passes until each has
// seen the module once without changing it, at most kMaxRounds times. From round kWatchedRound on
// the printed module is hashed after each round: a hash that comes back means that passes undo each
// other, which is reported, and the loop ends.
//
// A pass returns whether it changed the module. With verify_each or watch_changes the manager
// compares the module with a copy from before, prints both where that leaves it open, and reports
// passes that say otherwise. Permit() is asked before each single
// rewrite: it counts steps for --bisect-limit, fuel and statistics, so that a wrong rewrite can be
// found by bisection.
#include "passes/manager.h"

#include <time.h>

#include <algorithm>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "passes/framework/execution_threads.h"
#include "passes/framework/module_state.h"
#include "passes/framework/pass_list.h"
#include "passes/framework/schedule_keeper.h"
#include "passes/pass_registry.h"
#include "passes/pipelines.h"
#include "printer/printer.h"
#include "support/clock.h"
#include "support/status.h"
#include "support/text.h"
#include "verifier/verifier.h"

namespace hlokit {

namespace {

// The module that comes back in a fix<...> is looked for from this round on; most end before.
constexpr int kWatchedRound = 3;

// One pass, or a list that repeats.
struct Step {
  std::string name;  // as the list has it
  std::unique_ptr<Pass> pass;
  std::vector<Step> repeated;
};

// Why a pass of XLA's is not here; empty where XLA has none of that name, or we have it.
absl::string_view WhyAbsent(absl::string_view name) {
#define HLO_ABSENT_PASS(absent, reason) \
  if (name == absent) return reason;
#include "passes/absent.def"
#undef HLO_ABSENT_PASS
  return "";
}

absl::StatusOr<std::unique_ptr<Pass>> MakePass(const PassStep& step,
                                               absl::Span<const PassRow> rows) {
  for (const PassRow& row : rows) {
    if (row.name != step.name) continue;
    PassArguments arguments = step.arguments;
    std::unique_ptr<Pass> pass = row.make(arguments);
    RETURN_IF_ERROR(arguments.Check(row.name));
    if (pass == nullptr) return Internal("pass ", row.name, " was not made");
    return pass;
  }
  if (PipelineSpec(step.name).ok())
    return InvalidArgument("'", step.name,
                           "' is no pass but a pipeline (hlo-opt --pipeline=", step.name, ")");
  if (const absl::string_view why = WhyAbsent(step.name); !why.empty())
    return InvalidArgument("XLA's pass '", step.name, "' is not here: ", why);
  std::vector<absl::string_view> names;
  for (const PassRow& row : rows) names.push_back(row.name);
  // Its beginning is XLA's message.
  return InvalidArgument("INVALID_ARGUMENT: Pass ", step.name, " not found.",
                         DidYouMean(step.name, names), " hlo-opt --list-passes names them");
}

absl::StatusOr<std::vector<Step>> MakeSteps(absl::Span<const PassStep> list,
                                            absl::Span<const PassRow> rows) {
  std::vector<Step> steps;
  for (const PassStep& item : list) {
    Step step;
    if (item.name.empty()) {
      ASSIGN_OR_RETURN(step.repeated, MakeSteps(item.repeated, rows));
    } else {
      step.name = item.name;
      ASSIGN_OR_RETURN(step.pass, MakePass(item, rows));
    }
    steps.push_back(std::move(step));
  }
  return steps;
}

absl::StatusOr<std::vector<Step>> ParseSpec(absl::string_view text) {
  ASSIGN_OR_RETURN(const std::vector<PassStep> list, ParsePassList(text));
  return MakeSteps(list, *PassRows());
}

bool Holds(absl::Span<const std::string> names, absl::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Of this thread: what other work on the machine does not disturb.
double ProcessorSeconds() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

class Runner final : RewriteControl {
 public:
  Runner(Module& module, const PassOptions& options, PassReport& report)
      : module_(module), options_(options), report_(report), state_(options.at_start) {}

  absl::StatusOr<bool> RunAll(const std::vector<Step>& steps) {
    bool changed = false;
    for (const Step& step : steps) {
      ASSIGN_OR_RETURN(const bool here, step.pass ? RunOne(step) : RunFix(step.repeated));
      changed |= here;
    }
    return changed;
  }

 private:
  // Stops as soon as every pass has seen the module as it stands without changing it.
  absl::StatusOr<bool> RunFix(const std::vector<Step>& steps) {
    bool changed = false;
    size_t quiet = 0;
    absl::flat_hash_map<size_t, size_t> seen;  // a module's hash; the runs before it
    for (int round = 0; round < kMaxRounds; ++round) {
      if (round >= kWatchedRound && IsCycle(seen)) return changed;
      for (const Step& step : steps) {
        if (quiet == steps.size()) return changed;
        ASSIGN_OR_RETURN(const bool here, step.pass ? RunOne(step) : RunFix(step.repeated));
        changed |= here;
        quiet = here ? 0 : quiet + 1;
      }
    }
    return changed;
  }

  // Whether the module is one that `seen` holds; then the passes that changed it since are
  // reported.
  bool IsCycle(absl::flat_hash_map<size_t, size_t>& seen) {
    const size_t hash = absl::HashOf(Print(module_, PrintOptions::Fingerprint()));
    const auto [before, is_new] = seen.try_emplace(hash, report_.runs.size());
    if (is_new) return false;
    std::vector<absl::string_view> guilty;
    bool changed = false;
    for (size_t k = before->second; k < report_.runs.size(); ++k) {
      const PassRun& run = report_.runs[k];
      changed |= run.changed;
      if (run.said_changed && std::find(guilty.begin(), guilty.end(), run.name) == guilty.end())
        guilty.push_back(run.name);
    }
    const bool one = guilty.size() == 1;
    report_.cycles.push_back(absl::StrCat(
        absl::StrJoin(guilty, ", "), !changed ? (one ? " says that it changes what it does not"
                                                     : " say that they change what they do not")
                                     : one    ? " undoes its own work"
                                              : " undo each other's work"));
    return true;
  }

  bool IsLeftOut(absl::string_view pass) const {
    return Holds(options_.disabled, pass) ||
           (!options_.enabled_only.empty() && !Holds(options_.enabled_only, pass));
  }

  bool TakeStep() {
    if (options_.step_limit >= 0 && report_.steps >= options_.step_limit) return false;
    ++report_.steps;
    return true;
  }

  bool Permit(absl::string_view rule, const Instruction& subject,
              const Instruction& replacement) override {
    const auto fuel = options_.fuel.find(std::string(current_.name));
    int64_t& used = fuel_used_[current_.name];
    if (fuel != options_.fuel.end() && used >= fuel->second) return false;
    if (!TakeStep()) return false;
    ++used;
    ++current_.rewrites;
    ++report_.rules[{std::string(current_.name), std::string(rule)}];
    if (options_.rewrite) options_.rewrite(current_.name, rule, subject, replacement);
    return true;
  }

  // Gives what the pass says, so that watching its changes changes nothing.
  absl::StatusOr<bool> RunOne(const Step& step) {
    current_ = PassRun{step.name};
    if (IsLeftOut(step.name) || !TakeStep()) return false;
    if (options_.before) options_.before(step.name, module_);
    if (watches() && state_ == nullptr) Remember();
    RETURN_IF_ERROR(RunPass(*step.pass));
    if (watches()) SeeWhetherChanged();
    report_.runs.push_back(current_);
    const bool said = current_.said_changed, hidden = current_.changed && !said;
    if (options_.verify_each && current_.changed) RETURN_IF_ERROR(CheckAfter());
    if (options_.after) RETURN_IF_ERROR(options_.after(current_, module_));
    if (options_.verify_each && hidden)
      return Internal(step.name, " changed the module and says that it changed nothing");
    if (watches() && current_.changed != said) NoteMisreport();
    return said;
  }

  absl::Status RunPass(Pass& pass) {
    std::optional<ScheduleKeeper> schedules;
    if (!pass.handles_schedules()) schedules.emplace(module_);
    pass.set_control(this);
    const double start = SteadySeconds();
    const double processor_start = ProcessorSeconds();
    const int64_t first_new = module_.computation_id_bound();
    absl::StatusOr<bool> changed = pass.Run(module_);
    if (module_.computation_id_bound() > first_new) InheritThreads(module_, first_new);
    current_.processor_seconds = ProcessorSeconds() - processor_start;
    current_.seconds = SteadySeconds() - start;
    if (!changed.ok()) return Annotate(changed.status(), current_.name);
    current_.changed = current_.said_changed = *changed;
    if (!*changed && schedules) schedules->Restore();
    return absl::OkStatus();
  }

  bool watches() const { return options_.watch_changes || options_.verify_each; }

  // Sets current_.changed by the module. What only memory shows is a change where the pass says so.
  void SeeWhetherChanged() {
    fingerprint_.reset();
    current_.changed = state_->Differs(module_, current_.said_changed, fingerprint_);
    if (current_.changed || current_.said_changed) state_ = nullptr;
  }

  void Remember() {
    own_state_.emplace(module_, std::move(fingerprint_));
    fingerprint_.reset();
    state_ = &*own_state_;
  }

  // Once for each pass.
  void NoteMisreport() {
    std::string line = absl::StrCat(
        current_.name, current_.changed ? " changed the module and says that it changed nothing"
                                        : " changed nothing and says that it changed the module");
    if (!Holds(report_.misreports, line)) report_.misreports.push_back(std::move(line));
  }

  absl::Status CheckAfter() {
    Diagnostics diagnostics;
    if (absl::Status status = Verify(module_, diagnostics, {.for_passes = options_.for_passes});
        !status.ok())
      return Internal("the module is broken after ", current_.name,
                      current_.said_changed ? "" : ", which says that it changed nothing", ": ",
                      status.message());
    return absl::OkStatus();
  }

  Module& module_;
  const PassOptions& options_;
  PassReport& report_;
  PassRun current_;
  // Of the module before the next pass, where changes are watched; null: not taken yet.
  ModuleState* state_;
  std::optional<ModuleState> own_state_;
  std::optional<Fingerprint> fingerprint_;  // of the module as it stands, where it was taken
  std::map<std::string, int64_t, std::less<>> fuel_used_;
};

}  // namespace

absl::Status RunPasses(Module& module, absl::string_view list, const PassOptions& options,
                       PassReport* report) {
  ASSIGN_OR_RETURN(const std::vector<Step> steps, ParseSpec(list));
  PassReport unwanted;
  return Runner(module, options, report != nullptr ? *report : unwanted).RunAll(steps).status();
}

absl::Status CheckPassSpec(absl::string_view list) { return ParseSpec(list).status(); }

std::vector<PassInfo> ListPasses() {
  std::vector<PassInfo> passes;
  for (const PassRow& row : *PassRows()) {
    PassArguments none;
    row.make(none);
    passes.push_back({row.name, row.summary, none.Help()});
  }
  return passes;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
