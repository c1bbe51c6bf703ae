// Checks that a module is well formed: structure, shapes, schedule, aliasing, collectives,
// asynchronous pairs.
#pragma once

#include "absl/status/status.h"
#include "ir/module.h"
#include "support/diagnostics.h"

namespace hlokit {

struct VerifyOptions {
  bool allow_unbounded = false;  // dimensions of unknown size, `?`
};

// Adds every error found to `out`, each with its place and label; returns the first. ops/rules.def
// lists the rules by label.
// Broken structure ends the check early, since other rules build on it. Time is near linear in the
// module's size.
absl::Status Verify(const Module& module, Diagnostics& out, const VerifyOptions& options = {});

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
