// memory-space-assignment: which arrays live in a small, fast memory.
#pragma once

#include "passes/pass.h"
#include "passes/pass_arguments.h"

namespace hlokit {

// Puts arrays that an instruction makes and plain instructions of the same computation read into
// memory `space` (1) for all of their lives, those first that cost fewest bytes per read, as long
// as never more than `bytes` (16 MiB) lie there at once; what loops, calls and branches put there
// counts with what lies there around them. Greedy, without copies between the memories: parameters,
// constants, results, parts of tuples and what lives longer than 1000 instructions stay. Values
// stay as they were, and schedules. Cost: linear, times the longest life.
std::unique_ptr<Pass> CreateMemorySpaceAssignment(PassArguments& arguments);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
