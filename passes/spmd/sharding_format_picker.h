// sharding-format-picker: shardings written as lists of devices, or as ranges of them.
#pragma once

#include "passes/pass.h"
#include "passes/pass_arguments.h"

namespace hlokit {

// Leaves tiled shardings as ranges (devices=[2,2]<=[4]) where their devices are one in order or a
// transposed matrix of numbers; with the option v1 as lists (devices=[2,2]0,1,2,3). What they say
// stays the same. Cost: the devices that are named.
std::unique_ptr<Pass> CreateShardingFormatPicker(PassArguments& arguments);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
