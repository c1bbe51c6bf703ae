// How many arrays (and tokens) a shape holds, and where those of an element begin.
#pragma once
#include <cstdint>

#include "types/shape.h"

namespace hlokit {

// The size of Leaves(shape), without making the list: 1 for what is no tuple, 0 for an empty one.
int64_t NumLeaves(const Shape& shape);

// The number of the first leaf of element `i`: the leaves of the elements before it.
//   ((f32[], s32[]), pred[]), 1  ->  2
int64_t LeafOffset(const Shape& tuple, int64_t i);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
