// spmd-partitioning: one program for all partitions out of a program on whole arrays.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// Cuts every array as its sharding says (an instruction without one as its operands are cut), and
// puts collectives where an instruction needs more than its own part: elementwise operations,
// broadcasts, transposes, reshapes, slices, pads, concatenations, gathers, sorts, reduces, dots and
// convolutions are computed on parts along the dimensions that they leave alone; sums over cut
// dimensions of reduces and dots end in an all-reduce; all else is computed whole on every device.
// Manual regions (between SPMDFullToShardShape and SPMDShardToFullShape) are taken as they are; in
// those that are manual on some axes of the mesh only, what the other axes cut is partitioned in
// the same way within the groups of devices that share it, but for their own collectives, which
// take whole arrays. The entry's parameters and results become parts. A module whose entry is named
// ..._spmd, as those are that the pass has made, only loses its shardings, but for those of
// parameters. Errors: Unimplemented for nested tuples, dynamic dimensions, and instructions with
// side effects. Exact but for the order of sums.
std::unique_ptr<Pass> CreateSpmdPartitioner();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
