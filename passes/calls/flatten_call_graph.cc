// Gives each call its own copy of the computation, so that each computation has one caller (a tree
// instead of a DAG). Callers come before callees: the copy of a caller counts as a caller too.
// Buffer assignment and the emitters need this; the growth is limited to kMaxFlattenedInstructions.
#include "passes/calls/flatten_call_graph.h"

#include "passes/rewrite/async_body.h"
#include "passes/rewrite/while_state.h"
#include "support/status.h"

namespace hlokit {
namespace {

bool Runs(const Instruction* i) {
  return i->opcode() == Opcode::kWhile || i->opcode() == Opcode::kConditional ||
         i->opcode() == Opcode::kCall || i->opcode() == Opcode::kAsyncStart;
}

}  // namespace

absl::StatusOr<bool> FlattenCallGraph::Run(Module& module) {
  bool changed = false;
  int64_t copied = 0;
  std::vector<bool> taken(module.computation_id_bound(), false);
  // Computations that nothing calls keep what they call, as in XLA: they are visited first.
  std::vector<Computation*> work = {module.entry()};
  const std::vector<int> callers = CountCallers(module);
  for (Computation* c : module.Computations())
    if (callers[c->id()] == 0 && c != module.entry()) work.push_back(c);
  for (const Computation* c : work) taken[c->id()] = true;
  while (!work.empty()) {
    Computation* c = work.back();
    work.pop_back();
    for (Instruction* i : c->Instructions()) {
      if ((running_only_ && !Runs(i)) || SharesAsyncBody(*i)) continue;
      for (size_t k = 0; k < i->called().size(); ++k) {
        Computation* called = i->called(k);
        if (taken[called->id()]) {
          copied += called->instruction_count();
          if (copied > kMaxFlattenedInstructions)
            return ResourceExhausted("flatten-call-graph: more than ", kMaxFlattenedInstructions,
                                     " instructions would have to be copied");
          called = called->Clone(".clone");
          if (i->opcode() == Opcode::kAsyncStart) {
            SetAsyncBody(i, called);
          } else {
            i->SetCalled(k, called);
          }
          taken.resize(module.computation_id_bound(), false);
          changed = true;
        }
        taken[called->id()] = true;
        work.push_back(called);
      }
    }
  }
  return changed;
}

std::unique_ptr<Pass> CreateFlattenCallGraph(PassArguments& arguments) {
  return std::make_unique<FlattenCallGraph>(
      arguments.Flag("running", "let functions of reduce and the like be shared"));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
