// Checks that a module is well formed: structure, shapes, schedule, aliasing, collectives,
// asynchronous pairs.
#pragma once

#include "absl/status/status.h"
#include "ir/module.h"
#include "support/diagnostics.h"

namespace hlokit {

struct VerifyOptions {
  bool allow_unbounded = false;  // dimensions of unknown size, `?`
  // Takes what XLA's passes take as input although nothing executes it: instructions that mix float
  // types, a bare array as the result of rng-bit-generator or of a scan of one output, states of
  // random integers of any size, aliases of other sizes, products and calls whose stated sizes are
  // not those that follow from their operands, sizes as operands of rng.
  bool for_passes = false;
};

// Adds every error found to `out`, each with its place and label; returns the first. ops/rules.def
// lists the rules by label.
// Broken structure ends the check early, since other rules build on it. Time is near linear in the
// module's size.
absl::Status Verify(const Module& module, Diagnostics& out, const VerifyOptions& options = {});

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
