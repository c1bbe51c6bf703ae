// Segments of steps as graphs. Recording runs the steps with a recorder in the place of the stream:
// what would be launched becomes a node. All addresses stay as long as the run, so a graph is made
// once.
#include "backends/cuda/device_run_internal.h"
#include "support/status.h"

namespace hlokit {
namespace {

constexpr int64_t kLoopRuns = 8;  // of a loop's body, before a graph of its own is worth its time

}  // namespace

absl::Status CudaDeviceRun::RunSegmentSteps(const StepSequence& sequence,
                                            const GraphSegment& segment) {
  RETURN_IF_ERROR(RunSteps(sequence, segment.begin, segment.end));
  return segment.has_copies ? RunCopies(sequence.copies) : absl::OkStatus();
}

absl::Status CudaDeviceRun::RunSegment(int32_t number, GraphSegment& segment) {
  const StepSequence& sequence = p_.program.sequences[static_cast<size_t>(number)];
  const int64_t wait = number == 0 ? 1 : kLoopRuns;
  if (segment.graph == nullptr && segment.nodes > 1 &&
      segment.runs++ >= wait * graphs_->runs_before()) {
    const absl::Status status = Record(sequence, segment);
    // What the driver does not take as a graph is launched one by one, then and later.
    if (absl::IsUnimplemented(status)) segment.nodes = 0;
    if (!status.ok() && !absl::IsUnimplemented(status)) return status;
  }
  return segment.graph != nullptr ? segment.graph->Launch(code_.stream)
                                  : RunSegmentSteps(sequence, segment);
}

absl::Status CudaDeviceRun::Record(const StepSequence& sequence, GraphSegment& segment) {
  GraphRecorder recorder(code_);
  RETURN_IF_ERROR(recorder.Begin());
  recorder_ = &recorder;
  const absl::Status status = RunSegmentSteps(sequence, segment);
  recorder_ = nullptr;
  RETURN_IF_ERROR(status);
  ASSIGN_OR_RETURN(segment.graph, recorder.Finish());
  return absl::OkStatus();
}

absl::Status CudaDeviceRun::RecordWhile(const Step& step) {
  return recorder_->AddWhile(
      At(step.selector), [&] { return RunSequence(step.bodies[0]); },
      [&] { return RunSequence(step.bodies[1]); });
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
