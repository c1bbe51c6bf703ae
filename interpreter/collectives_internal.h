// Collectives and messages of the interpreter's devices: literals, over the run's communicator.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "ops/collective/collective.h"
#include "runtime/collective/communicator.h"

namespace hlokit {

// Shared by the threads of all devices of one run.
class Collectives {
 public:
  Collectives(int64_t replicas, int64_t partitions, Communicator& communicator)
      : replicas_(replicas), partitions_(partitions), communicator_(communicator) {}

  // The result of a collective on one device, as soon as all of its group have come.
  // FailedPrecondition where that can never be, Cancelled where another device failed.
  absl::StatusOr<Literal> Collective(int64_t device, const EvalContext& context);
  absl::Status Send(int64_t device, const Instruction& instruction, const Literal& data);
  absl::StatusOr<Literal> Receive(int64_t device, const Instruction& instruction);

  int64_t partition_count() const { return partitions_; }

 private:
  absl::Status Error(Communicator::End end, const Communicator::Waiter& waiter) const;

  const int64_t replicas_, partitions_;
  Communicator& communicator_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
