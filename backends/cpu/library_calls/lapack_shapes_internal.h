// Whether a custom call of LAPACK has the operands and results that the runtime reads and writes.
#pragma once

#include "ir/instruction.h"
#include "runtime/linalg/lapack.h"

namespace hlokit {

// True if type and number of elements of each operand and result of `i` are those that
// hlokit_lapack expects of `desc`. `matrix`: the element type that the target's name says.
bool LapackShapesFit(const Instruction& i, const HlokitLapackDesc& desc, ElementType matrix);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
