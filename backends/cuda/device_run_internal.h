// One device's run of a compiled module: its memory, and the steps one by one.
#pragma once

#include <vector>

#include "backends/cuda/graph_recorder.h"
#include "backends/cuda/loaded_code.h"
#include "backends/cuda/step_graphs.h"
#include "interpreter/interpreter.h"

namespace hlokit {

class CudaDeviceRun {
 public:
  // On the logical device of that number, where `code` lies. Both outlive the run.
  CudaDeviceRun(const GpuProgram& program, const LoadedCode& code, int64_t device);
  ~CudaDeviceRun();
  CudaDeviceRun(const CudaDeviceRun&) = delete;
  CudaDeviceRun& operator=(const CudaDeviceRun&) = delete;

  // Allocates the device's memory and copies arguments and constants there. Errors:
  // ResourceExhausted, before anything is allocated, with what is needed and what is free.
  absl::Status Prepare(const DeviceViews& arguments);
  // All steps. Errors carry the place of the instruction.
  absl::Status Run(DeviceGroup& group);
  // The entry computation's result, after the last run.
  absl::StatusOr<Literal> TakeResult();
  // Of all runs, where the program was compiled to profile.
  std::vector<InstructionTime> Profile() const;

 private:
  using Address = cuda::DeviceAddress;

  absl::Status CheckFits() const;
  absl::Status AddArgument(const ValueView& argument, const Shape& want);
  absl::Status AddSizes(const DeviceViews& arguments);
  absl::Status AddConstants();
  // Copies the leaves of a value to memory of their own, each in the layout of `shape`'s.
  absl::Status Upload(const Literal& value, const Shape& shape, std::vector<CudaMemory>& to);

  Address At(const Slice& slice) const;
  absl::Status CopyIn(Address to, const void* from, int64_t bytes) const;
  absl::Status CopyOut(void* to, Address from, int64_t bytes) const;
  absl::Status Synchronize() const;

  absl::Status RunSequence(int32_t number);
  absl::Status RunSteps(const StepSequence& sequence, size_t begin, size_t end);
  // The segment's steps: as a graph, where it has one or gets one now, or one by one.
  absl::Status RunSegment(int32_t number, GraphSegment& segment);
  absl::Status RunSegmentSteps(const StepSequence& sequence, const GraphSegment& segment);
  absl::Status Record(const StepSequence& sequence, GraphSegment& segment);
  absl::Status RecordWhile(const Step& step);
  absl::Status RunStep(const Step& step);
  absl::Status RunProfiled(const Step& step);
  absl::Status RunWork(const Step& step);
  absl::Status RunKernels(const Step& step);
  absl::Status RunWhile(const Step& step);
  absl::StatusOr<size_t> ChosenBranch(const Step& step) const;
  absl::Status RunOnHost(const Step& step);
  absl::Status RunCopies(const std::vector<BufferCopy>& copies) const;
  absl::Status Copy(Address to, Address from, int64_t bytes) const;
  absl::Status CountStep();
  // The value whose leaves lie in the slices from `next` on.
  absl::StatusOr<Literal> ReadValue(const Shape& shape, const Slice*& next) const;
  absl::Status SetDynamicSizes(Literal& result) const;

  const GpuProgram& p_;
  const LoadedCode& code_;
  const int64_t device_;  // logical
  DeviceGroup* group_ = nullptr;
  int64_t steps_ = 0;
  std::vector<InstructionTime> times_;
  absl::flat_hash_map<const Step*, size_t> time_of_;  // places in times_
  CudaMemory arena_, scratch_;
  std::vector<CudaMemory> parameters_, constants_, outputs_;
  std::unique_ptr<StepGraphs> graphs_;  // null: steps are launched one by one
  GraphRecorder* recorder_ = nullptr;   // while steps are recorded instead of launched
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
