// loop-schedule-linearizer: adds control dependencies that read loop state before it is
// overwritten, where that saves copies.
// Matches, in bodies of loops, instructions that compute the next value of a part of the state, and
// readers of that part that could run after them: orders these before by control dependences, so
// that the part can be written in its place without a copy. Where that would be a cycle, nothing.
//   body reads part k, body's root writes over it  ->  control dependency: reads, then the write
#include "passes/framework/pass.h"
#include "passes/rewrite/device_groups.h"
#include "passes/rewrite/while_state.h"

namespace hlokit {
namespace {

// Orders each reader of part k of the body's parameter before `writer`; true if any was not.
bool OrderReaders(const Instruction* parameter, int64_t k, Instruction* writer,
                  RewriteControl& control) {
  bool changed = false;
  for (const Instruction* part : parameter->users()) {
    if (part->opcode() != Opcode::kGetTupleElement || part->tuple_index() != k) continue;
    for (Instruction* reader : part->users()) {
      if (reader == writer || reader->opcode() == Opcode::kTuple || Needs(reader, {writer}) ||
          Needs(writer, {reader}) || !control.Permit("loop-schedule-linearizer", *reader, *writer))
        continue;
      writer->AddControlPredecessor(reader);
      changed = true;
    }
  }
  return changed;
}

absl::StatusOr<bool> Linearize(Module& module, RewriteControl& control) {
  bool changed = false;
  for (const Computation* c : module.ComputationsPostOrder())
    for (Instruction* i : c->PostOrder()) {
      const std::optional<WhileState> loop = WhileState::Of(i);
      if (!loop) continue;
      for (int64_t k = 0; k < loop->root->operand_count(); ++k) {
        Instruction* writer = loop->root->operand(k);
        if (writer->IsParameter() || writer->opcode() == Opcode::kGetTupleElement ||
            writer->IsConstant())
          continue;
        changed |= OrderReaders(loop->parameter, k, writer, control);
      }
    }
  return changed;
}

}  // namespace

std::unique_ptr<Pass> CreateLoopScheduleLinearizer() {
  return MakeModulePass("loop-schedule-linearizer", Linearize);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
