// Programs that run side by side, as the tests of StableHLO's collectives have them:
//
//   %results:2 = "interpreter.run_parallel"(%a, %b) {programs = [[@all_reduce], [@all_reduce]]}
//
// runs a grid of processes, a row for each replica and a column for each partition. All are
// converted into the computation at hand, and a collective is what it computes of its participants'
// values: an all_gather joins them, an all_reduce applies its region to them one after the other.
//
// Each process is a list of operations. One goes on until it meets others at a collective; when all
// members of a group wait, the group's results are made and they go on. Calls are followed into.
// The region of an async_start is followed into at once. Where nothing else goes on, those that
// wait at loops or branches with meetings inside go through them together (parallel_control.cc).
// Cost: each operation once for each process; each round over those that wait lets one go on.
#include <algorithm>

#include "absl/strings/match.h"
#include "stablehlo/convert/collectives_internal.h"
#include "stablehlo/convert/parallel_internal.h"

namespace hlokit {
namespace {

constexpr size_t kMaxProcesses = 1024;
constexpr size_t kMaxCallDepth = 100;

// Operations that act beside giving results: they cannot be done for a process that is not there.
bool Acts(const MlirOperation& op) {
  if (op.name == "stablehlo.custom_call")
    return OpAttributes(op).Bool("has_side_effect", false).value_or(true);
  return absl::StartsWith(op.name, "check.") || absl::StartsWith(op.name, "interpreter.") ||
         op.name == "stablehlo.infeed" || op.name == "stablehlo.outfeed";
}

}  // namespace

absl::StatusOr<const MlirBlock*> ParallelRun::BlockOfFunction(const std::string& name) const {
  const MlirOperation* function = around_.module().FunctionOperation(name);
  if (function == nullptr || function->regions.size() != 1 ||
      function->regions[0].blocks.size() != 1 || function->regions[0].blocks[0]->operations.empty())
    return InvalidArgument(op_.name, ": there is no function ", name, " with a body");
  return function->regions[0].blocks[0].get();
}

// Inputs are those of the first process, then of the second, and so on.
absl::Status ParallelRun::StartProcesses() {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> inputs, around_.Operands(op_));
  const MlirAttribute* programs = op_.Find("programs");
  if (programs == nullptr || programs->elements.empty() || programs->elements[0]->elements.empty())
    return InvalidArgument(op_.name, ": expected a grid of programs");
  replicas_ = static_cast<int64_t>(programs->elements.size());
  partitions_ = static_cast<int64_t>(programs->elements[0]->elements.size());
  size_t next = 0;
  for (const MlirAttribute* row : programs->elements) {
    if (static_cast<int64_t>(row->elements.size()) != partitions_)
      return InvalidArgument(op_.name, ": the rows of programs differ in length");
    for (const MlirAttribute* program : row->elements) {
      if (processes_.size() >= kMaxProcesses)
        return Unimplemented(op_.name, " of more than ", kMaxProcesses, " processes");
      ASSIGN_OR_RETURN(const MlirBlock* block, BlockOfFunction(program->text));
      Process& p = processes_.emplace_back();
      const int64_t number = static_cast<int64_t>(processes_.size()) - 1;
      p.replica = number / partitions_;
      p.partition = number % partitions_;
      p.body = std::make_shared<BodyConverter>(around_.module(), around_.computation(), nullptr);
      p.frames.push_back({block});
      if (next + block->arguments.size() > inputs.size())
        return InvalidArgument(op_.name, ": the programs take more than ", inputs.size(),
                               " values");
      for (const MlirValue& argument : block->arguments) p.body->Set(argument, inputs[next++]);
    }
  }
  if (next == inputs.size()) return absl::OkStatus();
  return InvalidArgument(op_.name, ": the programs take ", next, " values, but there are ",
                         inputs.size());
}

// From meeting to meeting, until all are done.
absl::Status ParallelRun::Proceed() {
  for (bool moved = true; moved;) {
    moved = false;
    for (size_t i = 0; i < processes_.size(); ++i) {
      Process& p = processes_[i];
      if (!p.done && p.waits == nullptr) {
        RETURN_IF_ERROR(Advance(i));
        moved = true;
      }
    }
    for (size_t i = 0; i < processes_.size(); ++i) {
      const MlirOperation* waits = processes_[i].waits;
      if (waits == nullptr || WaitsForOthers(processes_[i], *waits)) continue;
      const bool receives = waits->name == "stablehlo.recv";
      ASSIGN_OR_RETURN(const bool met, receives ? Receive(i) : Meet(i));
      moved |= met;
    }
    if (moved) continue;
    ASSIGN_OR_RETURN(moved, RunControl());
  }
  for (const Process& p : processes_)
    if (!p.done)
      return WithPlace(InvalidArgument(p.waits->name, ": not all of its participants reach it"),
                       p.waits->place);
  return absl::OkStatus();
}

