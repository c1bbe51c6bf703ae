// Tables about passes: --stats and --time-passes.
#pragma once

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "ir/module.h"
#include "passes/manager.h"

namespace hlokit {

// --stats: what the module holds and costs, after each pass.
class ModuleStats {
 public:
  void Start(const Module& module);
  void After(const PassRun& run, const Module& module);

  // A line for the module as it was read, and one a pass; `=` where it changed nothing.
  std::string Text() const;

 private:
  std::vector<std::string> lines_;
};

// Passes in the order in which they ran, then, where some ran more often than once, each with the
// sum of its times, longest first.
std::string TimesText(const PassReport& report);

// --json: a list of objects with name, changed, rewrites, wall_s and processor_s, as they ran.
std::string PassesJson(absl::Span<const PassRun> runs);

// How often each pass ran and changed something, and how often each of its rules did.
std::string CountsText(const PassReport& report);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
