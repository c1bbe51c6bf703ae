// Removal of dead instructions and computations.
#include "passes/rewrite/dead_code.h"

#include <utility>
#include <vector>

#include "ir/liveness.h"

namespace hlokit {
namespace {

// True for `work` and the computations that they call, directly or not.
std::vector<bool> Reached(const Module& module, std::vector<const Computation*> work) {
  std::vector<bool> reached(module.computation_id_bound(), false);
  for (const Computation* c : work) reached[c->id()] = true;
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

bool RemoveUnreached(Module& module, const std::vector<bool>& reached) {
  bool changed = false;
  std::vector<Computation*> computations = module.ComputationsPostOrder();
  for (size_t k = computations.size(); k-- > 0;) {  // callers first
    if (reached[computations[k]->id()]) continue;
    module.Remove(computations[k]);
    changed = true;
  }
  return changed;
}

}  // namespace

bool RemoveUncalled(Module& module) {
  return RemoveUnreached(module, Reached(module, {module.entry()}));
}

void RemoveUncalledSince(Module& module, int64_t first) {
  if (module.computation_id_bound() == first) return;
  std::vector<const Computation*> old = {module.entry()};
  for (const Computation* c : module.Computations())
    if (c->id() < first) old.push_back(c);
  RemoveUnreached(module, Reached(module, std::move(old)));
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
