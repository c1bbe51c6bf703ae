// Which passes run, where flags leave some of the platform's out.
#pragma once

#include "absl/status/status.h"
#include "ir/module.h"
#include "tools/hlo-run/options.h"

namespace hlokit {

// --disable-passes and --enable-passes-only: makes the rest of the pipeline `options.passes`. A
// name that is no pass of ours, such as one of XLA's for GPUs, is told in a warning and leaves
// nothing out.
absl::Status ChoosePasses(const Module& module, RunOptions& options);

// --while-execution-count: loops of the module run so many rounds.
absl::Status FixTripCounts(Module& module, const RunOptions& options);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
