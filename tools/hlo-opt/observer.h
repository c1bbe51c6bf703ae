// What flags print and check around each pass.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "passes/manager.h"
#include "tools/hlo-opt/explain.h"
#include "tools/hlo-opt/options.h"
#include "tools/hlo-opt/pass_dump.h"
#include "tools/hlo-opt/stats.h"
#include "tools/hlo-opt/value_check.h"

namespace hlokit {

// Stands between the pass manager and --print-before, --print-after, --print-changed, --explain,
// --stats and --verify-each=interp. Modules and differences go to standard error as they come.
class Observer {
 public:
  // `spec`: the list of passes. `values` and the options outlive it; `values` may be null.
  Observer(const OptOptions& options, const std::string& spec, ValueCheck* values);

  // Before the first pass, and after the last. Errors: where --dump-to cannot be written.
  absl::Status Start(const Module& module);
  absl::Status End(const Module& module);

  void Before(absl::string_view pass, const Module& module);
  // Errors: Aborted where the pass changed values; of files.
  absl::Status After(const PassRun& run, const Module& module);
  void Rewrite(absl::string_view pass, absl::string_view rule, const Instruction& subject,
               const Instruction& replacement) {
    explanation_.Rewrite(pass, rule, subject, replacement);
  }

  // Whether calls before and after each pass, and for each rewrite, are of use.
  bool wants_before() const;
  bool wants_after() const;
  bool wants_rewrites() const { return !options_.explain.empty(); }

  // What is said at the end: --stats, --time-passes.
  std::string Summary(const PassReport& report) const;
  // --explain; empty without it.
  std::string Explained() const { return options_.explain.empty() ? "" : explanation_.Text(); }
  // That --explain names nothing, and what is near; empty where it does.
  const std::string& missing() const { return explanation_.missing(); }

 private:
  void PrintChange(const PassRun& run, const Module& module);
  absl::Status CheckValues(const PassRun& run, const Module& module);

  const OptOptions& options_;
  const std::string& spec_;
  ValueCheck* const values_;
  Explanation explanation_;
  ModuleStats stats_;
  std::optional<PassDump> dump_;     // --dump-to
  std::optional<std::string> text_;  // of the module as it stands; nullopt: not printed yet
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
