// What rules of several tables share.
#include "passes/simplify/rule.h"

namespace hlokit {

Instruction* RepeatedOperand(Instruction* i, Rewriter&) {
  for (int k : {0, 1}) {
    Instruction* x = i->operand(k);
    if (x->opcode() == i->opcode() &&
        (x->operand(0) == i->operand(1 - k) || x->operand(1) == i->operand(1 - k)))
      return x;
  }
  return nullptr;
}

bool AbsorbPadding(const PaddingDim& padding, WindowDim& window) {
  if (padding == PaddingDim{}) return true;
  if (window.base_dilation != 1 || padding.low < 0 || padding.high < 0) return false;
  window.pad_low += padding.low;
  window.pad_high += padding.high;
  window.base_dilation = 1 + padding.interior;
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
