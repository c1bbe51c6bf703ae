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

// Adds every error found to `out`, each with its place and label; returns the first. The rules, by
// label:
//   module-cN       entry computation, calls within the module, no recursion
//   computation-cN  operands, users, root, parameter numbers, control edges, no cycles
//   shape-cN        sizes that can be counted, layouts that are permutations, no unbounded
//   dimensions OP-cN           the operation's own inference (ops/<family>.cc); OP-c99: its result
//   is not the stated shape entry-cN, alias-cN, donor-cN, schedule-cN, sharding-cN, group-cN,
//   channel-cN, async-cN
// Broken structure ends the check early, since other rules build on it. Time is near linear in the
// module's size.
absl::Status Verify(const Module& module, Diagnostics& out, const VerifyOptions& options = {});

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
