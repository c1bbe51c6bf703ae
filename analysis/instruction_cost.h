// What computing an instruction takes, by its shapes.
#pragma once

#include "ir/instruction.h"

namespace hlokit {

struct InstructionCost {
  double flops = 0;  // multiplications and additions, each; one for any other elementwise operation
  double transcendentals = 0;  // elements of functions such as exp, which `flops` counts too
  double bytes = 0;            // read and written in memory, each array once
};

// Of one execution. A fusion computes what its body does and moves its own operands and results;
// slices and gathers read what they give, updates write their window. Control flow counts nothing
// itself: its bodies' instructions do; nor do tuples, bitcasts, constants and parameters.
InstructionCost CostOf(const Instruction& instruction);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
