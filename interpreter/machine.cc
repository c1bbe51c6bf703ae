// The interpreter's machine: executes one device's program, one instruction per step. It is the
// reference for all backends, so it favours clarity over speed; the arithmetic is in ops/.
//
// Calls use an explicit stack of frames instead of recursion: a loop or a call pushes a frame, and
// Return() continues the caller with the callee's result. So nesting depth does not depend on the
// size of the thread's stack. Only computations that ops/ runs through a callback (reducers,
// comparators) recurse, at most kMaxNesting deep.
//   while: Push(condition) -> Return: true -> Push(body) -> Return -> Push(condition) -> ...
//     -> Finish
//
// Values are shared, not copied. A value that is read for the last time is moved, so that
// dynamic-update-slice in a loop works in place: n updates of one element cost O(n), not O(n^2).
#include "interpreter/machine_internal.h"

#include <algorithm>

#include "ops/evaluate/control.h"
#include "ops/evaluate/movement.h"
#include "support/diagnostics.h"
#include "support/status.h"
#include "types/shape_bytes.h"

namespace hlokit {
namespace {

constexpr int kMaxNesting = 64;        // of runs inside runs, which use the thread's stack
constexpr size_t kMaxFrames = 100000;  // deeper calls can only be a cycle

bool Passes(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAddDependency:
    case Opcode::kAllReduceDone:
    case Opcode::kAsyncUpdate:
    case Opcode::kCopy:
    case Opcode::kDomain:
    case Opcode::kOptimizationBarrier:
      return true;
    default:
      return false;
  }
}

// Which element of its operand an opcode picks, or -1.
int64_t PickedElement(const Instruction& instruction) {
  switch (instruction.opcode()) {
    case Opcode::kGetTupleElement:
      return instruction.tuple_index();
    case Opcode::kCopyDone:
      return 0;
    case Opcode::kAllGatherDone:
    case Opcode::kAsyncDone:
    case Opcode::kCollectivePermuteDone:
      return 1;
    default:
      return -1;
  }
}

bool NeedsOtherDevices(Opcode opcode) {
  return HasTrait(opcode, kCollective) || opcode == Opcode::kSend || opcode == Opcode::kSendDone ||
         opcode == Opcode::kRecv || opcode == Opcode::kRecvDone || opcode == Opcode::kInfeed ||
         opcode == Opcode::kOutfeed || opcode == Opcode::kCustomCall;
}

}  // namespace

Machine::Machine(const RunState& state, int64_t replica, int64_t partition, int64_t device)
    : state_(state), replica_(replica), partition_(partition), device_(device) {
  call_ = [this](const Computation& computation,
                 absl::Span<const Literal* const> arguments) -> absl::StatusOr<Literal> {
    std::vector<Value> values;
    for (const Literal* argument : arguments) values.push_back(Value::Borrow(*argument));
    ASSIGN_OR_RETURN(Value result, Run(computation, std::move(values)));
    return std::move(result).Take();
  };
}

absl::StatusOr<Value> Machine::Run(const Computation& computation, std::vector<Value> arguments) {
  if (nesting_ >= kMaxNesting)
    return ResourceExhausted("computations nest too deep at ", computation.name());
  ++nesting_;
  const size_t base = frames_.size();
  absl::Status status = Push(computation, std::move(arguments));
  Value result;
  while (status.ok() && frames_.size() > base) {
    Frame& top = *frames_.back();
    if (top.at < top.plan->steps.size()) {
      status = Step();
      continue;
    }
    result = std::move(top.values[top.plan->root]);
    frames_.pop_back();
    if (frames_.size() > base) status = Return(std::move(result));
  }
  frames_.resize(std::min(frames_.size(), base));
  --nesting_;
  RETURN_IF_ERROR(status);
  return result;
}

