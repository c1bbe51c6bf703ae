// Where the layout of a value may change without anybody noticing.
#pragma once

#include "ir/instruction.h"

namespace hlokit {

// True if `a` and `b` do not differ, or in nothing but the order of dimensions in memory.
bool SameButForOrder(const Shape& a, const Shape& b);

// True if `i` is no result of its computation, and all its users look at its elements alone.
bool UsersTakeAnyOrder(const Instruction* i);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
