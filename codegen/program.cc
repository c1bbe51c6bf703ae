// Steps from instructions. A Program is what a target executes: for each computation a sequence of
// steps in schedule order, each with the slices of buffers that it reads and writes.
//   %r = f32[64,16] dot(%a, %w)  ->
//   library dot %r(arena[0:256000], parameter1[0:64000]) -> (output0[0:4096])
// Instructions that only name arrays (tuple, get-tuple-element, bitcast) have no step.
#include "codegen/program.h"

#include "analysis/in_place.h"

namespace hlokit {
namespace {

// Runs nothing: no side effect, and no bytes to write.
bool IsNoOp(const Instruction& i, absl::Span<const Slice> results) {
  if (i.HasSideEffect()) return false;
  for (const Slice& slice : results)
    if (slice.kind != Slice::Kind::kNone) return false;
  return true;
}

// Breadth first: a sequence's steps name the sequences that they run before these have steps.
class ProgramMaker {
 public:
  ProgramMaker(const BufferAssignment& buffers, TargetStepKind kind_of)
      : buffers_(buffers), kind_of_(kind_of) {}

  Program Make(const Computation& entry) {
    program_.sequences.push_back({&entry, {}, buffers_.output_copies()});
    for (size_t k = 0; k < program_.sequences.size(); ++k) {
      std::vector<Step> steps;
      for (const Instruction* i : program_.sequences[k].computation->ScheduleOrPostOrder())
        if (!OnlyNamesArrays(*i)) AddStep(*i, steps);
      program_.sequences[k].steps = std::move(steps);
    }
    return std::move(program_);
  }

 private:
  void AddStep(const Instruction& i, std::vector<Step>& steps) {
    Step step;
    step.instruction = &i;
    step.results = {buffers_.slices(&i).begin(), buffers_.slices(&i).end()};
    for (const Instruction* operand : i.operands())
      step.operands.insert(step.operands.end(), buffers_.slices(operand).begin(),
                           buffers_.slices(operand).end());
    SetKind(i, step);
    const bool calls = !step.bodies.empty();
    if (calls || !IsNoOp(i, step.results)) steps.push_back(std::move(step));
  }

  void SetKind(const Instruction& i, Step& step) {
    switch (i.opcode()) {
      case Opcode::kWhile:
        step.kind = StepKind::kWhile;
        step.copies = buffers_.loop_entry_copies(&i);
        step.selector = buffers_.slice(i.called(0)->root());
        step.bodies = {AddSequence(*i.called(0), {}),
                       AddSequence(*i.called(1), buffers_.loop_back_copies(&i))};
        break;
      case Opcode::kConditional:
        step.kind = StepKind::kConditional;
        step.selector = buffers_.slice(i.operand(0));
        for (size_t b = 0; b < i.called().size(); ++b)
          step.bodies.push_back(
              AddSequence(*i.called()[b], buffers_.branch_copies(&i, static_cast<int64_t>(b))));
        break;
      case Opcode::kCall:
        step.kind = StepKind::kCall;
        step.bodies = {AddSequence(*i.to_apply(), {})};
        break;
      case Opcode::kPartitionId:
      case Opcode::kReplicaId:
        step.kind = StepKind::kDeviceId;
        break;
      default:
        step.kind = kind_of_(i);
    }
  }

  // Appends a sequence that has no steps yet, returns its index; Make fills it in its turn.
  int32_t AddSequence(const Computation& computation, std::vector<BufferCopy> copies) {
    program_.sequences.push_back({&computation, {}, std::move(copies)});
    return static_cast<int32_t>(program_.sequences.size() - 1);
  }

  const BufferAssignment& buffers_;
  TargetStepKind kind_of_;
  Program program_;
};

}  // namespace

// In the order of StepKind.
absl::string_view Text(StepKind kind) {
  constexpr absl::string_view kTexts[kNumStepKinds] = {
      "kernel", "library", "collective", "host", "device-id", "while", "conditional", "call"};
  return kTexts[static_cast<int>(kind)];
}

bool OnlyNamesArrays(const Instruction& i) {
  switch (i.opcode()) {
    case Opcode::kParameter:
    case Opcode::kConstant:
    case Opcode::kTuple:
    case Opcode::kGetTupleElement:
    case Opcode::kAfterAll:
    case Opcode::kRecv:      // recv-done takes the data
    case Opcode::kSendDone:  // send does not wait for the receiver
      return true;
    default:
      return IsPassThrough(i);
  }
}

Program MakeProgram(const Module& module, const BufferAssignment& buffers, TargetStepKind kind_of) {
  return ProgramMaker(buffers, kind_of).Make(*module.entry());
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