absl::Status Machine::Push(const Computation& computation, std::vector<Value> arguments) {
  if (frames_.size() >= kMaxFrames)
    return ResourceExhausted("calls nest too deep at ", computation.name());
  if (static_cast<int64_t>(arguments.size()) != computation.parameter_count())
    return InvalidArgument(computation.name(), " takes ", computation.parameter_count(),
                           " arguments, not ", arguments.size());
  auto frame = std::make_unique<Frame>();
  frame->plan = &plans_.Of(computation);
  frame->arguments = std::move(arguments);
  frame->values.resize(frame->plan->steps.size());
  frames_.push_back(std::move(frame));
  return absl::OkStatus();
}

absl::Status Machine::Step() {
  Frame& frame = *frames_.back();
  const PlanStep& step = frame.plan->steps[frame.at];
  const Instruction& instruction = *step.instruction;
  absl::Status status = CheckLimits(instruction);
  if (status.ok()) {
    switch (instruction.opcode()) {
      case Opcode::kCall:
      case Opcode::kFusion:
      case Opcode::kWhile:
      case Opcode::kConditional:
      case Opcode::kAsyncStart:
        status = CallStep(frame, step);
        break;
      default: {
        absl::StatusOr<Value> value = EvaluateStep(frame, step);
        status = value.ok() ? Finish(frame, *std::move(value)) : value.status();
      }
    }
  }
  return status.ok() ? status : WithPlace(status, instruction.place());
}

absl::Status Machine::CallStep(Frame& frame, const PlanStep& step) {
  const Instruction& instruction = *step.instruction;
  std::vector<Value> arguments;
  if (instruction.opcode() == Opcode::kWhile) {
    frame.loop_state = frame.values[step.operands[0]];
    // The loop owns its state where nothing else reads it, so that updates happen in place.
    if (std::find(step.last_uses.begin(), step.last_uses.end(), step.operands[0]) !=
        step.last_uses.end())
      frame.values[step.operands[0]] = Value();
    frame.in_condition = true;
    return Push(*instruction.called(0), {frame.loop_state});
  }
  if (instruction.opcode() == Opcode::kConditional) {
    const int64_t branches = instruction.called().size();
    const int64_t branch = BranchIndex(frame.values[step.operands[0]].literal(), branches);
    if (branch + 1 >= static_cast<int64_t>(step.operands.size()))
      return InvalidArgument("conditional: no operand");
    return Push(*instruction.called(branch), {frame.values[step.operands[branch + 1]]});
  }
  if (instruction.to_apply() == nullptr)
    return InvalidArgument(Text(instruction.opcode()), ": calls nothing");
  for (int slot : step.operands) arguments.push_back(frame.values[slot]);
  return Push(*instruction.to_apply(), std::move(arguments));
}

// The top frame waits for this result at step `at`; an asynchronous start wraps it as XLA does:
// ((operands), result, contexts...).
absl::Status Machine::Return(Value result) {
  Frame& frame = *frames_.back();
  const PlanStep& step = frame.plan->steps[frame.at];
  const Instruction& instruction = *step.instruction;
  if (instruction.opcode() == Opcode::kWhile) {
    if (!frame.in_condition) {
      frame.loop_state = std::move(result);
      frame.in_condition = true;
      RETURN_IF_ERROR(CheckLimits(instruction));
      return Push(*instruction.called(0), {frame.loop_state});
    }
    frame.in_condition = false;
    if (result.literal().GetInt(0) != 0)
      return Push(*instruction.called(1), {std::move(frame.loop_state)});
    return Finish(frame, std::move(frame.loop_state));
  }
  if (instruction.opcode() == Opcode::kAsyncStart) {
    std::vector<Value> operands, parts;
    for (int slot : step.operands) operands.push_back(frame.values[slot]);
    parts.push_back(Value::Tuple(std::move(operands)));
    parts.push_back(std::move(result));
    const std::vector<Shape>& shapes = instruction.shape().elements;
    for (size_t i = 2; i < shapes.size(); ++i) parts.emplace_back(Literal(shapes[i]), state_.meter);
    return Finish(frame, Value::Tuple(std::move(parts)));
  }
  return Finish(frame, std::move(result));
}

