// The pass manager: runs a list of passes given as text; times them, verifies between them,
// reports.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "passes/pass.h"

namespace hlokit {

struct PassRun {
  absl::string_view name;
  bool changed = false;
  double seconds = 0;
};

struct PassOptions {
  bool verify_each = false;
  std::vector<std::string> disabled;  // passes of these names are left out
  // Called around each pass; may be empty.
  std::function<void(absl::string_view pass, const Module&)> before;
  std::function<void(const PassRun&, const Module&)> after;
};

struct PassReport {
  std::vector<PassRun> runs;  // in order; passes inside fix<...> once a round
};

// Runs passes over the module. `spec` lists them: names separated by commas; fix<a,b> repeats a and
// b until neither changes anything (or kMaxRounds rounds). Where a pass changed the module, its
// schedules are dropped (they would name what is gone). Errors: InvalidArgument for an unknown name
// (with a near match) or an unclosed fix<; what a pass fails with; Internal, naming the pass, where
// verify_each finds the module broken.
inline constexpr int kMaxRounds = 6;
absl::Status RunPasses(Module& module, absl::string_view spec, const PassOptions& options = {},
                       PassReport* report = nullptr);

// InvalidArgument where `spec` could not be run.
absl::Status CheckPassSpec(absl::string_view spec);

struct PassInfo {
  absl::string_view name;
  absl::string_view summary;
};
// All passes, sorted by name.
std::vector<PassInfo> ListPasses();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
