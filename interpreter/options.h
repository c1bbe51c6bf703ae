// How the reference executor runs a module.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/instruction.h"
#include "types/literal.h"

namespace hlokit {

class Communicator;
class FfiStates;
struct FfiRun;

struct InterpreterOptions {
  // Devices: replicas times partitions, replica-major. 0: what the module says.
  int64_t replicas = 0;
  int64_t partitions = 0;
  // Those that run here, ascending; arguments and results are theirs. Empty: all.
  std::vector<int64_t> local_devices;
  // Through which devices exchange data, in this run alone; null: threads of this process.
  Communicator* communicator = nullptr;
  // States of custom calls, for all runs of the program; null: of each run its own.
  std::shared_ptr<FfiStates> ffi_states;
  // What custom calls see of this run alone; null: nothing but its number.
  std::shared_ptr<const FfiRun> ffi_run;
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

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
