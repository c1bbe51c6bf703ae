// A dot or convolution and what follows on its elements one by one, whatever it is:
//   s = dot(a, b)      result = tanh(s * scale + broadcast(bias)), several results of the same
//   places
// Kernels of products store such results in the place of the product's. ProductFinish
// (product_finish.h) is narrower, for the runtime's kernels.
#pragma once

#include "ir/instruction.h"

namespace hlokit {

// Whether all that `user`, an elementwise instruction or a fusion, gives is made element by element
// of those of its operand `value`, at the same places, and of what has no other costs.
bool FinishesElements(const Instruction& user, const Instruction& value);

// The same of places in their order: reshapes may stand between, of row-major arrays.
bool FinishesInOrder(const Instruction& user, const Instruction& value);

// The dot or convolution of two operands of a fusion that does nothing but finish its elements;
// null for others.
const Instruction* FindFinishedElements(const Instruction& fusion);

// Whether a convolution has kernels of its own: real numbers, of a byte and more.
bool IsOfPlainNumbers(const Instruction& convolution);
// Whether a fusion is such a convolution and what finishes its elements, all of which can be
// computed an element at a time.
bool FinishesConvolution(const Instruction& fusion);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
