// Removal of dead instructions and computations.
#include "passes/rewrite/dead_code.h"

#include <vector>

#include "ir/liveness.h"

namespace hlokit {
namespace {

// True for the computations that the entry calls, directly or not.
std::vector<bool> Reached(const Module& module) {
  std::vector<bool> reached(module.computation_id_bound(), false);
  std::vector<const Computation*> work = {module.entry()};
  reached[module.entry()->id()] = true;
  while (!work.empty()) {
    const Computation* c = work.back();
    work.pop_back();
    for (const Instruction* i : c->Instructions())
      for (const Computation* called : i->called()) {
        if (reached[called->id()]) continue;
        reached[called->id()] = true;
        work.push_back(called);
      }
  }
  return reached;
}

}  // namespace

bool RemoveUncalled(Module& module) {
  bool changed = false;
  const std::vector<bool> reached = Reached(module);
  std::vector<Computation*> computations = module.ComputationsPostOrder();
  for (size_t k = computations.size(); k-- > 0;) {  // callers first
    if (reached[computations[k]->id()]) continue;
    module.Remove(computations[k]);
    changed = true;
  }
  return changed;
}

bool RemoveDead(Computation& computation) {
  const std::vector<Instruction*> order = computation.PostOrder();
  bool changed = false;
  for (size_t k = order.size(); k-- > 0;) {  // users first
    if (!IsDead(*order[k])) continue;
    computation.Remove(order[k]);
    changed = true;
  }
  return changed;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
