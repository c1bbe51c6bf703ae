// Constants into loop bodies.
#include "passes/loops/while_loop_constant_sinking.h"

#include "passes/dce.h"
#include "passes/while_state_internal.h"

namespace hlokit {
namespace {

bool Reads(const Instruction* parameter, int64_t k, const Instruction* except) {
  for (const Instruction* user : parameter->users())
    if (user->opcode() == Opcode::kGetTupleElement && user->tuple_index() == k)
      for (const Instruction* reader : user->users())
        if (reader != except) return true;
  return false;
}

bool HasConstantToSink(const WhileState& loop) {
  const Instruction* start = loop.loop->operand(0);
  if (start->opcode() != Opcode::kTuple) return false;
  for (int64_t k = 0; k < start->operand_count(); ++k)
    if (start->operand(k)->IsConstant() && start->operand(k)->literal() != nullptr &&
        loop.IsInvariant(k) &&
        (Reads(loop.parameter, k, loop.root) ||
         Reads(loop.condition->parameter(0), k, /*except=*/nullptr)))
      return true;
  return false;
}

absl::StatusOr<bool> Run(Module& module) {
  bool changed = false;
  std::vector<int> callers = CountCallers(module);
  for (Computation* c : module.ComputationsPostOrder())
    for (Instruction* i : c->Instructions()) {
      std::optional<WhileState> loop = WhileState::Of(i);
      if (!loop || !HasConstantToSink(*loop)) continue;
      for (int64_t k : {0, 1}) {
        if (callers[i->called(k)->id()] == 1) continue;
        --callers[i->called(k)->id()];
        i->SetCalled(k, i->called(k)->Clone(".sunk"));
        for (const Instruction* inner : i->called(k)->Instructions())
          for (const Computation* called : inner->called()) ++callers[called->id()];
        callers.resize(module.computation_id_bound(), 1);
      }
      loop = WhileState::Of(i);
      changed |= SinkConstants(*loop, /*scalars_only=*/false);
      RemoveDead(*loop->body);
      RemoveDead(*loop->condition);
    }
  return changed;
}

}  // namespace

std::unique_ptr<Pass> CreateWhileLoopConstantSinking() {
  return MakeModulePass("while-loop-constant-sinking", Run);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
