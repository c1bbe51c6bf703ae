// while-loop-constant-sinking: sinks constants of the initial state into the loop body.
//   state = (0, c): body reads part 1  ->  body reads c
#include "passes/framework/pass.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/while_state.h"

namespace hlokit {
namespace {

bool Reads(const Instruction* parameter, int64_t k, const Instruction* except) {
  for (const Instruction* user : parameter->users())
    if (user->opcode() == Opcode::kGetTupleElement && user->tuple_index() == k)
      for (const Instruction* reader : user->users())
        if (reader != except) return true;
  return false;
}

bool HasAnyToSink(const WhileState& loop, bool (*may_sink)(const Instruction*)) {
  const Instruction* start = loop.loop->operand(0);
  if (start->opcode() != Opcode::kTuple) return false;
  for (int64_t k = 0; k < start->operand_count(); ++k)
    if (may_sink(start->operand(k)) && loop.IsInvariant(k) &&
        (Reads(loop.parameter, k, loop.root) ||
         Reads(loop.condition->parameter(0), k, /*except=*/nullptr)))
      return true;
  return false;
}

// Made again for less than it is kept: an iota, or a broadcast of a constant or of an iota.
bool IsFusible(const Instruction* i) {
  if (i->opcode() == Opcode::kIota) return true;
  if (i->opcode() != Opcode::kBroadcast) return false;
  return IsKnownConstant(i->operand(0)) || i->operand(0)->opcode() == Opcode::kIota;
}

absl::StatusOr<bool> Sink(Module& module, bool (*may_sink)(const Instruction*)) {
  bool changed = false;
  std::vector<int> callers = CountCallers(module);
  for (Computation* c : module.ComputationsPostOrder())
    for (Instruction* i : c->Instructions()) {
      std::optional<WhileState> loop = WhileState::Of(i);
      if (!loop || !HasAnyToSink(*loop, may_sink)) continue;
      for (int64_t k : {0, 1}) {
        if (callers[i->called(k)->id()] == 1) continue;
        --callers[i->called(k)->id()];
        i->SetCalled(k, i->called(k)->Clone(".sunk"));
        for (const Instruction* inner : i->called(k)->Instructions())
          for (const Computation* called : inner->called()) ++callers[called->id()];
        callers.resize(module.computation_id_bound(), 1);
      }
      loop = WhileState::Of(i);
      changed |= SinkInitial(*loop, may_sink);
      RemoveDead(*loop->body);
      RemoveDead(*loop->condition);
    }
  return changed;
}

absl::StatusOr<bool> SinkConstants(Module& module) { return Sink(module, IsKnownConstant); }
absl::StatusOr<bool> RunFusible(Module& module) { return Sink(module, IsFusible); }

}  // namespace

// while-loop-fusible-sinking. The same for iotas and broadcasts of constants and iotas.
std::unique_ptr<Pass> CreateWhileLoopFusibleSinking() {
  return MakeModulePass("while-loop-fusible-sinking", RunFusible);
}

// Matches parts of a loop's tuple that start as constants and that the body passes on unchanged;
// their readers in the body and the condition read a copy of the constant instead. Bodies and
// conditions with other callers are copied first. The parts stay in the tuple. Cost: linear.
std::unique_ptr<Pass> CreateWhileLoopConstantSinking() {
  return MakeModulePass("while-loop-constant-sinking", SinkConstants);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
