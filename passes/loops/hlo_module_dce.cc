// Live parts of loops.
#include "passes/loops/hlo_module_dce.h"

#include "passes/cleanup/dce.h"
#include "passes/loops/while_state_internal.h"

namespace hlokit {
namespace {

absl::StatusOr<bool> Run(Module& module) {
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

std::unique_ptr<Pass> CreateHloModuleDce() { return MakeModulePass("hlo-module-dce", Run); }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
