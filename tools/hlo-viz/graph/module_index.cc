// One walk over the module.
#include "tools/hlo-viz/graph/module_index.h"

#include <algorithm>

#include "absl/strings/strip.h"
#include "printer/printer.h"
#include "support/status.h"
#include "support/text.h"

namespace hlokit {

ModuleIndex::ModuleIndex(const Module& module)
    : module_(&module), callers_(module.computation_id_bound()) {
  for (const Computation* computation : PrintingOrder(module)) {
    computations_.push_back(computation);
    for (const Instruction* i : computation->Instructions())
      for (const Computation* called : i->called()) {
        auto& callers = callers_[called->id()];
        if (callers.empty() || callers.back() != i) callers.push_back(i);
      }
  }
}

std::vector<const Instruction*> ModuleIndex::Instructions(const Computation& computation) const {
  const std::vector<Instruction*> order = computation.ScheduleOrPostOrder();
  return {order.begin(), order.end()};
}

bool ModuleIndex::IsFused(const Computation& computation) const {
  const auto& callers = callers_[computation.id()];
  return !callers.empty() && callers[0]->opcode() == Opcode::kFusion;
}

const Instruction* ModuleIndex::OneOperation(const Computation& computation) const {
  const Instruction* root = computation.root();
  if (computation.instruction_count() != computation.parameter_count() + 1 || root == nullptr)
    return nullptr;
  if (computation.parameter_count() > 2 || root->operand_count() == 0) return nullptr;
  if (!root->shape().IsScalar()) return nullptr;
  const auto is_parameter = [](const Instruction* i) { return i->IsParameter(); };
  return std::all_of(root->operands().begin(), root->operands().end(), is_parameter) ? root
                                                                                     : nullptr;
}

absl::StatusOr<const Computation*> ModuleIndex::FindComputation(absl::string_view name) const {
  const absl::string_view bare = absl::StripPrefix(name, "%");
  NearestName nearest(bare);
  for (const Computation* computation : computations_) {
    if (computation->name() == bare) return computation;
    nearest.Offer(computation->name());
  }
  return NotFound("no computation is named '", bare, "'", nearest.Hint());
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
