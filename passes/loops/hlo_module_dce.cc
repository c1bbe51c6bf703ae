// Live parts of loops.
#include "passes/loops/hlo_module_dce.h"

#include "absl/container/flat_hash_set.h"
#include "passes/dce.h"
#include "passes/while_state_internal.h"

namespace hlokit {
namespace {

using Parts = std::vector<bool>;

// Marks the parts of `parameter` that the instructions above `root` read; all where it is read
// whole.
void MarkRead(const Instruction* root, const Instruction* parameter, Parts& read) {
  absl::flat_hash_set<const Instruction*> seen;
  std::vector<const Instruction*> work = {root};
  while (!work.empty()) {
    const Instruction* i = work.back();
    work.pop_back();
    if (!seen.insert(i).second) continue;
    if (i->opcode() == Opcode::kGetTupleElement && i->operand(0) == parameter) {
      read[i->tuple_index()] = true;
    } else if (i == parameter) {
      read.assign(read.size(), true);
    } else {
      work.insert(work.end(), i->operands().begin(), i->operands().end());
    }
  }
}

Parts LiveParts(const WhileState& loop) {
  Parts live(loop.loop->shape().elements.size(), false);
  if (loop.loop->IsRoot()) live.assign(live.size(), true);
  for (const Instruction* user : loop.loop->users()) {
    if (user->opcode() != Opcode::kGetTupleElement) {
      live.assign(live.size(), true);
    } else if (user->IsRoot() || !user->users().empty()) {
      live[user->tuple_index()] = true;
    }
  }
  MarkRead(loop.condition->root(), loop.condition->parameter(0), live);
  for (const Instruction* i : loop.body->Instructions())
    if (i->HasSideEffect()) MarkRead(i, loop.parameter, live);
  return live;
}

bool PassOnDead(const WhileState& loop) {
  Parts live = LiveParts(loop);
  std::vector<bool> done(live.size(), false);
  bool again = true;
  while (again) {
    again = false;
    for (size_t k = 0; k < live.size(); ++k) {
      if (!live[k] || done[k]) continue;
      done[k] = again = true;
      MarkRead(loop.root->operand(k), loop.parameter, live);
    }
  }
  bool changed = false;
  for (size_t k = 0; k < live.size(); ++k) {
    const auto part = static_cast<int64_t>(k);
    if (live[k] || loop.IsInvariant(part)) continue;
    loop.root->SetOperand(
        part, loop.body->Add(Opcode::kGetTupleElement, loop.parameter->shape().elements[k],
                             {loop.parameter}, GetTupleElementAttrs{part}));
    changed = true;
  }
  return changed;
}

absl::StatusOr<bool> Run(Module& module) {
  bool changed = false;
  const std::vector<int> callers = CountCallers(module);
  const std::vector<Computation*> order = module.ComputationsPostOrder();
  for (size_t k = order.size(); k-- > 0;)  // outer loops first: what they drop, inner ones may too
    for (Instruction* i : order[k]->Instructions()) {
      const std::optional<WhileState> loop = WhileState::Of(i);
      if (loop && callers[loop->body->id()] == 1 && loop->parameter->shape() == loop->root->shape())
        changed |= PassOnDead(*loop);
    }
  for (Computation* c : module.Computations()) changed |= RemoveDead(*c);
  return RemoveUncalled(module) || changed;
}

}  // namespace

std::unique_ptr<Pass> CreateHloModuleDce() { return MakeModulePass("hlo-module-dce", Run); }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
