// The opposite of fusion: bodies copied back into their callers, scalar constants moved into
// fusions, control dependencies passed on from an instruction's predecessors to its successors.
//   a before i before b  ->  a before b
#include "passes/fusions/defuser.h"

#include <algorithm>

#include "passes/rewrite/control_edges.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/inline_body.h"
#include "passes/rewrite/layout_copies.h"
#include "passes/rewrite/parameters.h"
#include "passes/rewrite/while_state.h"

namespace hlokit {
namespace {

absl::StatusOr<bool> Defuse(Module& module, RewriteControl& control) {
  bool changed = false;
  for (Computation* c : module.ComputationsPostOrder())
    for (Instruction* i : c->Instructions()) {
      if (i->opcode() != Opcode::kFusion || !control.Permit("defuser", *i, *i)) continue;
      Instruction* made = CopyBody(*i->to_apply(), i->operands(), *c);
      std::vector<Instruction*> copies;
      i->ReplaceAllUsesWith(InLayoutOf(made, i->shape(), copies));
      PassOnControlEdges(i, made, /*is_new=*/!i->to_apply()->root()->IsParameter());
      c->Remove(i);
      changed = true;
    }
  if (changed) RemoveUncalled(module);
  return changed;
}

// fusion(x, c), body(p0, p1) -> fusion(x), body(p0) with c inside.
bool SinkInto(Instruction* fusion) {
  bool changed = false;
  Computation& body = *fusion->to_apply();
  for (int64_t k = fusion->operand_count(); k-- > 0;) {
    const Instruction* constant = fusion->operand(k);
    if (!constant->IsConstant() || !constant->shape().IsScalar() ||
        constant->literal() == nullptr || body.parameter(k)->IsRoot())
      continue;
    if (!body.parameter(k)->users().empty())
      body.parameter(k)->ReplaceAllUsesWith(body.Add(constant->CloneWith(constant->shape(), {})));
    RemoveParameter(body, k);
    fusion->RemoveOperand(k);
    changed = true;
  }
  return changed;
}

absl::StatusOr<bool> SinkConstantsIntoFusions(Module& module) {
  bool changed = false;
  const std::vector<int> callers = CountCallers(module);
  for (Computation* c : module.Computations()) {
    bool here = false;
    for (Instruction* i : c->Instructions())
      if (i->opcode() == Opcode::kFusion && callers[i->to_apply()->id()] == 1 &&
          i->attr<FusionAttrs>().output_to_operand_aliasing.empty())
        here |= SinkInto(i);
    if (here) RemoveDead(*c);
    changed |= here;
  }
  return changed;
}

bool IsMessage(const Instruction* i) {
  return i->opcode() == Opcode::kSend || i->opcode() == Opcode::kSendDone ||
         i->opcode() == Opcode::kRecv || i->opcode() == Opcode::kRecvDone;
}

absl::StatusOr<bool> RemoveControlEdges(Module& module) {
  bool changed = false;
  for (Computation* c : module.Computations())
    for (Instruction* i : c->Instructions()) {
      const std::vector<Instruction*> before(i->control_predecessors().begin(),
                                             i->control_predecessors().end());
      // A device that waits for what it has yet to send waits for ever.
      if (before.empty() || (IsMessage(i) && std::all_of(before.begin(), before.end(), IsMessage)))
        continue;
      const std::vector<Instruction*> after(i->control_successors().begin(),
                                            i->control_successors().end());
      i->DropControlEdges();
      for (Instruction* first : before)
        if (IsMessage(i) && IsMessage(first)) i->AddControlPredecessor(first);
      for (Instruction* last : after) last->AddControlPredecessor(i);
      changed = true;
    }
  return changed;
}

}  // namespace

std::unique_ptr<Pass> CreateDefuser() { return MakeModulePass("defuser", Defuse); }

std::unique_ptr<Pass> CreateFusionConstantSinking() {
  return MakeModulePass("fusion_constant_sinking", SinkConstantsIntoFusions);
}

std::unique_ptr<Pass> CreateControlDepRemover() {
  return MakeModulePass("control-dep-remover", RemoveControlEdges);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