absl::Status ParallelRun::Run() {
  RETURN_IF_ERROR(StartProcesses());
  RETURN_IF_ERROR(Proceed());
  std::vector<Instruction*> results;
  for (const Process& p : processes_) {
    results.insert(results.end(), p.results.begin(), p.results.end());
  }
  if (results.size() != op_.results.size())
    return InvalidArgument(op_.name, ": the programs return ", results.size(), " values, expected ",
                           op_.results.size());
  for (size_t i = 0; i < results.size(); ++i) {
    if (!SameIgnoringLayout(results[i]->shape(), BodyConverter::ShapeOf(*op_.results[i].type)))
      return InvalidArgument(op_.name, ": result ", i, " is ", Text(results[i]->shape()));
    around_.Set(op_.results[i], results[i]);
  }
  return absl::OkStatus();
}

// Through the operations before the next one that waits.
absl::Status ParallelRun::Advance(size_t process) {
  Process& p = processes_[process];
  while (!p.done && p.waits == nullptr) {
    ProcessFrame& frame = p.frames.back();
    if (frame.next >= frame.block->operations.size())
      return InvalidArgument(op_.name, ": a program does not return");
    const MlirOperation& op = *frame.block->operations[frame.next];
    if (inside_ && Acts(op))
      return WithPlace(Unimplemented(op.name, " in a loop or branch in which programs that run ",
                                     "side by side meet has no equal in HLO"),
                       op.place);
    const bool together = WaitsForOthers(p, op);
    const MlirBlock* known = nullptr;
    if (together) {
      ASSIGN_OR_RETURN(known, KnownBranch(p, op));
    }
    if (MeetingOf(op.name) != Meeting::kNone || op.name == "stablehlo.recv" ||
        (together && known == nullptr)) {
      p.waits = &op;
      return absl::OkStatus();
    }
    ++frame.next;  // before a call or branch, which adds a frame
    if (known != nullptr) {
      p.frames.push_back({known, 0, &op});
      continue;
    }
    absl::StatusOr<bool> stepped = Step(p, op);
    if (!stepped.ok()) return WithPlace(stepped.status(), op.place);
    if (*stepped) continue;
    RETURN_IF_ERROR(p.body->ConvertOne(op));
  }
  return absl::OkStatus();
}

// Whether the operation is one that has a meaning of its own here; it is done then.
absl::StatusOr<bool> ParallelRun::Step(Process& p, const MlirOperation& op) {
  if (op.name == op_.name)  // which may name the function that holds it, too
    return Unimplemented(op.name, " inside a program that runs side by side with others");
  absl::Status done;
  if (op.name == "func.return" || op.name == "stablehlo.return") {
    done = Leave(p, op);
  } else if (op.name == "stablehlo.replica_id") {
    done = SetIndex(p, op, p.replica);
  } else if (op.name == "stablehlo.partition_id") {
    done = SetIndex(p, op, p.partition);
  } else if (op.name == "stablehlo.send") {
    done = Send(p, op);
  } else if (op.name == "stablehlo.infeed") {
    done = Infeed(p, op);
  } else if (op.name == "func.call" || op.name == "stablehlo.composite") {
    const MlirAttribute* callee = op.Find(op.name == "func.call" ? "callee" : "decomposition");
    if (callee == nullptr || p.frames.size() >= kMaxCallDepth)
      return InvalidArgument(op.name, ": no function, or calls nest too deeply");
    ASSIGN_OR_RETURN(const MlirBlock* block, BlockOfFunction(callee->text));
    ASSIGN_OR_RETURN(const std::vector<Instruction*> arguments, p.body->Operands(op));
    if (arguments.size() != block->arguments.size())
      return InvalidArgument(op.name, ": expected ", block->arguments.size(), " arguments");
    for (size_t i = 0; i < arguments.size(); ++i) p.body->Set(block->arguments[i], arguments[i]);
    p.frames.push_back({block, 0, &op});
  } else if (op.name == "stablehlo.async_start") {
    ASSIGN_OR_RETURN(const MlirBlock* block, BlockOf(op, 0, op.operands.size()));
    ASSIGN_OR_RETURN(const std::vector<Instruction*> arguments, p.body->Operands(op));
    for (size_t i = 0; i < arguments.size(); ++i) p.body->Set(block->arguments[i], arguments[i]);
    p.frames.push_back({block, 0, &op});
  } else {
    return false;
  }
  RETURN_IF_ERROR(done);
  return true;
}

