// Devices that are threads of one process: they read and write each other's arrays where they lie.
#pragma once

#include <utility>
#include <vector>

#include "runtime/collective/communicator.h"

namespace hlokit {

class InProcessCommunicator final : public Communicator {
 public:
  explicit InProcessCommunicator(int64_t devices)
      : devices_(devices), waits_(devices), meetings_(waits_), mailboxes_(waits_) {}

  int64_t device_count() const override { return devices_; }
  End AllReduce(const Part& part) override;
  End AllGather(const Part& part) override;
  End ReduceScatter(const Part& part) override;
  End AllToAll(const Part& part) override;
  End AllToAllArrays(const Part& part) override;
  End RaggedAllToAll(const Part& part, int64_t& outside) override;
  End Permute(const Part& part, Pairs pairs) override;
  End Broadcast(const Part& part) override;
  End Barrier(const Part& part) override;
  End Evaluate(const Part& part, const Function& function) override;
  void Send(const Waiter& waiter, int64_t channel, int64_t target,
            std::span<const std::span<const char>> arrays) override;
  End Receive(const Waiter& waiter, int64_t channel, int64_t target, const Take& take) override;
  void Leave(int64_t device, bool failed) override { waits_.Leave(device, failed); }
  void Abort(const std::string& reason) override { waits_.Stop(reason); }
  End end(int64_t device) const override { return waits_.end(device); }
  int64_t ended_at(int64_t device) const override { return waits_.ended_at(device); }
  std::string Text(End end, const Waiter& waiter) const override {
    return waits_.Text(end, waiter);
  }

 private:
  using Key = std::pair<int64_t, int64_t>;  // instruction, first device of the group
  using GroupMeetings = Meetings<Key, Member>;

  // Waits for the group, calls `work` with what all gave and whether this device came last, and
  // waits until all have done theirs.
  template <typename Work>
  End Together(const Part& part, const Work& work);
  // The same for each array of a collective that treats its arrays alike.
  template <typename Work>
  End ForEachArray(const Part& part, const Work& work);

  const int64_t devices_;
  Rendezvous waits_;
  GroupMeetings meetings_;
  Mailboxes<std::vector<std::vector<char>>> mailboxes_;  // a message by array
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
