// Short questions about an instruction that the rules of several families ask.
#pragma once

#include "ir/instruction.h"

namespace hlokit {

inline bool Is(const Instruction* i, Opcode opcode) { return i->opcode() == opcode; }
inline bool Integral(const Instruction* i) { return IsInteger(i->shape().type); }
inline bool Float(const Instruction* i) { return IsFloat(i->shape().type); }
inline bool UsedOnce(const Instruction* i) { return i->users().size() == 1 && !i->IsRoot(); }

// A scalar that fills an array.
inline bool IsSpreadScalar(const Instruction* i) {
  return Is(i, Opcode::kBroadcast) && i->operand(0)->shape().IsScalar();
}

// The `dimensions` of a broadcast, transpose, reduction, ...
inline const DimVector& Dims(const Instruction* i) {
  return i->attr<DimensionsAttrs>().dimensions;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