// Returns from a function to its caller, or ends the process.
absl::Status ParallelRun::Leave(Process& p, const MlirOperation& last) {
  ASSIGN_OR_RETURN(std::vector<Instruction*> values, p.body->Operands(last));
  const MlirOperation* call = p.frames.back().call;
  p.frames.pop_back();
  if (call == nullptr) {
    p.done = true;
    p.results = std::move(values);
    return absl::OkStatus();
  }
  if (call->name == "stablehlo.async_start" && call->results.size() == 1 && !values.empty())
    values = {values.size() == 1 ? values[0] : p.body->Tuple(values)};
  if (values.size() != call->results.size())
    return InvalidArgument(call->name, ": what it enters returns ", values.size(), " values");
  for (size_t i = 0; i < values.size(); ++i) p.body->Set(call->results[i], values[i]);
  return absl::OkStatus();
}

absl::Status ParallelRun::SetIndex(Process& p, const MlirOperation& op, int64_t index) {
  if (op.results.size() != 1) return InvalidArgument(op.name, ": expected one result");
  p.body->Set(op.results[0], around_.Splat(static_cast<double>(index),
                                           Shape::Scalar(ElementType::kU32).WithDefaultLayout()));
  return absl::OkStatus();
}

absl::Status ParallelRun::Send(Process& p, const MlirOperation& op) {
  ASSIGN_OR_RETURN(std::vector<Instruction*> operands, p.body->Operands(op));
  ASSIGN_OR_RETURN(const auto channel, ChannelOf(op));
  if (operands.empty() || op.results.size() != 1)
    return InvalidArgument(op.name, ": expected data and a token, and a token as the result");
  p.body->Set(op.results[0], operands.back());
  operands.pop_back();
  const size_t number = static_cast<size_t>(p.replica * partitions_ + p.partition);
  sent_[channel.value_or(0)].emplace_back(number, std::move(operands));
  return absl::OkStatus();
}

// Takes what its channel has; of its own source where the operation names one.
absl::StatusOr<bool> ParallelRun::Receive(size_t process) {
  Process& p = processes_[process];
  ASSIGN_OR_RETURN(const auto channel, ChannelOf(*p.waits));
  ASSIGN_OR_RETURN(const DimVector pairs,
                   OpAttributes(*p.waits).OptionalInts("source_target_pairs"));
  int64_t source = -1;
  for (size_t i = 0; i + 1 < pairs.size(); i += 2)
    if (pairs[i + 1] == static_cast<int64_t>(process)) source = pairs[i];
  auto& queue = sent_[channel.value_or(0)];
  const auto found = std::find_if(queue.begin(), queue.end(), [&](const auto& item) {
    return source < 0 || static_cast<int64_t>(item.first) == source;
  });
  if (found == queue.end()) return false;
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, p.body->Operands(*p.waits));
  std::vector<Instruction*> results = found->second;
  queue.erase(found);
  if (operands.size() != 1) return InvalidArgument(p.waits->name, ": expected a token");
  results.push_back(operands[0]);
  if (results.size() != p.waits->results.size())
    return InvalidArgument(p.waits->name, ": ", results.size() - 1, " values were sent");
  Finish(p, results);
  return true;
}

// The values of the next function in the list of infeeds.
absl::Status ParallelRun::Infeed(Process& p, const MlirOperation& op) {
  const MlirAttribute* queue = op_.Find("infeed");
  if (queue == nullptr || next_infeed_ >= queue->elements.size())
    return InvalidArgument(op.name, ": the infeed is empty");
  ASSIGN_OR_RETURN(const MlirBlock* block, BlockOfFunction(queue->elements[next_infeed_++]->text));
  BodyConverter inside(around_.module(), around_.computation(), nullptr);
  ASSIGN_OR_RETURN(const MlirOperation* last, inside.ConvertOperations(*block));
  ASSIGN_OR_RETURN(std::vector<Instruction*> values, inside.Operands(*last));
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, p.body->Operands(op));
  values.insert(values.end(), operands.begin(), operands.end());
  if (values.size() != op.results.size())
    return InvalidArgument(op.name, ": the infeed has ", values.size() - 1, " values");
  for (size_t i = 0; i < values.size(); ++i) p.body->Set(op.results[i], values[i]);
  return absl::OkStatus();
}

absl::Status ConvertRunParallel(BodyConverter& body, const MlirOperation& op) {
  return ParallelRun(body, op).Run();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
