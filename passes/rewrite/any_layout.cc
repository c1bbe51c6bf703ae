// Which values may change their layout without anybody noticing.
#include "passes/rewrite/any_layout.h"

namespace hlokit {

bool SameButForOrder(const Shape& a, const Shape& b) {
  if (!a.IsArray() || !SameIgnoringLayout(a, b)) return false;
  Shape reordered = b;
  reordered.layout.minor_to_major = a.layout.minor_to_major;
  return a == reordered;
}

bool UsersTakeAnyOrder(const Instruction* i) {
  if (i->IsRoot()) return false;
  for (const Instruction* user : i->users())
    if (!HasTrait(user->opcode(), kLayoutInsensitive)) return false;
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
