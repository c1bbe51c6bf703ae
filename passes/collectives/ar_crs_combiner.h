// ar-crs-combiner: a sum over partitions and then one over replicas, as one over all devices.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// Matches an all-reduce over all partitions of a replica that adds up (such as spmd-partitioning
// leaves), followed by reshapes, transposes, conversions between floats, and additions or
// subtractions of other such sums or of constants, and then by an all-reduce over replicas that
// adds up, where nothing else reads what lies between. The first all-reduces go, constants on the
// way are divided by the number of partitions, and the last one runs over the partitions too.
// Rounds otherwise than before. Cost: linear.
std::unique_ptr<Pass> CreateArCrsCombiner();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
