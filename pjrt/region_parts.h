// Arrays that a program of several partitions only ever uses cut.
#pragma once

#include "ir/module.h"
#include "pjrt/objects.h"

namespace hlokit {

// Lets each partition's run take and give its parts of arrays where regions for each device
// (shard_map, pmap) read or make them in the very cut of the argument or result: nothing is joined
// before a run, and nothing cut after it. Notes in `cuts` which arrays these are. Values stay the
// same. Errors: what a marker states of its cuts does not read.
absl::Status KeepParts(Module& module, PjrtPartitions& cuts);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
