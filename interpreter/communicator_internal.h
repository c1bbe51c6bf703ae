// Where devices meet: collectives wait here for their group, receives for their send.
#pragma once

#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "ops/eval_collective.h"
#include "support/rendezvous.h"

namespace hlokit {

// Shared by the threads of all devices of one run.
class Communicator {
 public:
  Communicator(int64_t replicas, int64_t partitions, Rendezvous& waits)
      : replicas_(replicas),
        partitions_(partitions),
        waits_(waits),
        meetings_(waits_),
        mailboxes_(waits_) {}

  // The result of a collective on one device, as soon as all of its group have come.
  // FailedPrecondition where that can never be, Cancelled where another device failed.
  absl::StatusOr<Literal> Collective(int64_t device, const EvalContext& context);
  absl::Status Send(int64_t device, const Instruction& instruction, const Literal& data);
  absl::StatusOr<Literal> Receive(int64_t device, const Instruction& instruction);

  int64_t partition_count() const { return partitions_; }
  int64_t device_count() const { return replicas_ * partitions_; }

 private:
  // The last of a group to come computes the results of all.
  struct Contribution {
    MemberOperands operands;
    absl::StatusOr<Literal> result;
  };
  using MeetingKey =
      std::pair<const Instruction*, std::vector<int64_t>>;  // instruction, devices of the group
  using GroupMeetings = Meetings<MeetingKey, Contribution>;

  static void EvaluateFor(const GroupMeetings::Meeting& meeting, const EvalContext& context);
  absl::Status Error(Rendezvous::End end, const Rendezvous::Waiter& waiter) const;

  const int64_t replicas_, partitions_;
  Rendezvous& waits_;
  GroupMeetings meetings_;
  Mailboxes<Literal> mailboxes_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
