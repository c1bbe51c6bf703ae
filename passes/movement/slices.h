// slice-sinker, slice-hoister and broadcast_canonicalizer: slices and broadcasts around elementwise
// operations.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// slice-sinker. Matches like elementwise operations on slices of the same arrays that together
// cover at least as many elements as those have. Leaves one operation on the whole arrays, and
// slices of it. Cost: linear but for operations on slices of one array.
std::unique_ptr<Pass> CreateSliceSinker();

// slice-hoister. Matches slices of additions that have no other reader; leaves the addition of
// slices. Cost: linear.
std::unique_ptr<Pass> CreateSliceHoister();

// broadcast_canonicalizer. Matches broadcasts whose dimensions are not in ascending order; leaves
// one with sorted dimensions, and a transpose of it. Cost: linear.
std::unique_ptr<Pass> CreateBroadcastCanonicalizer();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