absl::Status Machine::Finish(Frame& frame, Value value) {
  const PlanStep& step = frame.plan->steps[frame.at];
  if (state_.options->observer) {
    if (value.is_tuple()) {
      const Literal whole = Value(value).Take();
      RETURN_IF_ERROR(state_.options->observer(device_, *step.instruction, whole));
    } else {
      RETURN_IF_ERROR(state_.options->observer(device_, *step.instruction, value.literal()));
    }
  }
  frame.values[frame.at] = std::move(value);
  for (int slot : step.last_uses) frame.values[slot] = Value();
  ++frame.at;
  return absl::OkStatus();
}

absl::StatusOr<Value> Machine::EvaluateStep(Frame& frame, const PlanStep& step) {
  const Instruction& instruction = *step.instruction;
  if (Passes(instruction.opcode())) return frame.values[step.operands[0]];
  if (const int64_t element = PickedElement(instruction); element >= 0) {
    const Value& tuple = frame.values[step.operands[0]];
    if (!tuple.is_tuple() || element >= static_cast<int64_t>(tuple.elements().size()))
      return InvalidArgument(Text(instruction.opcode()), ": its operand has no element ", element);
    return tuple.elements()[element];
  }
  switch (instruction.opcode()) {
    case Opcode::kParameter: {
      const int64_t number = instruction.parameter_number();
      if (number < 0 || number >= static_cast<int64_t>(frame.arguments.size()))
        return InvalidArgument("parameter ", number, " has no argument");
      return std::move(frame.arguments[number]);
    }
    case Opcode::kConstant: {
      const SharedLiteral& literal = instruction.attr<ConstantAttrs>().literal;
      if (literal == nullptr || literal->shape().IsTuple()) return EvaluateGeneric(frame, step);
      return Value::Share(literal);
    }
    case Opcode::kTuple: {
      std::vector<Value> elements;
      for (int slot : step.operands) elements.push_back(frame.values[slot]);
      return Value::Tuple(std::move(elements));
    }
    case Opcode::kDynamicUpdateSlice: {
      const int slot = step.operands[0];
      const bool last =
          std::find(step.last_uses.begin(), step.last_uses.end(), slot) != step.last_uses.end();
      const bool once = std::count(step.operands.begin(), step.operands.end(), slot) == 1;
      if (Literal* target = last && once ? frame.values[slot].Exclusive() : nullptr)
        return UpdateInPlace(frame, step, *target);
      return EvaluateGeneric(frame, step);
    }
    default:
      return EvaluateGeneric(frame, step);
  }
}

absl::StatusOr<Value> Machine::UpdateInPlace(Frame& frame, const PlanStep& step, Literal& target) {
  std::vector<const Literal*> indices;
  for (size_t i = 2; i < step.operands.size(); ++i)
    indices.push_back(&frame.values[step.operands[i]].literal());
  UpdateSlice(target, frame.values[step.operands[1]].literal(), indices);
  return std::move(frame.values[step.operands[0]]);
}

absl::StatusOr<Value> Machine::EvaluateGeneric(Frame& frame, const PlanStep& step) {
  std::vector<Literal> tuples;  // operands that are tuples, put together
  std::vector<const Literal*> operands;
  tuples.reserve(step.operands.size());
  for (int slot : step.operands) {
    const Value& value = frame.values[slot];
    if (value.is_tuple()) tuples.push_back(Value(value).Take());
    operands.push_back(value.is_tuple() ? &tuples.back() : &value.literal());
  }
  ASSIGN_OR_RETURN(Literal result, EvaluateOne(*step.instruction, operands));
  return Value(std::move(result), state_.meter);
}

