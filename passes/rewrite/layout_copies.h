// Copies of values from one layout to another.
#pragma once

#include <vector>

#include "ir/module.h"

namespace hlokit {

// `value` in the layouts of `wanted`, which is of the same type but for these: itself where it has
// them; else a copy, of a tuple a tuple of its elements, those copied that differ. Appends what it
// makes to `made`, operands before users.
Instruction* InLayoutOf(Instruction* value, const Shape& wanted, std::vector<Instruction*>& made);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
