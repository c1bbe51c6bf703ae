// Copies where a value is passed under another layout than it has.
#pragma once

#include "absl/status/statusor.h"
#include "ir/module.h"

namespace hlokit {

// Layouts are part of no value: a callee's parameter may name another layout than the caller's
// operand, and so may the result of a call and the callee's root, the four shapes of a loop's
// state, a conditional's branches, a tuple and what it is made of, a get-tuple-element, an
// opt-barrier, a send and its recv, and the entry and entry_computation_layout. Code that takes
// buffers as they lie would read other elements. Afterwards the shapes on both sides of each such
// boundary have the same memory order; copies convert between them. Where entry_computation_layout
// differs from the entry, arguments and results lie as it says.
//
// Where a copy is needed, computations with several callers are copied first (flatten-call-graph).
// Schedules stay. Returns whether anything changed. Errors: those of flatten-call-graph.
absl::StatusOr<bool> ConvertLayoutsAtBoundaries(Module& module);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
