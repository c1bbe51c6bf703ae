// Schedules: each is complete and puts operands before users.
#include "support/dense_map.h"
#include "verifier/verifier_internal.h"

namespace hlokit {
namespace {

// [schedule-c1] all instructions, each once; [schedule-c2] after operands and control predecessors.
void CheckSchedule(VerifyRun& run, const VerifyRun::Body& body) {
  const Computation& computation = *body.computation;
  DenseMap<int64_t> position(run.module.id_bound(), -1);
  int64_t next = 0;
  for (const Instruction* i : computation.schedule()) {
    if (i == nullptr || i->parent() != &computation || position[i->id()] >= 0) {
      run.out.Error(computation.place(), "schedule-c1", "the schedule of ", computation.name(),
                    " names an instruction twice or one of another computation");
      return;
    }
    position[i->id()] = next++;
  }
  for (const Instruction* i : body.instructions) {
    const int64_t at = position.at(i->id());
    if (at < 0) {
      run.Error(*i, "schedule-c1", "it is not in the schedule of ", computation.name());
      continue;
    }
    for (const Instruction* operand : i->operands())
      if (position.at(operand->id()) > at)
        run.Error(*i, "schedule-c2", "it is scheduled before its operand %", operand->name());
    for (const Instruction* before : i->control_predecessors())
      if (position.at(before->id()) > at)
        run.Error(*i, "schedule-c2", "it is scheduled before its control predecessor %",
                  before->name());
  }
}

}  // namespace

void CheckSchedules(VerifyRun& run) {
  for (const VerifyRun::Body& body : run.bodies) {
    if (run.out.full()) return;
    if (body.computation->has_schedule()) CheckSchedule(run, body);
  }
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
