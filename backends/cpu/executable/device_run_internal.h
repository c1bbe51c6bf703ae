// One device's run of a compiled module: its arguments, memory and results.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "backends/cpu/executable/cpu_executable.h"
#include "backends/cpu/sanitizer/shadow_memory_internal.h"
#include "runtime/collective/communicator.h"
#include "runtime/context.h"
#include "runtime/dot/frozen_arrays.h"

namespace hlokit {

class DeviceRun {
 public:
  // Logical device `device`, one of `devices` that run here.
  DeviceRun(CpuExecutable& executable, int64_t device, int64_t devices)
      : e_(executable), device_(device), devices_(devices) {}
  DeviceRun(const DeviceRun&) = delete;
  DeviceRun& operator=(const DeviceRun&) = delete;

  // `given`: the same arguments, to be taken where the program wants them (null: not this one); or
  // empty.
  absl::Status Prepare(const DeviceViews& arguments, absl::Span<Literal* const> given = {});
  // With `group`, the devices of this run for reference kernels; null for a device that is alone.
  // `communicator`: through which compiled code reaches the others; null where it does not.
  // `ffi_run`: what custom calls see of the run of a device that is alone.
  absl::Status Run(DeviceGroup* group, Communicator* communicator,
                   std::shared_ptr<const FfiRun> ffi_run = nullptr);
  // Instead of both, for CpuExecutable::RunArrays.
  absl::Status RunArrays(absl::Span<const void* const> arguments,
                         Executable::ArrayResults& results);
  std::vector<InstructionTime> Profile() const;
  // The entry computation's result after the last run; to be called once.
  Literal TakeResult();
  // The same in the memory and the layouts in which the code left it.
  DeviceValue TakeValue();
  // The elements of a result that is a tuple of no dynamic sizes, one by one.
  std::vector<DeviceValue> TakeParts();

 private:
  static constexpr int64_t kUnseen = -1;
  // What cannot fit is refused before anything of it is allocated.
  absl::Status CheckFits() const;
  absl::Status AddLiteral(const Literal& argument, const Shape& want);
  bool SizesAreInRange() const;
  void SetUpContext();
  // The sizes of dynamic dimensions, which are parameters of their own.
  absl::Status AddSizes(const DeviceViews& arguments);
  // An array of the caller's, where it lies if code can read it there.
  absl::Status AddArray(const Shape& shape, const void* elements, const Shape& want);
  absl::Status AddValue(const DeviceValue& value, const Shape& want);
  absl::Status AddArgument(const ValueView& argument, const Shape& want);
  // Memory of the run's own as the next argument; null for no bytes.
  absl::StatusOr<uint8_t*> AddBytes(int64_t size);
  // Donated arguments become results: as they are where they are given away in the parameter's
  // layout, else as a copy.
  absl::Status PlaceDonations(absl::Span<Literal* const> given);
  absl::Status AllocateResults();
  // Tells kernels which arrays have the same values in every run, and where they lie.
  void NameFrozen();
  // Gives arrays that earlier runs had too their numbers.
  void NoteArguments(const DeviceViews& arguments);
  // Of code that checks itself: all arrays lie where they have state; before and after each run.
  absl::Status PrepareShadowed();
  absl::Status ShadowInput(size_t entry, const Slice& slice);
  void BeginShadowed();
  void EndShadowed();
  // The status of code that reported an error.
  absl::Status Failure(const Communicator* communicator) const;
  double TicksInside(const Computation& computation) const;
  // The outputs from `next` on as a value of `shape`; `row_major`: converted to that order.
  Literal Take(const Shape& shape, size_t& next, bool row_major);
  Literal TakeOutputs(bool row_major);
  // What the code's calls of reference kernels come to.
  static void CallReference(HlokitRunContext* ctx, int64_t id, const void** operands,
                            void** results);
  void Reference(const Instruction& i, const void** operands, void** results);
  absl::Status Interpret(const Instruction& i, const void* const* operands, void* const* results);

  // What a donated argument that was not given away becomes before each run.
  struct Refill {
    void* to;
    const void* from;
    size_t bytes;
  };

  CpuExecutable& e_;
  const int64_t device_, devices_;
  DeviceGroup* group_ = nullptr;  // of this run; null until reference kernels need one
  std::shared_ptr<const FfiRun> ffi_run_;
  std::optional<DeviceGroup> alone_;    // of a device without others, made by the first call
  absl::Status failure_;                // of the first call that failed
  std::shared_ptr<PackedForms> forms_;  // null where no array of the run is frozen
  FrozenArrays frozen_{nullptr};
  std::vector<int64_t> seen_;  // by entry of the table: its number; kUnseen: it has none
  HlokitRunContext context_;
  Bytes arena_;
  std::unique_ptr<ShadowedBlock> shadowed_arena_;
  std::vector<std::unique_ptr<ShadowedBlock>> shadowed_outputs_, shadowed_inputs_;
  absl::InlinedVector<const void*, 8> table_;
  size_t first_output_ = 0;
  std::vector<Bytes> converted_;
  std::vector<Literal> outputs_;
  std::vector<Refill> refills_;
  std::vector<uint64_t> counters_;  // of a profile: ticks and calls, by instruction id
  uint64_t clock_ticks_ = 0;        // of all runs; seconds_ is their time
  double seconds_ = 0;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
