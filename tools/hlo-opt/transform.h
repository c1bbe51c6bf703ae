// The passes of one call of hlo-opt, and what its flags print about them.
#pragma once

#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/module.h"
#include "passes/manager.h"
#include "tools/hlo-opt/options.h"

namespace hlokit {

// Gives the module anew as it stood before all passes.
using Reload = std::function<absl::StatusOr<std::unique_ptr<Module>>()>;

// Runs `spec` and, unless told not to, verifies the result. Modules, differences, times and counts
// that flags ask for go to standard error. Errors: Aborted where --verify-each=interp finds that
// values changed; Internal, naming the pass and a file that shows the fault, where one fails or
// breaks the module. What ran is added to `runs`.
absl::Status Transform(Module& module, const std::string& spec, const OptOptions& options,
                       const Reload& reload, std::vector<PassRun>& runs);

// A line a pass: its name, a tab, what it does; its options set in below it; then the pipelines.
std::string PassList();

// The names of the passes, with commas between them, on one line.
std::string PassNames();

// `spec` with a pass a line, lists that repeat set in, without what the flags leave out.
absl::StatusOr<std::string> PipelineText(const std::string& spec, const OptOptions& options);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
