// Where devices meet: collectives wait here for their group, receives for their send.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ops/eval_collective.h"

namespace hlokit {

// Shared by the threads of all devices of one run.
class Exchange {
 public:
  Exchange(int64_t replicas, int64_t partitions)
      : replicas_(replicas),
        partitions_(partitions),
        running_(replicas * partitions),
        waits_at_(replicas * partitions),
        left_(replicas * partitions) {}

  // The result of a collective on one device, as soon as all of its group have come.
  // FailedPrecondition where that can never be.
  absl::StatusOr<Literal> Collective(int64_t device, const EvalContext& context);
  absl::Status Send(int64_t device, const Instruction& instruction, const Literal& data);
  absl::StatusOr<Literal> Receive(int64_t device, const Instruction& instruction);

  // A device has left for good. Where it failed, all that wait are told to stop.
  void Leave(int64_t device, bool failed);
  int64_t partition_count() const { return partitions_; }
  int64_t device_count() const { return replicas_ * partitions_; }

 private:
  struct Meeting {
    std::vector<MemberOperands> operands;
    std::vector<Literal> results;
    absl::Status status;
    size_t arrived = 0;
    bool begun = false;  // all have come: none leaves before the results are there
    bool done = false;
  };
  using MeetingKey =
      std::pair<const Instruction*, std::vector<int64_t>>;  // instruction, devices of the group
  struct Mailbox {
    std::deque<Literal> messages;
    bool* awaited = nullptr;  // the flag of the receiver that waits for a message
  };

  // The meeting of a group at an instruction that has not begun yet.
  std::shared_ptr<Meeting> MeetingAt(const MeetingKey& key);
  // Why no device may wait any longer.
  absl::Status End() const;
  // Blocks until `done`, counted as waiting; an End counts unless `begun`. The one who makes it
  // true calls Release.
  absl::Status Wait(std::unique_lock<std::mutex>& lock, const bool& done, const bool& begun,
                    int64_t device, const Instruction& instruction);
  void Release(int64_t waiters);
  void CheckDeadlock();
  // The messages for `device` on the instruction's channel: its own, or where the instruction names
  // no pairs the channel's.
  Mailbox& MailboxOf(int64_t device, const Instruction& instruction, bool has_pairs);
  // Which device waits where, once all that run wait.
  std::string WaitingText() const;

  const int64_t replicas_, partitions_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int64_t running_, waiting_ = 0;
  bool stopped_ = false, deadlocked_ = false;
  std::vector<const Instruction*> waits_at_;  // by device; null: it runs or has left
  std::vector<bool> left_;
  std::string deadlock_;  // WaitingText() of the deadlock
  std::map<MeetingKey, std::shared_ptr<Meeting>> meetings_;
  // By channel and receiving device; -1 for whoever comes first.
  std::map<std::pair<int64_t, int64_t>, Mailbox> mailboxes_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
