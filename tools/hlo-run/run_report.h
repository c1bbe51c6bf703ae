// What hlo-run tells of a run besides what it compares: results, times, counts, profile, JSON.
#pragma once

#include "absl/status/status.h"
#include "tools/common/load.h"
#include "tools/hlo-run/execute.h"
#include "tools/hlo-run/options.h"

namespace hlokit {

// Prints what the options ask for and writes the files that they name.
absl::Status Report(const RunOptions& o, const LoadedModule& loaded, const Execution& execution);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
