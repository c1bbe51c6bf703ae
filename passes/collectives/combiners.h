// Many small collectives as one.
#pragma once

#include "passes/pass.h"
#include "passes/pass_arguments.h"

namespace hlokit {

// all-reduce-combiner, all-gather-combiner, reduce-scatter-combiner, collective-permute-combiner:
// collectives of one kind, groups, element type and function of which none needs another become one
// of several operands. Options: `bytes` (at most so many in one; 30 MiB) and `count` (at most so
// many operands; 256). Exact. Cost: linear for each operand of what is made.
std::unique_ptr<Pass> CreateAllReduceCombiner(PassArguments& arguments);
std::unique_ptr<Pass> CreateAllGatherCombiner(PassArguments& arguments);
std::unique_ptr<Pass> CreateReduceScatterCombiner(PassArguments& arguments);
std::unique_ptr<Pass> CreateCollectivePermuteCombiner(PassArguments& arguments);
// The all-reduce-combiner under the name it has on XLA's CPU.
std::unique_ptr<Pass> CreateCpuAllReduceCombiner(PassArguments& arguments);

// Combiners under the names that they have on XLA's GPUs, which choose `bytes` by the device.
std::unique_ptr<Pass> CreateGpuAllReduceCombiner(PassArguments& arguments);
std::unique_ptr<Pass> CreateGpuAllGatherCombiner(PassArguments& arguments);
std::unique_ptr<Pass> CreateGpuReduceScatterCombiner(PassArguments& arguments);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
