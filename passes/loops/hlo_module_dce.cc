// hlo-module-dce: removes dead code of the whole module, dead elements of while state included.
// Matches parts of a loop's tuple that nobody reads after the loop and that neither the condition
// nor a part that is read needs; the body passes them on as they came. Then removes what dce does.
// Expects bodies with one caller. Cost: linear in the module, times the depth of loops' parts.
//   state (i, a), nothing reads a  ->  body returns part 1 unchanged
#include "passes/framework/pass.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/while_state.h"

namespace hlokit {
namespace {

absl::StatusOr<bool> RemoveDeadModuleCode(Module& module) {
  bool changed = false;
  const std::vector<int> callers = CountCallers(module);
  const std::vector<Computation*> order = module.ComputationsPostOrder();
  for (size_t k = order.size(); k-- > 0;)  // outer loops first: what they drop, inner ones may too
    for (Instruction* i : order[k]->Instructions()) {
      const std::optional<WhileState> loop = WhileState::Of(i);
      if (loop && callers[loop->body->id()] == 1 && loop->parameter->shape() == loop->root->shape())
        changed |= PassOnDeadParts(*loop);
    }
  for (Computation* c : module.Computations()) changed |= RemoveDead(*c);
  return RemoveUncalled(module) || changed;
}

}  // namespace

std::unique_ptr<Pass> CreateHloModuleDce() {
  return MakeModulePass("hlo-module-dce", RemoveDeadModuleCode);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
