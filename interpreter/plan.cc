// Execution plans: the order of a computation's instructions, the slots of operands, and which
// slots are dead after each step. Made once per computation and cached, since loop bodies run
// often. Linear.
#include "interpreter/plan_internal.h"

#include "support/dense_map.h"

namespace hlokit {
namespace {

// The computation's order, but elements are taken from a tuple as soon as it is there: then nothing
// but its readers holds an element, and updates of it can happen in place.
std::vector<const Instruction*> Order(const Computation& computation) {
  std::vector<const Instruction*> order;
  std::vector<const Instruction*> next;
  for (const Instruction* instruction : computation.ScheduleOrPostOrder()) {
    if (instruction->opcode() == Opcode::kGetTupleElement) continue;  // its tuple brings it
    next.push_back(instruction);
    while (!next.empty()) {
      order.push_back(next.back());
      next.pop_back();
      if (!order.back()->shape().IsTuple()) continue;
      for (const Instruction* user : order.back()->users())
        if (user->opcode() == Opcode::kGetTupleElement) next.push_back(user);
    }
  }
  return order;
}

Plan MakePlan(const Computation& computation) {
  Plan plan;
  absl::flat_hash_map<const Instruction*, int> slots;
  std::vector<int> last;  // step that reads the slot last
  for (const Instruction* instruction : Order(computation)) {
    const int slot = static_cast<int>(plan.steps.size());
    slots[instruction] = slot;
    last.push_back(slot);
    PlanStep& step = plan.steps.emplace_back();
    step.instruction = instruction;
    for (const Instruction* operand : instruction->operands()) {
      step.operands.push_back(slots[operand]);
      last[slots[operand]] = slot;
    }
  }
  plan.root = slots[computation.root()];
  for (int slot = 0; slot < static_cast<int>(last.size()); ++slot)
    if (slot != plan.root) plan.steps[last[slot]].last_uses.push_back(slot);
  return plan;
}

}  // namespace

const Plan& PlanCache::Of(const Computation& computation) {
  std::unique_ptr<const Plan>& plan = plans_[&computation];
  if (plan == nullptr) plan = std::make_unique<const Plan>(MakePlan(computation));
  return *plan;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
