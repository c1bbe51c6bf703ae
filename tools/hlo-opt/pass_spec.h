// Which passes the flags of hlo-opt ask for, and how the pass manager runs them.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "passes/manager.h"
#include "tools/hlo-opt/options.h"

namespace hlokit {

// What --pipeline, --stage and --passes ask for, as one list. InvalidArgument for unknown names,
// here or in --print-before and --print-after.
absl::StatusOr<std::string> PassSpecOf(const OptOptions& options);

// Disables those of --xla-disable-hlo-passes that there are; a warning names the others.
void TakeXlaDisabled(OptOptions& options);

// How the pass manager runs them: what is left out, limited and verified; no observers.
absl::StatusOr<PassOptions> ManagerOptions(const OptOptions& options);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
