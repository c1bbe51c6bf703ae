// What may stand in the body of a fusion, and what it costs there.
#pragma once

#include "ir/instruction.h"

namespace hlokit {

// True if each element of the instruction's result can be computed from elements of its operands,
// in arrays of row-major order: what a loop fusion may hold. Reads nothing but the instruction
// itself and what it calls.
bool CanFuse(const Instruction& instruction);

// True if operands and results are arrays of static, row-major shapes, and no control dependence
// orders the instruction.
bool IsPlain(const Instruction& instruction);

// True if computing an element again costs about as much as reading it: constants, iotas, data
// movement, conversions.
bool IsTrivial(const Instruction& instruction);
// Scalar constants, iotas, broadcasts of scalars: better computed anywhere than read.
bool IsFree(const Instruction& instruction);
// True for elementwise operations of a few cycles.
bool IsCheapElementwise(const Instruction& instruction);

// How often an element of operand `o` is read for one element of the user's result, averaged.
double ReadsPerElement(const Instruction& user, int64_t o);
// True if the user reads operand `o` at the index of the result element.
bool ReadsSameIndex(const Instruction& user, int64_t o);

// Rough work for one element of the result, in simple operations of a GPU's thread.
double WorkPerElement(const Instruction& instruction);

// Elements of the result (of the first array where it is a tuple).
int64_t ResultElements(const Instruction& instruction);

// A reshape, or a bitcast that is one: the elements stay in their order.
bool IsReshape(const Instruction& instruction);
// True if finding the operand's index of a reshape needs divisions: where one dimension of the
// result spans several of the operand's.
bool ReshapeDivides(const Shape& from, const Shape& to);
// True for a transpose that moves the fastest dimension of an array too large for the cache.
bool IsStridedTranspose(const Instruction& instruction);
// True for a reduction that keeps the fastest dimension: its kernel adds rows, and takes only
// pointwise operations after it.
bool IsColumnReduce(const Instruction& instruction);

// The one instruction that reads `value`, if it is a loop or may become one; null for others.
Instruction* OnlyLoopOf(const Instruction& value);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
