// What computing an instruction takes, by its shapes.
#pragma once

#include "ir/instruction.h"

namespace hlokit {

struct InstructionCost {
  double flops = 0;  // multiplications and additions, each; one for any other elementwise operation
  double transcendentals = 0;  // elements of functions such as exp, which `flops` counts too
  double bytes = 0;            // read and written in memory, each array once
};

// Whether an instruction costs nothing itself: it names what is there already (tuples, bitcasts,
// constants, parameters), or others pay for it (calls, loops, conditionals).
bool CostsNothing(Opcode opcode);

// Of one execution. A fusion computes what its body does and moves its own operands and results;
// slices and gathers read what they give, updates write their window. Nothing is counted where
// CostsNothing, nor for asynchronous starts (their computations pay) and waits.
InstructionCost CostOf(const Instruction& instruction);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
