// Rules of simplify-while-loops that give a loop another state.
#pragma once

#include "passes/rewrite/while_state.h"

namespace hlokit {

// Each expects a loop whose body and condition have this one caller and take their parameter apart,
// and is true if it replaced the loop: `loop` is gone then. What read the loop reads a tuple of the
// old parts.

// Parts that start alike and are passed on become one, and parts that start alike and are updated
// alike.
bool MergeRepeatedParts(const WhileState& loop);
// A tuple of tuples becomes one of arrays.
bool FlattenState(const WhileState& loop);
// Parts leave the tuple that nobody reads afterwards and that neither the condition, nor side
// effects, nor other parts need; and groups of parts that depend on each other alone and are passed
// on or not read. What reads a part that was passed on reads its initial value.
bool RemoveDeadParts(const WhileState& loop);
// Parts leave the tuple that start as a constant and get the same in each round.
bool RemoveConstantParts(const WhileState& loop);
// Of integers of one type that a constant is added to in each round all but one are computed from
// that one: it counts from 0 in steps of 1, and is added to the state where there is none.
bool MergeCounters(const WhileState& loop, ElementType type);

// In the body: comparisons of the counter with constants that it never reaches, or always exceeds,
// are constants. True if there was one.
bool DecideComparisons(const WhileState& loop);

// Reads of parts that start as scalar constants and are passed on read the constant; the body's
// result too. True if there were any.
bool PropagateConstants(const WhileState& loop);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
