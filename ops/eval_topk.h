// The k best values of each line, for topk and for custom calls of that name.
#pragma once

#include "types/literal.h"

namespace hlokit {

// (values, indices) along the last dimension, best first; k is at most its size. `result` is the
// tuple's shape.
Literal TopK(const Literal& operand, int64_t k, bool largest, const Shape& result);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
