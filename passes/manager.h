// The pass manager: runs a list of passes given as text; times them, counts their rewrites,
// verifies between them, reports.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "passes/framework/module_state.h"
#include "passes/framework/pass.h"

namespace hlokit {

struct PassRun {
  std::string name;  // as the list has it
  // Whether the module changed: as the module shows where changes are watched, else as the pass
  // says.
  bool changed = false;
  bool said_changed = false;  // what the pass says
  double seconds = 0, processor_seconds = 0;
  int64_t rewrites = 0;  // those that asked for permission and got it
};

struct PassOptions {
  bool verify_each = false;  // and watch_changes
  // Compare the module before and after each pass: what passes say of it may be wrong. Costs a walk
  // of the module for each pass, and about as much as printing it twice for one that changes it.
  // What runs does not depend on it.
  bool watch_changes = false;
  // What watch_changes remembers of the module as it is before the first pass, where the caller
  // has it for many runs on copies of one module; null: it is taken.
  ModuleState* at_start = nullptr;
  bool for_passes = false;  // VerifyOptions::for_passes of verify_each
  std::vector<std::string> disabled;      // passes of these names are left out
  std::vector<std::string> enabled_only;  // where not empty, all others are left out
  // At most so many steps happen: running a pass is a step, and so is each rewrite that asks for
  // permission. -1: no limit. The same limit gives the same module.
  int64_t step_limit = -1;
  // A pass of this name makes at most so many rewrites (XLA's xla_fuel).
  std::map<std::string, int64_t> fuel;
  // Called around each pass; may be empty. `after` comes after verify_each; its error stops the
  // run.
  std::function<void(absl::string_view pass, const Module&)> before;
  std::function<absl::Status(const PassRun&, const Module&)> after;
  // Called before each rewrite that is permitted; may be empty.
  std::function<void(absl::string_view pass, absl::string_view rule, const Instruction& subject,
                     const Instruction& replacement)>
      rewrite;
};

struct PassReport {
  std::vector<PassRun> runs;  // in order; passes inside fix<...> once a round
  int64_t steps = 0;          // as step_limit counts them
  std::map<std::pair<std::string, std::string>, int64_t> rules;  // times by pass and rule
  // A line for each fix<...> whose passes undid each other: it was left when the module came back.
  std::vector<std::string> cycles;
  // With watch_changes, a line for each pass that said that it changed the module and did not, or
  // the other way round.
  std::vector<std::string> misreports;
};

// Runs passes over the module. `list` is as ParsePassList reads it: names separated by commas, with
// options in braces; fix<a,b> repeats a and b until neither changes anything, kMaxRounds rounds
// have passed, or the module is one that an earlier round left (a cycle; the report names its
// passes). Where a pass says that it changed the module, its schedules are dropped (they would name
// what is gone), and where they do not fit any more, whatever it says. Errors: InvalidArgument for
// an unknown name or option (with a near match) or unmatched brackets; what a pass fails with;
// Internal, naming the pass, where verify_each finds the module broken, or changed by a pass that
// says otherwise.
inline constexpr int kMaxRounds = 25;
absl::Status RunPasses(Module& module, absl::string_view list, const PassOptions& options = {},
                       PassReport* report = nullptr);

// InvalidArgument where `list` could not be run.
absl::Status CheckPassSpec(absl::string_view list);

struct PassInfo {
  std::string name, summary;
  std::vector<std::string> options;  // a clause each: its name, what it takes, what it does
};
// All passes: our own sorted by name, then those of plugins.
std::vector<PassInfo> ListPasses();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
