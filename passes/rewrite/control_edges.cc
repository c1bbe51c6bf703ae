// Order that outlives the instructions that held it.
#include "passes/rewrite/control_edges.h"

#include <vector>

namespace hlokit {

void PassOnControlEdges(Instruction* old, Instruction* made, bool is_new) {
  const std::vector<Instruction*> before(old->control_predecessors().begin(),
                                         old->control_predecessors().end());
  const std::vector<Instruction*> after(old->control_successors().begin(),
                                        old->control_successors().end());
  old->DropControlEdges();
  if (is_new) {
    for (Instruction* first : before) made->AddControlPredecessor(first);
    for (Instruction* last : after) last->AddControlPredecessor(made);
    return;
  }
  for (Instruction* last : after)
    for (Instruction* first : before) last->AddControlPredecessor(first);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
