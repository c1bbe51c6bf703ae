// Control edges, where one instruction takes another's place.
#pragma once

#include "ir/instruction.h"

namespace hlokit {

// Whether others are ordered before or behind it.
inline bool HasControlEdges(const Instruction& i) {
  return !i.control_predecessors().empty() || !i.control_successors().empty();
}

// Takes the control edges of `old`, whose users now read `made`. Where `made` was made for this, it
// gets them; where it stood before (`is_new` false), it may come before what `old` comes after, so
// that `old`'s predecessors are ordered before its successors directly.
void PassOnControlEdges(Instruction* old, Instruction* made, bool is_new);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
