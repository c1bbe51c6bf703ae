// Which instructions generated loops can compute, on any target. The emitters of codegen/ have code
// for all of these; fusion passes and legalization go by them.
#pragma once

#include "ir/computation.h"

namespace hlokit {

// True if elements of this instruction can be computed one by one from elements of its operands
// (its own operands are not looked at).
bool CanEmitElement(const Instruction& instruction);
// True if every instruction of a fusion body (or of a scalar function) can.
bool CanEmitElements(const Computation& body);

// The same of all updates of a scatter or select-and-scatter, in order.
bool CanEmitScatter(const Instruction& scatter);

// True if kernels can compute the instruction: it is of one of the kinds above, or a fusion of
// them, with a scatter at most at its root.
bool CanEmitKernels(const Instruction& instruction);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
