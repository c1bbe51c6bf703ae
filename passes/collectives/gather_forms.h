// All-gathers, and reductions over devices, in forms that machines of several hosts want.
#pragma once

#include "passes/pass.h"
#include "passes/pass_arguments.h"

namespace hlokit {

// all-gather-optimizer: an elementwise operation of two all-gathers of the same form, which nothing
// else reads, becomes an all-gather of the operation. Exact.
std::unique_ptr<Pass> CreateAllGatherOptimizer();

// all-gather-major-dimension-rewriter: all-gathers of one array along another dimension than the
// first become ones along the first, with transposes around them. Exact.
std::unique_ptr<Pass> CreateAllGatherMajorDimensionRewriter();

// all-reduce-blueconnect: an all-reduce of one array in groups of several hosts, of each of which
// equally many devices belong to the group, becomes a reduce-scatter within each host, an
// all-reduce between hosts, and an all-gather within each host. Option: `devices-per-host` (8).
// Reassociates floats.
std::unique_ptr<Pass> CreateAllReduceBlueConnect(PassArguments& arguments);

// collective-select-folder: a collective-permute of a choice by the device's number is one of the
// value that all devices that send choose. Exact.
std::unique_ptr<Pass> CreateCollectiveSelectFolder();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
