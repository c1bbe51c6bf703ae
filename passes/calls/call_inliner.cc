// call-inliner: inlines called computations into their callers.
// Matches call instructions without control edges, callees before callers, so that calls of calls
// vanish too; where any was inlined, what nothing needs any more is removed. Calls marked
// inlineable="false" stay. Cost: the size of what is copied; where that comes to more than
// kMaxInlineGrowth times the module (and more than kFreelyInlined), calls stay.
#include <algorithm>

#include "analysis/module_size.h"
#include "passes/framework/pass.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/inline_body.h"
#include "support/status.h"

namespace hlokit {
namespace {

constexpr int64_t kFreelyInlined = 200'000;  // instructions
constexpr int64_t kMaxInlineGrowth = 16;

bool MayInline(const Instruction* i) {
  if (i->opcode() != Opcode::kCall) return false;
  if (!i->control_predecessors().empty() || !i->control_successors().empty()) return false;
  for (const auto& [key, value] : i->extras().frontend_attributes)
    if (key == "inlineable" && value == "false") return false;
  return i->to_apply()->root()->shape() == i->shape();
}

void Inline(Instruction* call) {
  Computation& into = *call->parent();
  call->ReplaceAllUsesWith(CopyBody(*call->to_apply(), call->operands(), into));
  into.Remove(call);
}

absl::StatusOr<bool> Run(Module& module) {
  bool changed = false;
  int64_t copied = 0;
  const int64_t limit = std::max(kFreelyInlined, kMaxInlineGrowth * InstructionCount(module));
  for (Computation* c : module.ComputationsPostOrder())
    for (Instruction* i : c->Instructions()) {
      if (!MayInline(i) || copied > limit) continue;
      copied += i->to_apply()->instruction_count();
      Inline(i);
      changed = true;
    }
  if (!changed) return false;
  for (Computation* c : module.Computations()) RemoveDead(*c);
  RemoveUncalled(module);
  return true;
}

}  // namespace

std::unique_ptr<Pass> CreateCallInliner() { return MakeModulePass("call-inliner", Run); }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
