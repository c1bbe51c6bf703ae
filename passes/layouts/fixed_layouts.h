// Layouts that instructions fix, and copies to them.
#pragma once

#include <vector>

#include "ir/module.h"

namespace hlokit {

// Whether some array of the one shape lies otherwise in the other.
bool NeedsCopy(const Shape& from, const Shape& to);
// `value` in the layouts of `to`: itself where it has them, else a copy, element by element of
// tuples.
Instruction* InLayout(Instruction* value, const Shape& to);
// Whether an instruction means something else under other layouts.
bool KeepsLayouts(const Instruction* i);
// What it reads its operands as; row-major where it says nothing.
std::vector<Shape> OperandLayouts(const Instruction* i);
// The entry's result as the module's header has it, if it does; with `row_major` in that order.
Shape EntryResult(const Computation& entry, bool row_major);
// Whether layouts differ that text shows; that a scalar has a layout at all it does not.
bool DiffersInText(const Shape& a, const Shape& b);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
