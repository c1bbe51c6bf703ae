// Whether a buffer assignment keeps every array until its last reader: found by walking through the
// program as it runs, not from the times that the planner works with.
#pragma once

#include "absl/status/status.h"
#include "analysis/buffer_assignment.h"

namespace hlokit {

// Follows what lies in each slice of memory through one run: loops take two rounds, branches are
// all taken. Preconditions: those of BufferAssignment::Make, of which `buffers` is a result.
// Errors: Internal, with the place of the first instruction that reads an array (or takes it as the
// state of a loop, the result of a branch or of the module) where its slice does not hold it.
absl::Status CheckBuffers(const Module& module, const BufferAssignment& buffers);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
