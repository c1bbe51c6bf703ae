// Where the memory order of a value may change without anybody noticing.
#pragma once

#include "ir/instruction.h"

namespace hlokit {

// True of operations that compute the same whatever the order of their operands' dimensions in
// memory: they read no bytes (bitcast), take nothing as it lies (calls, tuples, collectives), and
// are not there to change that order (copy).
bool LooksAtElements(Opcode opcode);

// True if `a` and `b` do not differ, or in nothing but the order of dimensions in memory.
bool SameButForOrder(const Shape& a, const Shape& b);

// True if `i` is no result of its computation, and all its users look at its elements alone.
bool UsersTakeAnyOrder(const Instruction* i);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
