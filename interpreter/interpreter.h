// The reference executor: runs a module instruction by instruction, on one device or on many at
// once.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ir/module.h"
#include "types/literal.h"

namespace hlokit {

class Communicator;

struct InterpreterOptions {
  // Devices: replicas times partitions, replica-major. 0: what the module says.
  int64_t replicas = 0;
  int64_t partitions = 0;
  // Those that run here, ascending; arguments and results are theirs. Empty: all.
  std::vector<int64_t> local_devices;
  // Through which devices exchange data, in this run alone; null: threads of this process.
  Communicator* communicator = nullptr;
  int64_t step_limit = 0;  // instructions that one device may run; 0: no limit
  // live values on all devices together; 0: half of the machine's memory
  int64_t memory_limit_bytes = 0;
  double time_limit_s = 0;       // 0: no limit
  bool flush_denormals = false;  // as XLA's CPU does; the rule is to keep them
  const std::atomic<bool>* cancel =
      nullptr;  // stops the run, with Cancelled, soon after it becomes true
  // Sees every value as it is made; an error stops the run. Devices call it from their own threads.
  std::function<absl::Status(int64_t device, const Instruction& instruction, const Literal& value)>
      observer;
  // The next item of a device's infeed, and one item of its outfeed. Null: infeed fails, outfeed
  // drops its item.
  std::function<absl::StatusOr<Literal>(int64_t device, const Shape& shape)> infeed;
  std::function<absl::Status(int64_t device, const Literal& item)> outfeed;
};

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
  // one of its own.
  DeviceGroup(const InterpreterOptions& options, int64_t replicas, int64_t partitions,
              Communicator* communicator = nullptr);
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
