// Lists of passes as text: fix<algsimp{layout-sensitive},dce>,cse.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "passes/framework/pass_arguments.h"

namespace hlokit {

// One pass with its options, or (where `name` is empty) a list that repeats until nothing changes.
struct PassStep {
  std::string name;
  PassArguments arguments;
  std::vector<PassStep> repeated;
};

// Reads names separated by commas, each with options in braces; fix<a,b> repeats a and b. Blanks
// around names do not count. Errors: InvalidArgument for brackets that do not match, for nesting
// deeper than 8, for options that PassArguments refuses. Whether such passes exist is not asked.
absl::StatusOr<std::vector<PassStep>> ParsePassList(absl::string_view text);

// The inverse of ParsePassList: on one line, or (`indented`) a pass a line with lists set in.
std::string PassListText(absl::Span<const PassStep> steps, bool indented = false);

// Takes out the passes that `left_out` names and, unless it is empty, those that `kept_alone` does
// not name; then repetitions of nothing.
void LeaveOut(absl::Span<const std::string> left_out, absl::Span<const std::string> kept_alone,
              std::vector<PassStep>& steps);

// The first pass of that name in `list`, with its options; `name` where there is none.
std::string PassWithOptions(absl::string_view list, absl::string_view name);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
