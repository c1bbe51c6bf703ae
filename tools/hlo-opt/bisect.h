// The first step of a list of passes after which a module is bad.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "ir/module.h"
#include "tools/hlo-opt/options.h"

namespace hlokit {

// Runs `spec` with falling and rising limits on its steps (a pass is a step, so is each rewrite
// that passes ask leave for), by halves, and tells which step turns a good module bad: one that a
// pass fails on or leaves invalid, whose values on the interpreter differ (--bisect), or on which a
// command fails (--bisect=COMMAND). Says where the module is as it stood before that step. Errors:
// Aborted with the text where a step is guilty; InvalidArgument where the module is bad before any
// step. OK: nothing is wrong.
absl::Status BisectPasses(const Module& module, const std::string& spec, const OptOptions& options);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
