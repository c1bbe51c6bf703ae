// Removable instructions.
#include "ir/liveness.h"

namespace hlokit {
namespace {

// Whether something is ordered after the start, or an update, that `i` finishes or goes on with.
bool FinishesWhatStays(const Instruction& i) {
  const Instruction* at = &i;
  while ((HasTrait(at->opcode(), kAsyncDone) || at->opcode() == Opcode::kAsyncUpdate) &&
         at->operand_count() > 0) {
    at = at->operand(0);
    if (!at->control_successors().empty()) return true;
  }
  return false;
}

}  // namespace

bool IsDead(const Instruction& i) {
  return i.users().empty() && i.control_successors().empty() && !i.IsParameter() && !i.IsRoot() &&
         !i.HasSideEffect() && !FinishesWhatStays(i);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
