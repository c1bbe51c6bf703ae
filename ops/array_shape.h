// What holds of an array's shape by itself.
#pragma once

#include "absl/status/status.h"
#include "types/shape.h"

namespace hlokit {

// [shape-c1] no dimension of unknown size unless `allow_unbounded`, [shape-c2] no dimension below
// zero and a size in bytes that fits 64 bits, [shape-c3] a layout that is a permutation of the
// dimensions. InvalidArgument with the rule's label; OK for tuples and tokens.
absl::Status CheckArrayShape(const Shape& array, bool allow_unbounded);

// The same of an array, or of all arrays of a tuple.
absl::Status CheckArrayShapes(const Shape& shape, bool allow_unbounded);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
