// cpu-parallel-task-assigner: what is worth several threads, said in the text.
#pragma once

#include "passes/pass.h"
#include "passes/pass_arguments.h"

namespace hlokit {

// Elementwise operations, data movement, reductions and loop fusions that are dear enough move into
// computations of their own (calls of parallel_NAME), and their configuration says in how many
// parts each of the outer dimensions is to be computed (outer_dimension_partitions). What moves
// more than it computes gets a part for each 256 KiB, at most the root of the threads; all else one
// for each 100,000 operations. Option: `threads` (8). hlokit's own CPU deals out work by itself.
// Cost: linear.
std::unique_ptr<Pass> CreateCpuParallelTaskAssigner(PassArguments& arguments);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
