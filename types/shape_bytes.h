// How much memory the values of a shape take.
#pragma once
#include <cstdint>

#include "types/shape.h"

namespace hlokit {

// Bytes of all arrays inside `shape`, tuples included, each stored densely as a Literal stores it
// (Shape::ByteSize). Saturates at INT64_MAX.
int64_t TotalBytes(const Shape& shape);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
