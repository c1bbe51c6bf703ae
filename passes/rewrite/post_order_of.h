// Walks over the instructions of one opcode.
#pragma once

#include <vector>

#include "ir/module.h"

namespace hlokit {

// The instructions of one opcode, operands first. A pass that removes the readers or the operands
// of what it rewrites walks these: a walk over all instructions would come upon what is gone.
inline std::vector<Instruction*> PostOrderOf(const Computation& computation, Opcode opcode) {
  std::vector<Instruction*> found = computation.PostOrder();
  std::erase_if(found, [opcode](const Instruction* i) { return i->opcode() != opcode; });
  return found;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