absl::StatusOr<Literal> Machine::EvaluateOne(const Instruction& instruction,
                                             absl::Span<const Literal* const> operands) {
  EvalContext context{instruction, operands, call_, replica_, partition_, nullptr};
  context.partitions = state_.collectives->partition_count();
  context.ffi_states = state_.ffi_states.get();
  context.ffi_run = state_.ffi_run.get();
  if (NeedsOtherDevices(instruction.opcode()))
    context.communicate = [this](const EvalContext& c) { return Communicate(c); };
  return Evaluate(context);
}

// A recv in the computation of an async-start has no recv-done: the async-done waits for it, so it
// receives where it stands.
bool Machine::RunsInAsyncStart() const {
  if (frames_.size() < 2) return false;
  const Frame& caller = *frames_[frames_.size() - 2];
  return caller.plan->steps[caller.at].instruction->opcode() == Opcode::kAsyncStart;
}

absl::StatusOr<Literal> Machine::Communicate(const EvalContext& context) {
  const Instruction& instruction = context.instruction;
  if (HasTrait(instruction.opcode(), kCollective) || instruction.opcode() == Opcode::kCustomCall)
    return state_.collectives->Collective(device_, context);
  if (instruction.opcode() == Opcode::kOutfeed) {
    if (state_.options->outfeed)
      RETURN_IF_ERROR(state_.options->outfeed(device_, *context.operands[0]));
    return Literal::Token();
  }
  Literal result(instruction.shape());
  if (instruction.opcode() == Opcode::kSendDone) return result;
  if (instruction.opcode() == Opcode::kRecv && !RunsInAsyncStart()) return result;
  if (result.elements().empty())
    return InvalidArgument(Text(instruction.opcode()), " gives ", Text(instruction.shape()));
  Literal& data = result.elements()[0];
  if (instruction.opcode() == Opcode::kInfeed) {
    if (!state_.options->infeed) return FailedPrecondition("infeed: nothing was given to feed in");
    ASSIGN_OR_RETURN(data, state_.options->infeed(device_, instruction.shape().elements[0]));
  } else if (instruction.attr<SendRecvAttrs>().is_host_transfer) {
    return TransferToHost(context, std::move(result));
  } else if (instruction.opcode() == Opcode::kSend) {
    RETURN_IF_ERROR(state_.collectives->Send(device_, instruction, *context.operands[0]));
    data = *context.operands[0];
  } else {
    ASSIGN_OR_RETURN(data, state_.collectives->Receive(device_, instruction));
  }
  return result;
}

// Sends go to the outfeed's queue, receives come from the infeed's.
absl::StatusOr<Literal> Machine::TransferToHost(const EvalContext& context, Literal result) {
  if (context.instruction.opcode() == Opcode::kSend) {
    if (state_.options->outfeed)
      RETURN_IF_ERROR(state_.options->outfeed(device_, *context.operands[0]));
    result.elements()[0] = *context.operands[0];
    return result;
  }
  if (!state_.options->infeed) return FailedPrecondition("recv from the host: nothing was given");
  ASSIGN_OR_RETURN(result.elements()[0],
                   state_.options->infeed(device_, result.elements()[0].shape()));
  return result;
}

// Limits of the options: steps, cancellation, time, memory. Checked before each instruction, and
// once per loop iteration.
absl::Status Machine::CheckLimits(const Instruction& instruction) {
  const InterpreterOptions& options = *state_.options;
  ++steps_;
  if (options.step_limit > 0 && steps_ > options.step_limit)
    return ResourceExhausted("more than ", options.step_limit, " steps");
  if (options.cancel != nullptr && options.cancel->load(std::memory_order_relaxed))
    return absl::CancelledError("interrupted");
  if (options.time_limit_s > 0 && std::chrono::steady_clock::now() > state_.deadline)
    return absl::DeadlineExceededError(absl::StrCat("more than ", options.time_limit_s, " s"));
  const int64_t bytes = TotalBytes(instruction.shape());
  if (bytes > state_.memory_limit - state_.meter->load(std::memory_order_relaxed) && bytes > 0)
    return ResourceExhausted(Text(instruction.shape()), " would take the run over its ",
                             state_.memory_limit, " bytes of memory");
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
