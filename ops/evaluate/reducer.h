// How reductions combine elements: which computations are one opcode, and where accumulators are
// rounded. The interpreter and the CPU's code follow the same rules (docs/numerics.md).
#pragma once

#include <optional>

#include "ir/computation.h"
#include "types/literal.h"

namespace hlokit {

// Whether an opcode combines two values of a type into one, in any order, and has an identity
// element: add, multiply, maximum, minimum, and, or, xor.
bool IsCombining(Opcode opcode);

// Whether a scalar changes nothing when `opcode` (IsCombining) combines it with another: 0 for add,
// -0 as well.
bool IsIdentityElement(const Literal& scalar, Opcode opcode);

// The least (`low`) or greatest value of a float type: infinite where it has infinities.
double EndOf(ElementType type, bool low);

// The opcode of a computation that only applies it to its two scalar parameters, in this order or
// (where the opcode is commutative) the other: add, multiply, maximum, minimum, and, or, xor.
// Floats narrower than f32 may be converted to f32 for it and back, which is what the opcode does
// anyhow.
std::optional<Opcode> SimpleReducer(const Computation& computation);

// True if an accumulator of `type` loses digits at each step: sums and products of floats narrower
// than f32.
bool RoundsSteps(Opcode opcode, ElementType type);

// The same of a reduce, reduce-window or scatter with any computation: a part of a narrow type,
// combined by more than a selection.
bool RoundsSteps(const Instruction& reduction);

// The type of a collective's accumulators, which each step rounds to, as on XLA's CPU: f16 itself
// and for floats of a byte or less with no greater range, f32 for bf16 and f8e8m0fnu, else the
// type.
ElementType CollectiveSumType(ElementType type);

// The blocks of `from` that a reduce of it whose steps round combines first, as XLA's CPU does: at
// most 32 elements along each reduced dimension, about as many too few in the first one as in the
// last. What they come to is reduced in the same way. Nothing where no dimension is longer, or
// where an initial value that is not the identity element would count several times.
std::optional<Window> RoundedBlocks(const Instruction& reduce, const Shape& from);

// The places of a line of `from` that a running sum over it, a reduce-window, starts anew at: it
// sums within such blocks first, then adds what all blocks before come to, as XLA's CPU does.
// Nothing where no step rounds, or the initial value is not the identity element.
std::optional<int64_t> RoundedScanBlock(const Instruction& reduce_window, const Shape& from);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
