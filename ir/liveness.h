// Which instructions may go.
#pragma once

#include "ir/instruction.h"

namespace hlokit {

// True for what can be removed without changing what its computation computes, nor in which order:
// without users and control successors, no root, no parameter, without side effects. What finishes
// an asynchronous start stays for as long as the start must, for a start without its end is none.
bool IsDead(const Instruction& i);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
