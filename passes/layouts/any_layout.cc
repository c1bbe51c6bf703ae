// Which operations look at elements alone.
#include "passes/layouts/any_layout.h"

namespace hlokit {

bool LooksAtElements(Opcode opcode) {
  switch (opcode) {
    case Opcode::kBroadcast:
    case Opcode::kConcatenate:
    case Opcode::kDot:
    case Opcode::kDynamicSlice:
    case Opcode::kGather:
    case Opcode::kIota:
    case Opcode::kPad:
    case Opcode::kReduce:
    case Opcode::kReduceWindow:
    case Opcode::kReshape:
    case Opcode::kReverse:
    case Opcode::kSlice:
    case Opcode::kTranspose:
      return true;
    case Opcode::kBitcastConvert:
    case Opcode::kCopy:
      return false;
    default:
      return HasTrait(opcode, kElementwise);
  }
}

bool SameButForOrder(const Shape& a, const Shape& b) {
  if (!a.IsArray() || !SameIgnoringLayout(a, b)) return false;
  Shape reordered = b;
  reordered.layout.minor_to_major = a.layout.minor_to_major;
  return a == reordered;
}

bool UsersTakeAnyOrder(const Instruction* i) {
  if (i->IsRoot()) return false;
  for (const Instruction* user : i->users())
    if (!LooksAtElements(user->opcode())) return false;
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
