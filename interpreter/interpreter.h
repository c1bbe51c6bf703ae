// The reference executor: runs a module instruction by instruction, on one device or on many at
// once.
#pragma once

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "interpreter/options.h"
#include "ir/module.h"
#include "types/literal.h"

namespace hlokit {

class Communicator;

// Runs the entry computation on every device, each in a thread of its own; arguments[d] are those
// of device d (of the d-th local one), one an entry parameter, and are only read. Gives each
// device's result. A computation's
// schedule is followed where it has one. Errors carry the place of the instruction that failed:
// InvalidArgument for bad values or arguments, Unimplemented for what has no reference meaning
// here, ResourceExhausted for limits, Cancelled, FailedPrecondition where devices wait for one
// another for ever.
absl::StatusOr<std::vector<Literal>> InterpretDevices(
    const Module& module, absl::Span<const std::vector<const Literal*>> arguments,
    const InterpreterOptions& options = {});

// The same on one device: a list of one result, a tuple where the entry computation gives a tuple.
absl::StatusOr<std::vector<Literal>> Interpret(const Module& module,
                                               absl::Span<const Literal> arguments,
                                               const InterpreterOptions& options = {});

// Devices for instructions of a program that runs elsewhere, such as the collectives of native
// code: they meet as those of InterpretDevices do. Each device is for one thread at a time.
class DeviceGroup {
 public:
  // Replicas times partitions, replica-major; `options`, whose counts and communicator play no
  // part, outlive it, and so does `communicator`, which other code of the run may use too; null for
  // one of its own. `ffi_run`: as InterpreterOptions has it.
  DeviceGroup(const InterpreterOptions& options, int64_t replicas, int64_t partitions,
              Communicator* communicator = nullptr,
              std::shared_ptr<const FfiRun> ffi_run = nullptr);
  ~DeviceGroup();
  DeviceGroup(const DeviceGroup&) = delete;
  DeviceGroup& operator=(const DeviceGroup&) = delete;

  // The value of one instruction on a device, with what it calls. Errors as above, without a place.
  absl::StatusOr<Literal> Evaluate(int64_t device, const Instruction& instruction,
                                   absl::Span<const Literal* const> operands);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The error that stopped a run, of what each device ended with: not that of one that was stopped
// with it.
absl::Status FirstFailure(absl::Span<const absl::Status> devices);

// A single instruction on one device: constant folding.
absl::StatusOr<Literal> EvaluateInstruction(const Instruction& instruction,
                                            absl::Span<const Literal* const> operands,
                                            const InterpreterOptions& options = {});

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
