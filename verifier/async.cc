// Asynchronous pairs: every start has its done, and nothing else takes what is in flight.
#include "absl/strings/str_cat.h"
#include "ir/op_facts.h"
#include "verifier/verifier_internal.h"

namespace hlokit {
namespace {

// async-start, async-update, async-done.
bool IsGeneric(Opcode opcode) { return Info(opcode).calls == CallForm::kAsyncCalls; }

// send, recv and what waits for them.
bool IsTransfer(Opcode opcode) {
  return HasTrait(opcode, kSideEffect) && (DoneOf(opcode) || StartOf(opcode));
}

// [async-c1] what a start returns goes to one done, [async-c2] which takes it from there.
void CheckNativePair(VerifyRun& run, const Instruction& i) {
  if (IsGeneric(i.opcode()) || IsTransfer(i.opcode())) return;
  if (const auto done = DoneOf(i.opcode());
      done && (i.users().size() != 1 || i.users()[0]->opcode() != *done))
    run.Error(i, "async-c1", "expects one user, ", Text(*done), ", found ",
              i.users().empty() ? absl::string_view("none") : Text(i.users()[0]->opcode()));
  if (const auto start = StartOf(i.opcode()); start && i.operand(0)->opcode() != *start)
    run.Error(i, "async-c2", "expects a ", Text(*start), " as operand, found ",
              Text(i.operand(0)->opcode()));
}

// The same for async-start, -update and -done; [async-c3] all of a chain wrap one computation and
// run on one thread.
void CheckChain(VerifyRun& run, const Instruction& i) {
  if (!IsGeneric(i.opcode())) return;
  if (i.opcode() != Opcode::kAsyncDone) {
    const bool continues = i.users().size() == 1 && IsGeneric(i.users()[0]->opcode()) &&
                           i.users()[0]->opcode() != Opcode::kAsyncStart;
    if (!continues) run.Error(i, "async-c1", "expects one user, an async-update or async-done");
  }
  if (i.opcode() == Opcode::kAsyncStart) return;
  const Instruction& before = *i.operand(0);
  if (before.opcode() != Opcode::kAsyncStart && before.opcode() != Opcode::kAsyncUpdate) {
    run.Error(i, "async-c2", "expects an async-start or async-update as operand, found ",
              Text(before.opcode()));
    return;
  }
  const auto& thread = i.attr<AsyncAttrs>().async_execution_thread;
  const auto& thread_before = before.attr<AsyncAttrs>().async_execution_thread;
  if (!i.called().empty() && !before.called().empty() && i.to_apply() != before.to_apply())
    run.Error(i, "async-c3", "it wraps ", i.to_apply()->name(), ", but %", before.name(), " wraps ",
              before.to_apply()->name());
  if (!thread.empty() && !thread_before.empty() && thread != thread_before)
    run.Error(i, "async-c3", "it runs on thread ", thread, ", but %", before.name(), " on ",
              thread_before);
}

// [async-c4] a transfer is taken by its done op (through tuples and loops, where it is pipelined),
// [async-c5] on the same channel and of the same kind.
void CheckTransfer(VerifyRun& run, const Instruction& i) {
  if (!IsTransfer(i.opcode())) return;
  if (const auto done = DoneOf(i.opcode())) {
    for (const Instruction* user : i.users())
      if (user->opcode() != *done && user->opcode() != Opcode::kTuple &&
          user->opcode() != Opcode::kGetTupleElement)
        run.Error(i, "async-c4", "expects a ", Text(*done), " as user, found ",
                  Text(user->opcode()));
  }
  const auto expected = StartOf(i.opcode());
  if (!expected) return;
  const Instruction& start = *i.operand(0);
  if (!IsTransfer(start.opcode()) || !DoneOf(start.opcode())) return;
  if (start.opcode() != *expected) {
    run.Error(i, "async-c4", "expects a ", Text(*expected), " as operand, found ",
              Text(start.opcode()));
    return;
  }
  const auto& own = i.attr<SendRecvAttrs>();
  const auto& other = start.attr<SendRecvAttrs>();
  const auto text = [](const std::optional<int64_t>& id) {
    return id ? absl::StrCat(*id) : "none";
  };
  if (own.channel_id != other.channel_id)
    run.Error(i, "async-c5", "channel_id=", text(own.channel_id), ", but %", start.name(), " has ",
              text(other.channel_id));
  if (own.is_host_transfer != other.is_host_transfer)
    run.Error(i, "async-c5", "is_host_transfer differs from %", start.name());
}

}  // namespace

void CheckAsync(VerifyRun& run) {
  run.ForEachInstruction([&](const Instruction& i) {
    CheckNativePair(run, i);
    CheckChain(run, i);
    CheckTransfer(run, i);
  });
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
